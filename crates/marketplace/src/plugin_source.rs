//! Where the content of a plugin is, read from what a catalog says. Pure.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::source::{check_git_url, check_ref, check_relative, check_repo, github_url};

/// Where the content of a plugin is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum PluginSource {
    /// A folder in its marketplace.
    MarketplacePath {
        #[serde(alias = "marketplace_id")]
        marketplace_id: String,
        /// The path from its root on.
        path: String,
    },
    /// A repository, or a folder in it.
    Git {
        /// Its address.
        url: String,
        /// The folder.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        /// The branch or tag.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ref_name: Option<String>,
        /// The commit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sha: Option<String>,
    },
    /// An archive on a server.
    Http {
        /// Its address.
        url: String,
        /// Its hash.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sha: Option<String>,
    },
    /// A package of JavaScript.
    Npm {
        /// Its name.
        package: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<String>,
    },
    /// A folder of this machine.
    LocalPath { path: String },
    /// Something else.
    Unsupported {
        /// What the catalog says.
        value: Value,
    },
}

impl PluginSource {
    /// Whether content from there can be installed.
    pub fn is_supported(&self) -> bool {
        match self {
            PluginSource::MarketplacePath { .. }
            | PluginSource::Git { .. }
            | PluginSource::LocalPath { .. } => true,
            PluginSource::Http { .. }
            | PluginSource::Npm { .. }
            | PluginSource::Unsupported { .. } => false,
        }
    }

    pub fn shown(&self) -> String {
        match self {
            PluginSource::MarketplacePath { path, .. } | PluginSource::LocalPath { path } => {
                path.clone()
            }
            PluginSource::Git { url, .. } | PluginSource::Http { url, .. } => url.clone(),
            PluginSource::Npm { package, .. } => format!("npm package {package}"),
            PluginSource::Unsupported { value } => value.to_string().chars().take(80).collect(),
        }
    }
}

/// What a catalog says of a plugin's source, with a problem where it cannot be used.
pub(crate) struct ReadSource {
    pub(crate) source: PluginSource,
    pub(crate) problem: Option<String>,
}

/// Where relative paths of a catalog are.
pub(crate) struct Base<'a> {
    pub(crate) marketplace: &'a str,
    /// The folder in it that paths are relative to; checked before.
    pub(crate) plugin_root: Option<&'a str>,
    /// Whether the marketplace is a folder at all.
    pub(crate) has_folder: bool,
}

/// Reads a source.
pub(crate) fn read(value: Option<&Value>, name: &str, base: &Base<'_>) -> ReadSource {
    let source = match value {
        // A plugin without a word lies in a folder of its name.
        None | Some(Value::Null) => in_marketplace(name, base),
        Some(Value::String(text)) => from_text(text.trim(), base),
        Some(Value::Object(members)) => {
            let text = |names: &[&str]| {
                names.iter().find_map(|name| members.get(*name)?.as_str()).map(str::to_owned)
            };
            let kind = text(&["source", "type", "kind"]).unwrap_or_default();
            let (path, ref_name) = (text(&["path"]), text(&["ref", "refName", "branch", "tag"]));
            let sha = text(&["sha", "commit"]);
            match (kind.as_str(), text(&["repo"]), text(&["url"])) {
                ("github", Some(repo), _) if check_repo(repo.trim_end_matches(".git")).is_ok() => {
                    let url = github_url(repo.trim_end_matches(".git"));
                    PluginSource::Git { url, path, ref_name, sha }
                }
                ("url" | "git" | "git-subdir", _, Some(url)) => {
                    PluginSource::Git { url, path, ref_name, sha }
                }
                ("http", _, Some(url)) => PluginSource::Http { url, sha },
                ("npm", ..) => match text(&["package", "name"]) {
                    Some(package) => PluginSource::Npm { package, version: text(&["version"]) },
                    None => unsupported(value),
                },
                ("local" | "path" | "directory", ..) => match path {
                    Some(path) => from_text(&path, base),
                    None => unsupported(value),
                },
                _ => unsupported(value),
            }
        }
        Some(Value::Bool(_) | Value::Number(_) | Value::Array(_)) => unsupported(value),
    };
    let problem = problem(&source, base);
    ReadSource { source, problem }
}

fn unsupported(value: Option<&Value>) -> PluginSource {
    PluginSource::Unsupported { value: value.cloned().unwrap_or_default() }
}

fn from_text(text: &str, base: &Base<'_>) -> PluginSource {
    let is_address = text.contains("://") || text.starts_with("git@") || text.contains("::");
    match is_address {
        true if check_git_url(text).is_ok() => {
            PluginSource::Git { url: text.to_owned(), path: None, ref_name: None, sha: None }
        }
        true => PluginSource::Unsupported { value: Value::from(text) },
        false => in_marketplace(text, base),
    }
}

fn in_marketplace(path: &str, base: &Base<'_>) -> PluginSource {
    let marketplace_id = base.marketplace.to_owned();
    if check_relative(path).is_err() {
        return PluginSource::Unsupported { value: Value::from(path) };
    }
    let own = clean(path);
    let path = match base.plugin_root.map(clean).filter(|root| !root.is_empty()) {
        // A path that begins at the root already is not put below it again.
        Some(root) if own != root && !own.starts_with(&format!("{root}/")) => {
            match own.is_empty() {
                true => root,
                false => format!("{root}/{own}"),
            }
        }
        _ => own,
    };
    PluginSource::MarketplacePath { marketplace_id, path }
}

/// A relative path without what means nothing in it; empty for the root itself.
pub(crate) fn clean(path: &str) -> String {
    let parts: Vec<&str> =
        path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    parts.join("/")
}

/// Why content from there cannot be installed.
fn problem(source: &PluginSource, base: &Base<'_>) -> Option<String> {
    match source {
        PluginSource::MarketplacePath { .. } if !base.has_folder => {
            Some("its source is a folder, and this marketplace is a catalog alone".to_owned())
        }
        PluginSource::MarketplacePath { .. } | PluginSource::LocalPath { .. } => None,
        PluginSource::Git { url, path, ref_name, sha } => {
            let checked = check_git_url(url)
                .and_then(|()| path.as_deref().map_or(Ok(()), check_relative))
                .and_then(|()| ref_name.as_deref().map_or(Ok(()), check_ref))
                .and_then(|()| sha.as_deref().map_or(Ok(()), check_sha));
            checked.err().map(|why| format!("its source cannot be used: {why}"))
        }
        PluginSource::Http { .. } | PluginSource::Npm { .. } | PluginSource::Unsupported { .. } => {
            Some(format!("unsupported source: {}", source.shown()))
        }
    }
}

/// A commit, maybe shortened.
fn check_sha(text: &str) -> Result<(), String> {
    let fits = (7..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    fits.then_some(()).ok_or_else(|| "sha must be the name of a commit".to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn base(plugin_root: Option<&str>) -> Base<'_> {
        Base { marketplace: "m", plugin_root, has_folder: true }
    }

    fn of(value: Value) -> ReadSource {
        read(Some(&value), "name", &base(None))
    }

    #[test]
    fn every_form_of_the_contract_is_read() {
        let path =
            |value: Value, root: Option<&str>| match read(Some(&value), "n", &base(root)).source {
                PluginSource::MarketplacePath { path, .. } => path,
                other => panic!("{other:?}"),
            };
        assert_eq!(path(json!("./plugins/a/"), None), "plugins/a");
        assert_eq!(path(json!("a"), Some("./plugins")), "plugins/a");
        assert_eq!(path(json!("./plugins/a"), Some("plugins")), "plugins/a");
        assert_eq!(path(json!("./"), None), "");
        let git = |url: &str, path: Option<&str>, ref_name: Option<&str>, sha: Option<&str>| {
            let text = |text: Option<&str>| text.map(str::to_owned);
            let (path, ref_name, sha) = (text(path), text(ref_name), text(sha));
            PluginSource::Git { url: url.into(), path, ref_name, sha }
        };
        let github = json!({"source": "github", "repo": "o/r", "ref": "v1", "path": "p"});
        let url = "https://github.com/o/r.git";
        assert_eq!(of(github).source, git(url, Some("p"), Some("v1"), None));
        let commit = "0123456789012345678901234567890123456789";
        let subdir =
            json!({"source": "git-subdir", "url": "https://h/r", "path": "p", "sha": commit});
        assert_eq!(of(subdir).source, git("https://h/r", Some("p"), None, Some(commit)));
        assert_eq!(of(json!("git@h:o/r.git")).source, git("git@h:o/r.git", None, None, None));
        let npm = of(json!({"source": "npm", "package": "p", "version": "1"}));
        assert_eq!(
            npm.source,
            PluginSource::Npm { package: "p".into(), version: Some("1".into()) }
        );
        assert!(npm.problem.unwrap().starts_with("unsupported source"));
    }

    #[test]
    fn hostile_sources_have_a_problem_and_are_never_used() {
        for value in [
            json!("../../etc"),
            json!("a/../../etc"),
            json!("/etc"),
            json!("ext::sh -c x"),
            json!("http://h/x"),
            json!({"source": "url", "url": "ext::sh -c x"}),
            json!({"source": "url", "url": "--upload-pack=x"}),
            json!({"source": "github", "repo": "../x"}),
            json!({"source": "github", "repo": "o/r", "path": "../x"}),
            json!({"source": "github", "repo": "o/r", "ref": "--x"}),
            json!({"source": "github", "repo": "o/r", "sha": "x; rm"}),
            json!({"source": "strange"}),
            json!({"source": {"source": {}}}),
            json!(7),
            json!([]),
        ] {
            assert!(of(value.clone()).problem.is_some(), "{value}");
        }
    }

    #[test]
    fn both_spellings_of_an_older_record_are_read() {
        for text in [
            r#"{"kind":"marketplacePath","marketplace_id":"m","path":"p"}"#,
            r#"{"kind":"marketplacePath","marketplaceId":"m","path":"p"}"#,
        ] {
            let read: PluginSource = serde_json::from_str(text).unwrap();
            let (marketplace_id, path) = ("m".to_owned(), "p".to_owned());
            assert_eq!(read, PluginSource::MarketplacePath { marketplace_id, path });
        }
    }

    proptest! {
        #[test]
        fn no_path_leads_out(text in ".{0,40}", root in "[a-z./]{0,10}") {
            let root = check_relative(&root).is_ok().then_some(root);
            if let PluginSource::MarketplacePath { path, .. } =
                read(Some(&Value::from(text)), "n", &base(root.as_deref())).source
            {
                prop_assert!(!path.starts_with('/') && !path.split('/').any(|part| part == ".."));
            }
        }
    }
}
