//! What changes are counted from: where the branch left the one that it goes back to.

use super::super::run::fields;
use super::super::{GitError, Head, Oid, Repository};

/// What a work tree is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    /// The reference that the branch goes back to, in short; none while there is no commit.
    pub name: Option<String>,
    /// The commit where both met last; the empty tree while there is no commit.
    pub tree: Oid,
}

/// A reference that a branch may go back to.
struct Candidate {
    /// Its whole name, which no option looks like.
    name: String,
    /// The name that people know.
    short: String,
    /// What it names, where that is known already.
    commit: Option<Oid>,
}

/// Finds the base: the upstream of the branch, else what `origin` calls its own, else one of the usual
/// names, else the head itself.
pub(super) async fn find(repo: &Repository, head: &Head) -> Result<Base, GitError> {
    let Some(commit) = &head.commit else {
        return Ok(Base { name: None, tree: repo.empty_tree() });
    };
    for candidate in candidates(repo, head).await? {
        if candidate.commit.as_ref() == Some(commit) {
            return Ok(Base { name: Some(candidate.short), tree: commit.clone() });
        }
        let both = ["merge-base", commit.as_str(), candidate.name.as_str()];
        // A reference that is gone, and one without a common past, are passed over.
        let met = match repo.git.call(both).answer().await {
            Ok(met) => met,
            Err(GitError::Failed { .. }) => None,
            Err(error) => return Err(error),
        };
        let met = met.and_then(|met| Oid::read(met.split(|byte| *byte == b'\n').next()?));
        if let Some(tree) = met {
            return Ok(Base { name: Some(candidate.short), tree });
        }
    }
    Ok(Base { name: Some("HEAD".to_owned()), tree: commit.clone() })
}

/// Where `origin` says what its own branch is.
const ORIGIN_HEAD: &str = "refs/remotes/origin/HEAD";
/// Branches that others usually leave, with their short names.
const USUAL: [(&str, &str); 4] = [
    ("refs/remotes/origin/master", "origin/master"),
    ("refs/remotes/origin/main", "origin/main"),
    ("refs/heads/master", "master"),
    ("refs/heads/main", "main"),
];

/// The references that may be the base, in order.
async fn candidates(repo: &Repository, head: &Head) -> Result<Vec<Candidate>, GitError> {
    let format = "--format=%(refname)%00%(objectname)%00%(upstream)%00%(upstream:short)%00%(symref)%00%(symref:short)%00";
    let own = head.branch.as_ref().map(|branch| format!("refs/heads/{branch}"));
    let wanted = USUAL.iter().map(|(name, _)| (*name).to_owned()).chain(own.clone());
    let wanted: Vec<String> = std::iter::once(ORIGIN_HEAD.to_owned()).chain(wanted).collect();
    let call = repo.git.call(["for-each-ref", format]).args(&wanted);
    let listing = call.run().await?;
    let rows = rows(&listing);
    let row = |name: &str| rows.iter().find(|row| row.name == name);
    let mut found = Vec::new();
    let mut add = |name: &str, short: &str| {
        let commit = row(name).and_then(|row| Oid::parse(&row.object));
        if !name.is_empty() && !found.iter().any(|known: &Candidate| known.name == name) {
            found.push(Candidate { name: name.to_owned(), short: short.to_owned(), commit });
        }
    };
    if let Some(row) = own.as_deref().and_then(row) {
        add(&row.upstream, &row.upstream_short);
    }
    if let Some(row) = row(ORIGIN_HEAD) {
        add(&row.target, &row.target_short);
    }
    for (name, short) in USUAL {
        if row(name).is_some() {
            add(name, short);
        }
    }
    Ok(found)
}

/// A reference as it is listed.
struct Row {
    name: String,
    object: String,
    upstream: String,
    upstream_short: String,
    target: String,
    target_short: String,
}

/// Reads lines of six fields, each of which ends with a zero byte.
fn rows(listing: &[u8]) -> Vec<Row> {
    let text = |field: &[u8]| String::from_utf8_lossy(field).trim_start_matches('\n').to_owned();
    let all: Vec<String> =
        fields(listing.strip_suffix(b"\n").unwrap_or(listing)).map(text).collect();
    let row = |parts: &[String]| match parts {
        [name, object, upstream, upstream_short, target, target_short] => Some(Row {
            name: name.clone(),
            object: object.clone(),
            upstream: upstream.clone(),
            upstream_short: upstream_short.clone(),
            target: target.clone(),
            target_short: target_short.clone(),
        }),
        _ => None,
    };
    all.chunks(6).filter_map(row).collect()
}
