//! The user we run as, as the password file describes them.

use std::path::PathBuf;

/// What the password file says of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// Their home directory.
    pub home: PathBuf,
    /// Their login shell.
    pub shell: String,
}

/// The user we run as, if the password file knows them.
pub fn current_user() -> Option<User> {
    let uid = rustix::process::getuid().as_raw();
    find(&std::fs::read_to_string("/etc/passwd").ok()?, uid)
}

/// The name of the user we run as; their number if the password file has none.
pub fn current_user_name() -> String {
    let uid = rustix::process::getuid().as_raw();
    let passwd = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    name_of(&passwd, uid).unwrap_or_else(|| uid.to_string())
}

fn name_of(passwd: &str, uid: u32) -> Option<String> {
    let mut users = passwd.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let fields = users.find(|fields| fields.get(2).and_then(|id| id.parse().ok()) == Some(uid))?;
    fields.first().filter(|name| !name.is_empty()).map(|name| (*name).to_owned())
}

fn find(passwd: &str, uid: u32) -> Option<User> {
    passwd.lines().find_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        let [_, _, id, _, _, home, shell] = fields[..] else { return None };
        let is_usable = id.parse() == Ok(uid) && home.starts_with('/');
        let shell = if shell.is_empty() { "/bin/sh" } else { shell };
        is_usable.then(|| User { home: home.into(), shell: shell.to_owned() })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_found_by_number() {
        let passwd = "root:x:0:0:root:/root:/bin/bash\nbroken\nu:x:7:7::/home/u:\nn:x:8:8::nowhere:/bin/sh\n";
        let root = User { home: "/root".into(), shell: "/bin/bash".into() };
        assert_eq!(find(passwd, 0), Some(root));
        assert_eq!(find(passwd, 7), Some(User { home: "/home/u".into(), shell: "/bin/sh".into() }));
        assert_eq!(find(passwd, 8), None, "no home to speak of");
        assert_eq!(find(passwd, 9), None);
        assert_eq!(name_of(passwd, 7).as_deref(), Some("u"));
        assert_eq!(name_of(passwd, 9), None);
    }
}
