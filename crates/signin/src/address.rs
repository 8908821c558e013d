//! Addresses that tokens and codes may go to.

use std::net::IpAddr;

use url::{Host, Url};

/// The longest address that is looked at.
const LONGEST: usize = 2048;

/// An address that secrets may be sent to: `https`, or `http` on this machine, without a user name and a fragment.
/// The error says what is wrong with it, to follow its name.
pub(crate) fn secure(text: &str) -> Result<Url, &'static str> {
    if text.len() > LONGEST {
        return Err("is longer than an address may be");
    }
    if text.chars().any(|character| character.is_control() || character.is_whitespace()) {
        return Err("has characters that no address may have");
    }
    let url = Url::parse(text).map_err(|_| "is not an absolute address")?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err("has a user name in it");
    }
    if url.fragment().is_some() {
        return Err("has a fragment");
    }
    match url.scheme() {
        "https" if url.has_host() => Ok(url),
        "http" if is_loopback(&url) => Ok(url),
        "http" => Err("must use https, except on this machine"),
        _ => Err("is not an https address"),
    }
}

/// Whether an address is on this machine.
pub(crate) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(ip)) => IpAddr::from(ip).is_loopback(),
        Some(Host::Ipv6(ip)) => IpAddr::from(ip).is_loopback(),
        None => false,
    }
}

/// Whether two addresses have the same host.
pub(crate) fn share_host(one: &Url, other: &Url) -> bool {
    one.host().is_some() && one.host() == other.host()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_https_and_this_machine_may_have_secrets() {
        for good in [
            "https://auth.example.com",
            "https://auth.example.com:8443/a?b=c",
            "http://127.0.0.1:8080",
            "http://127.3.2.1/x",
            "http://[::1]:1/",
            "http://localhost/",
        ] {
            assert!(secure(good).is_ok(), "{good}");
        }
        for (bad, why) in [
            ("http://auth.example.com", "must use https, except on this machine"),
            ("http://localhost.example.com", "must use https, except on this machine"),
            ("http://127.0.0.1.example.com/", "must use https, except on this machine"),
            ("http://10.0.0.1/", "must use https, except on this machine"),
            ("ftp://localhost/", "is not an https address"),
            ("javascript:alert(1)", "is not an https address"),
            ("auth.example.com", "is not an absolute address"),
            ("https://127.0.0.1@evil.example/", "has a user name in it"),
            ("https://a.example/#x", "has a fragment"),
            ("https://a.example/\n", "has characters that no address may have"),
        ] {
            assert_eq!(secure(bad).unwrap_err(), why, "{bad}");
        }
    }

    #[test]
    fn a_host_is_the_same_whatever_its_case() {
        let url = |text: &str| Url::parse(text).unwrap();
        assert!(share_host(&url("https://A.example/x"), &url("https://a.EXAMPLE:8443/")));
        assert!(!share_host(&url("https://a.example"), &url("https://a.example.evil")));
        assert!(!share_host(&url("https://a.example"), &url("https://b.a.example")));
        assert!(!share_host(&url("http://127.0.0.1"), &url("http://localhost")));
    }
}
