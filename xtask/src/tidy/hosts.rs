//! Keeps the names of package hosts out of the tree: which mirror is used is the machine's business.

use serde::Deserialize;

use super::Finding;

/// The names, and the files that may say them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Hosts {
    words: Vec<String>,
    except: Vec<String>,
}

/// Finds the names of package hosts.
pub(super) fn check(hosts: &Hosts, path: &str, text: &str) -> Vec<Finding> {
    if hosts.except.iter().any(|except| except == path) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (index, line) in text.lines().enumerate() {
        for word in hosts.words.iter().filter(|word| line.contains(word.as_str())) {
            findings.push(Finding::error(
                path,
                index + 1,
                format!("names the package host {word}"),
            ));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_except_where_they_may_be() {
        let hosts = Hosts { words: vec!["packages.test".into()], except: vec!["a.lock".into()] };
        let text = "first\nhttps://packages.test/x\n";
        let finding = Finding::error("a.md", 2, "names the package host packages.test");
        assert_eq!(check(&hosts, "a.md", text), [finding]);
        assert_eq!(check(&hosts, "a.lock", text), []);
        assert_eq!(check(&hosts, "a.md", "packages\n"), []);
    }
}
