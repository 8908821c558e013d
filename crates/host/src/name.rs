//! What this machine is called.

/// The host name, as `gethostname` gives it.
pub fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    #[test]
    fn there_is_a_name() {
        assert!(!super::host_name().is_empty());
    }
}
