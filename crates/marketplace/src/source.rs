//! Where marketplaces are, and what is taken for an address or a path. Pure.

use serde::{Deserialize, Serialize};

use crate::types::MarketplaceError;

/// The longest address, path or reference.
const LONGEST: usize = 2048;

/// Where a marketplace is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum MarketSource {
    /// A folder of this machine.
    LocalPath { path: String },
    /// A repository.
    Git {
        /// Its address.
        url: String,
        /// The branch, tag or commit; its own branch if none is named.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ref_name: Option<String>,
        /// The catalog in it, if it is not where its kind has it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        catalog_path: Option<String>,
    },
    /// A repository of GitHub.
    Github {
        /// Owner and name.
        repo: String,
        /// The branch, tag or commit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ref_name: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        catalog_path: Option<String>,
        /// The folder with its plugins.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        plugin_root: Option<String>,
    },
    /// A catalog alone.
    HttpJson {
        /// Its address.
        url: String,
    },
}

impl MarketSource {
    /// Checks that nothing in it can mean something else to git, to a file system or to a server.
    ///
    /// # Errors
    /// If it is none that is taken.
    pub fn check(&self) -> Result<(), MarketplaceError> {
        let checked = match self {
            MarketSource::LocalPath { path } => check_local(path),
            MarketSource::Git { url, ref_name, catalog_path } => check_git_url(url)
                .and_then(|()| check_optional(ref_name.as_deref(), check_ref))
                .and_then(|()| check_optional(catalog_path.as_deref(), check_relative)),
            MarketSource::Github { repo, ref_name, catalog_path, plugin_root } => check_repo(repo)
                .and_then(|()| check_optional(ref_name.as_deref(), check_ref))
                .and_then(|()| check_optional(catalog_path.as_deref(), check_relative))
                .and_then(|()| check_optional(plugin_root.as_deref(), check_relative)),
            MarketSource::HttpJson { url } => check_url(url, &["https://", "http://", "file://"]),
        };
        checked.map_err(MarketplaceError::InvalidSource)
    }

    /// The address or path, to be shown.
    pub fn shown(&self) -> &str {
        match self {
            MarketSource::LocalPath { path } => path,
            MarketSource::Git { url, .. } | MarketSource::HttpJson { url } => url,
            MarketSource::Github { repo, .. } => repo,
        }
    }

    /// The address of its repository, if it is one.
    pub fn repository(&self) -> Option<String> {
        match self {
            MarketSource::Git { url, .. } => Some(url.clone()),
            MarketSource::Github { repo, .. } => Some(github_url(repo)),
            MarketSource::LocalPath { .. } | MarketSource::HttpJson { .. } => None,
        }
    }

    /// The branch, tag or commit.
    pub(crate) fn ref_name(&self) -> Option<&str> {
        match self {
            MarketSource::Git { ref_name, .. } | MarketSource::Github { ref_name, .. } => {
                ref_name.as_deref()
            }
            MarketSource::LocalPath { .. } | MarketSource::HttpJson { .. } => None,
        }
    }

    /// Where its catalog is, if it says so.
    pub(crate) fn catalog_path(&self) -> Option<&str> {
        match self {
            MarketSource::Git { catalog_path, .. } | MarketSource::Github { catalog_path, .. } => {
                catalog_path.as_deref()
            }
            MarketSource::LocalPath { .. } | MarketSource::HttpJson { .. } => None,
        }
    }

    /// The folder with its plugins, if it says so.
    pub(crate) fn plugin_root(&self) -> Option<&str> {
        match self {
            MarketSource::Github { plugin_root, .. } => plugin_root.as_deref(),
            MarketSource::LocalPath { .. }
            | MarketSource::Git { .. }
            | MarketSource::HttpJson { .. } => None,
        }
    }
}

/// The address of a repository of GitHub.
pub(crate) fn github_url(repo: &str) -> String {
    format!("https://github.com/{repo}.git")
}

/// Owner and name in the address of a repository of GitHub.
pub(crate) fn github_repo(url: &str) -> Option<&str> {
    let rest = url.strip_prefix("https://github.com/")?.trim_end_matches('/');
    let repo = rest.strip_suffix(".git").unwrap_or(rest);
    check_repo(repo).is_ok().then_some(repo)
}

fn check_optional(
    text: Option<&str>,
    check: impl FnOnce(&str) -> Result<(), String>,
) -> Result<(), String> {
    text.map_or(Ok(()), check)
}

fn check_local(path: &str) -> Result<(), String> {
    check_text(path, "path")?;
    if !path.starts_with('/') {
        return Err("path must be absolute".to_owned());
    }
    no_parents(path, "path")
}

/// A path in a marketplace: relative, and never upwards.
pub(crate) fn check_relative(path: &str) -> Result<(), String> {
    check_text(path, "path")?;
    if path.starts_with('/') || path.contains('\\') {
        return Err("path must be relative".to_owned());
    }
    no_parents(path, "path")
}

fn no_parents(path: &str, name: &str) -> Result<(), String> {
    match path.split('/').any(|part| part == "..") {
        true => Err(format!("{name} must not contain `..`")),
        false => Ok(()),
    }
}

fn check_text(text: &str, name: &str) -> Result<(), String> {
    if text.trim().is_empty() {
        return Err(format!("{name} must not be empty"));
    }
    if text.len() > LONGEST || text.chars().any(char::is_control) {
        return Err(format!("{name} must be one line of at most {LONGEST} bytes"));
    }
    Ok(())
}

pub(crate) fn check_repo(repo: &str) -> Result<(), String> {
    let is_part = |part: &str| {
        let is_known =
            |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        !part.is_empty()
            && part.len() <= 100
            && part.bytes().all(is_known)
            && !part.starts_with(['.', '-'])
    };
    let mut parts = repo.split('/');
    let fits = parts.next().is_some_and(is_part)
        && parts.next().is_some_and(is_part)
        && parts.next().is_none();
    fits.then_some(()).ok_or_else(|| "repo must be OWNER/NAME".to_owned())
}

/// The address of a repository that is fetched from.
pub(crate) fn check_git_url(url: &str) -> Result<(), String> {
    if let Some(rest) = url.strip_prefix("git@") {
        check_text(url, "url")?;
        let is_host = |host: &str| {
            !host.is_empty()
                && !host.starts_with('-')
                && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte))
        };
        let fits = rest.split_once(':').is_some_and(|(host, path)| {
            is_host(host) && !path.is_empty() && !path.starts_with('-')
        });
        let fits = fits && !url.contains("::") && !url.contains(char::is_whitespace);
        return fits.then_some(()).ok_or_else(|| "url must be git@HOST:PATH".to_owned());
    }
    check_url(url, &["https://", "ssh://", "file://"])
}

/// An address of one of these schemes, without a password and without anything that could be an option.
pub(crate) fn check_url(url: &str, schemes: &[&str]) -> Result<(), String> {
    check_text(url, "url")?;
    let Some(scheme) = schemes.iter().find(|scheme| url.starts_with(**scheme)) else {
        let shown: String = url.chars().take(64).collect();
        return Err(format!("url must begin with {}: {shown}", schemes.join(", ")));
    };
    if url.contains(char::is_whitespace) {
        return Err("url must not contain spaces".to_owned());
    }
    let rest = &url[scheme.len()..];
    if *scheme == "file://" {
        return match rest.starts_with('/') {
            true => no_parents(rest, "url"),
            false => Err("a file:// url must name an absolute path".to_owned()),
        };
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    if user.contains(':') {
        let message = "url must not contain a password: let git or the server ask for it";
        return Err(message.to_owned());
    }
    if host.is_empty() || host.starts_with('-') || user.starts_with('-') {
        return Err("url must name a host".to_owned());
    }
    Ok(())
}

/// A branch, a tag or a commit, as it can stand in a refspec.
pub(crate) fn check_ref(name: &str) -> Result<(), String> {
    let is_known = |byte: u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/' | b'+' | b'@')
    };
    let fits = !name.is_empty()
        && name.len() <= 200
        && name.bytes().all(is_known)
        && !name.starts_with(['-', '+', '/', '.'])
        && !name.ends_with(['/', '.'])
        && !name.contains("..")
        && !name.contains("//")
        && !name.ends_with(".lock");
    fits.then_some(()).ok_or_else(|| "ref must be the name of a branch, tag or commit".to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn git(url: &str) -> MarketSource {
        MarketSource::Git { url: url.into(), ref_name: None, catalog_path: None }
    }

    #[test]
    fn addresses_that_mean_something_else_are_refused() {
        for good in [
            "https://example.test/a.git",
            "ssh://git@example.test:22/a",
            "git@example.test:a/b.git",
            "file:///srv/a.git",
        ] {
            assert_eq!(git(good).check(), Ok(()), "{good}");
        }
        for bad in [
            "",
            " ",
            "ext::sh -c touch% /tmp/x",
            "--upload-pack=touch /tmp/x",
            "-oProxyCommand=x",
            "ssh://-oProxyCommand=x/y",
            "git@-oProxyCommand=x:y",
            "git@host:-x",
            "git@a::b",
            "fd::17",
            "ftp://example.test/a",
            "http://example.test/a",
            "git://example.test/a",
            "file://relative",
            "file:///a/../b",
            "https://user:secret@example.test/a",
            "https:///a",
            "https://example.test/a\nb",
            "/srv/a",
        ] {
            assert!(git(bad).check().is_err(), "{bad}");
        }
    }

    #[test]
    fn paths_repos_and_refs_are_checked() {
        let local = |path: &str| MarketSource::LocalPath { path: path.into() }.check();
        assert_eq!(local("/srv/a"), Ok(()));
        assert!(local("srv").is_err() && local("/a/../b").is_err() && local("").is_err());
        for bad in ["a", "a/b/c", "../b", "a/..", "-a/b", "a/b c", "/b", "a/"] {
            assert!(check_repo(bad).is_err(), "{bad}");
        }
        assert_eq!(check_repo("owner/repo.name-1_x"), Ok(()));
        for bad in ["", "-x", "a b", "a..b", "a:b", "+a", "a^", "a~1", "@{u}", "a*", "a.lock", "/a"]
        {
            assert!(check_ref(bad).is_err(), "{bad}");
        }
        for good in ["main", "feature/x", "v1.2.3", "plugin@1.0.0"] {
            assert_eq!(check_ref(good), Ok(()), "{good}");
        }
        for bad in ["../x", "a/../b", "/etc", "", "a\0", "..\\x"] {
            assert!(check_relative(bad).is_err(), "{bad:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_taken_never_begins_like_an_option(url in any::<String>(), name in any::<String>()) {
            if check_git_url(&url).is_ok() {
                prop_assert!(!url.starts_with('-') && !url.contains("::") || url.contains("://"));
                prop_assert!(!url.chars().any(char::is_control));
            }
            if check_ref(&name).is_ok() {
                prop_assert!(!name.starts_with('-') && !name.contains([':', '*', ' ']));
            }
        }

        #[test]
        fn sources_are_the_same_after_writing_and_reading(path in any::<String>()) {
            let source = MarketSource::Git { url: path.clone(), ref_name: Some(path), catalog_path: None };
            let text = serde_json::to_string(&source).unwrap();
            prop_assert_eq!(serde_json::from_str::<MarketSource>(&text).unwrap(), source);
        }
    }
}
