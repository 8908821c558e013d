//! By what a plugin is recognized in several marketplaces. Pure.

use serde::{Deserialize, Serialize};

use crate::ids::slug;

/// By what a plugin is recognized elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IdentityKey {
    /// The most that is known of it, as a slug.
    pub canonical_slug: String,
    /// Its name as a slug.
    pub normalized_name: String,
    /// Where it is developed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// Where its page is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub homepage_domain: Option<String>,
    /// Who made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author_name: Option<String>,
}

impl IdentityKey {
    /// The identity of a plugin by what its catalog says. A repository that is the catalog's own says nothing
    /// about the plugin.
    pub(crate) fn new(
        name: &str,
        repository: Option<&str>,
        homepage: Option<&str>,
        author: Option<&str>,
        own: Option<&str>,
    ) -> IdentityKey {
        let own = own.map(normalized_repository);
        let repository = repository
            .filter(|url| !normalized_repository(url).is_empty())
            .filter(|url| own.as_deref() != Some(normalized_repository(url).as_str()));
        let homepage_domain = homepage.and_then(domain);
        let author = author.filter(|author| !slug(author).is_empty());
        let normalized_name = slug(name);
        let canonical_slug = match (repository, &homepage_domain, author) {
            (Some(url), ..) => slug(&normalized_repository(url)),
            (None, Some(domain), _) => slug(&format!("{domain}-{normalized_name}")),
            (None, None, Some(author)) => slug(&format!("{author}-{normalized_name}")),
            (None, None, None) => normalized_name.clone(),
        };
        IdentityKey {
            canonical_slug,
            normalized_name,
            repository: repository.map(str::to_owned),
            homepage_domain,
            author_name: author.map(str::to_owned),
        }
    }
}

/// A repository's address so that all spellings of it are one: lower case, without scheme, user, `.git` and a
/// slash at the end.
pub fn normalized_repository(url: &str) -> String {
    let url = url.trim().to_lowercase();
    let url = url.strip_prefix("git+").unwrap_or(&url);
    let rest = match url.split_once("://") {
        Some((_, rest)) => rest.to_owned(),
        // `git@host:path` is `host/path`.
        None => match url.split_once(':') {
            Some((host, path)) if host.contains('@') => format!("{host}/{path}"),
            _ => url.to_owned(),
        },
    };
    let rest = match rest.split_once('@') {
        Some((user, rest)) if !user.contains('/') => rest,
        _ => rest.as_str(),
    };
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let rest = rest.trim_end_matches('/');
    rest.strip_suffix(".git").unwrap_or(rest).trim_end_matches('/').to_owned()
}

/// The domain of a page.
fn domain(url: &str) -> Option<String> {
    let rest = url.trim().split_once("://").map_or(url.trim(), |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?.split(':').next()?.to_lowercase();
    let host = host.strip_prefix("www.").unwrap_or(&host).to_owned();
    (host.contains('.') && !slug(&host).is_empty()).then_some(host)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ids::is_id;

    #[test]
    fn all_spellings_of_a_repository_are_one() {
        for url in [
            "https://github.com/O/Repo",
            "https://github.com/o/repo.git",
            "https://github.com/o/repo/",
            "https://user@github.com/o/repo.git/",
            "git@github.com:O/repo.git",
            "ssh://git@github.com/o/repo",
            "git+https://github.com/o/repo.git#main",
        ] {
            assert_eq!(normalized_repository(url), "github.com/o/repo", "{url}");
        }
    }

    #[test]
    fn the_slug_says_the_most_that_is_known() {
        let key = |repository, homepage, author, own| {
            IdentityKey::new("Repo Tools", repository, homepage, author, own).canonical_slug
        };
        let repository = Some("https://github.com/o/repo-tools.git");
        assert_eq!(key(repository, None, None, None), "github-com-o-repo-tools");
        assert_eq!(
            key(None, Some("https://www.example.test/x"), Some("A"), None),
            "example-test-repo-tools"
        );
        assert_eq!(key(None, Some("no page"), Some("Ann B"), None), "ann-b-repo-tools");
        assert_eq!(key(None, None, None, None), "repo-tools");
        let own = Some("git@github.com:o/repo-tools");
        assert_eq!(key(repository, None, None, own), "repo-tools");
    }

    proptest! {
        #[test]
        fn slugs_are_ids_whatever_is_said(name in ".{0,20}", repo in ".{0,30}", page in ".{0,30}", author in ".{0,10}") {
            let key = IdentityKey::new(&name, Some(&repo), Some(&page), Some(&author), None);
            prop_assert!(key.canonical_slug.is_empty() || is_id(&key.canonical_slug));
            prop_assert!(key.normalized_name.is_empty() || is_id(&key.normalized_name));
        }
    }
}
