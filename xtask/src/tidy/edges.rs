//! The arrows between our crates: `xtask/edges.toml` against `cargo metadata`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::Context as _;
use cargo_metadata::{DependencyKind, MetadataCommand};
use serde::Deserialize;

use super::{EDGES_FILE, Finding};

/// Stands for every crate that has a row.
const ANY: &str = "*";

/// What may depend on what.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Edges {
    /// What every crate may use in its tests besides its own row.
    dev: BTreeSet<String>,
    /// For every crate the crates of ours that it may depend on.
    pub(super) crates: BTreeMap<String, BTreeSet<String>>,
    /// Crates of others that only these crates of ours may use.
    #[serde(default)]
    only: BTreeMap<String, BTreeSet<String>>,
    /// Crates of others that a crate of ours may not use.
    #[serde(default)]
    without: BTreeMap<String, BTreeSet<String>>,
    /// For every room of core the rooms that it may reach.
    #[serde(default)]
    pub(super) rooms: super::rooms::Rooms,
    /// For every part of the world the room that owns it.
    #[serde(default)]
    pub(super) slices: super::rooms::Slices,
}

impl Edges {
    fn allows(&self, from: &str, to: &Dependency) -> bool {
        let row = self.crates.get(from);
        let in_row = row.is_some_and(|row| row.contains(ANY) || row.contains(&to.name));
        in_row || (to.dev && self.dev.contains(&to.name))
    }
}

/// A member of the workspace and those of its dependencies that are members too.
pub(super) struct Package {
    pub(super) name: String,
    /// Its folder, relative to the repository.
    pub(super) folder: String,
    pub(super) dependencies: Vec<Dependency>,
    /// What it uses of others, tests excepted.
    pub(super) others: BTreeSet<String>,
}

pub(super) struct Dependency {
    pub(super) name: String,
    pub(super) dev: bool,
}

/// The members of the workspace at `root`.
pub(super) fn packages(root: &Path) -> anyhow::Result<Vec<Package>> {
    let metadata = MetadataCommand::new()
        .manifest_path(root.join("Cargo.toml"))
        .no_deps()
        .exec()
        .context("cargo metadata of the workspace")?;
    let folder = |package: &cargo_metadata::Package| {
        let folder = package.manifest_path.parent().map(|dir| dir.as_std_path());
        let inner = folder.and_then(|dir| dir.strip_prefix(root).ok());
        inner.map(|dir| dir.to_string_lossy().into_owned()).unwrap_or_default()
    };
    let package = |package: &cargo_metadata::Package| Package {
        name: package.name.to_string(),
        folder: folder(package),
        others: package
            .dependencies
            .iter()
            .filter(|to| to.path.is_none() && to.kind == DependencyKind::Normal)
            .map(|to| to.name.clone())
            .collect(),
        dependencies: package
            .dependencies
            .iter()
            // A path is what makes a crate ours, whether or not it is a member.
            .filter(|dependency| dependency.path.is_some())
            .map(|dependency| Dependency {
                name: dependency.name.clone(),
                dev: dependency.kind == DependencyKind::Development,
            })
            .collect(),
    };
    Ok(metadata.packages.iter().map(package).collect())
}

/// Compares the rows with the packages. A row without a package is an error only if `strict`.
pub(super) fn check(edges: &Edges, packages: &[Package], strict: bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in packages {
        if edges.crates.contains_key(&package.name) {
            let forbidden =
                package.dependencies.iter().filter(|to| !edges.allows(&package.name, to));
            findings.extend(forbidden.map(|to| forbidden_edge(&package.name, to)));
            findings.extend(unused_edges(edges, package));
            findings.extend(barred(edges, package));
        } else {
            findings.push(Finding::error(EDGES_FILE, None, format!("{} has no row", package.name)));
        }
    }
    let exists = |name: &str| packages.iter().any(|package| package.name == name);
    for name in edges.crates.keys().filter(|name| !exists(name)) {
        let message = format!("{name} has a row but does not exist");
        let finding = if strict { Finding::error } else { Finding::warning };
        findings.push(finding(EDGES_FILE, None, message));
    }
    findings.extend(unknown_names(edges));
    findings
}

/// Dependencies that no source of their crate names. `sources` are paths and texts.
pub(super) fn check_named(packages: &[Package], sources: &[(String, String)]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in packages {
        let folder = format!("{}/", package.folder);
        let own = sources.iter().filter(|(path, _)| path.starts_with(&folder));
        let own: Vec<&str> = own.map(|(_, text)| text.as_str()).collect();
        let is_named = |name: &str| own.iter().any(|text| text.contains(&name.replace('-', "_")));
        for to in package.dependencies.iter().filter(|to| !is_named(&to.name)) {
            let message = format!("no source of {} names {}: drop it", package.name, to.name);
            findings.push(Finding::error(&format!("{folder}Cargo.toml"), None, message));
        }
    }
    findings
}

fn forbidden_edge(from: &str, to: &Dependency) -> Finding {
    let kind = if to.dev { "dev-dependency" } else { "dependency" };
    Finding::error(
        EDGES_FILE,
        None,
        format!("{from} has a {kind} on {}, not allowed here", to.name),
    )
}

/// Crates of others that a crate uses and may not.
fn barred(edges: &Edges, package: &Package) -> Vec<Finding> {
    let name = &package.name;
    let is_barred = |other: &&String| {
        edges.only.get(*other).is_some_and(|users| !users.contains(name))
            || edges.without.get(name).is_some_and(|without| without.contains(*other))
    };
    let barred = package.others.iter().filter(is_barred);
    let finding = |other| Finding::error(EDGES_FILE, None, format!("{name} must not know {other}"));
    barred.map(finding).collect()
}

/// Arrows of a crate's row that its manifest does not draw.
fn unused_edges(edges: &Edges, package: &Package) -> Vec<Finding> {
    let is_drawn = |name: &str| package.dependencies.iter().any(|to| to.name == name);
    let row = edges.crates.get(&package.name).into_iter().flatten();
    row.filter(|name| *name != ANY && edges.crates.contains_key(*name) && !is_drawn(name))
        .map(|name| {
            let message = format!("{} does not depend on {name}: drop the arrow", package.name);
            Finding::error(EDGES_FILE, None, message)
        })
        .collect()
}

/// Names on the right-hand side that have no row themselves: most likely misspelled.
fn unknown_names(edges: &Edges) -> Vec<Finding> {
    let named = edges.crates.values().flatten().chain(&edges.dev).collect::<BTreeSet<_>>();
    named
        .into_iter()
        .filter(|name| *name != ANY && !edges.crates.contains_key(*name))
        .map(|name| Finding::error(EDGES_FILE, None, format!("{name} is allowed but has no row")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const EDGES: &str = r#"
        dev = ["kit"]
        [crates]
        model = []
        core = ["model"]
        kit = ["*"]
    "#;

    fn package(name: &str, normal: &[&str], dev: &[&str]) -> Package {
        let edge = |dev: bool| move |name: &&str| Dependency { name: (*name).to_owned(), dev };
        let dependencies = normal.iter().map(edge(false)).chain(dev.iter().map(edge(true)));
        let folder = format!("crates/{name}");
        let (name, others) = (name.to_owned(), BTreeSet::new());
        Package { name, folder, dependencies: dependencies.collect(), others }
    }

    fn tree() -> Vec<Package> {
        vec![
            package("model", &[], &["kit"]),
            package("core", &["model"], &["kit"]),
            package("kit", &["model", "core"], &[]),
        ]
    }

    fn findings(edges: &str, packages: &[Package], strict: bool) -> Vec<String> {
        let edges = toml::from_str(edges).unwrap();
        check(&edges, packages, strict).iter().map(Finding::to_string).collect()
    }

    #[test]
    fn listed_edges_pass() {
        assert_eq!(findings(EDGES, &tree(), true), [""; 0]);
    }

    #[test]
    fn an_unlisted_edge_fails() {
        let mut packages = tree();
        packages[0] = package("model", &["core"], &[]);
        assert_eq!(
            findings(EDGES, &packages, false),
            ["error: xtask/edges.toml: model has a dependency on core, not allowed here"]
        );
    }

    #[test]
    fn an_unused_edge_fails() {
        let mut packages = tree();
        packages[1] = package("core", &[], &["kit"]);
        assert_eq!(
            findings(EDGES, &packages, false),
            ["error: xtask/edges.toml: core does not depend on model: drop the arrow"]
        );
    }

    #[test]
    fn what_a_crate_must_not_know_it_does_not_use() {
        let edges = format!("{EDGES}\n[only]\nsql = [\"core\"]\n[without]\nmodel = [\"serde\"]");
        let mut packages = tree();
        packages[0].others = ["serde", "sql", "time"].map(str::to_owned).into();
        packages[1].others = ["serde", "sql"].map(str::to_owned).into();
        assert_eq!(
            findings(&edges, &packages, false),
            [
                "error: xtask/edges.toml: model must not know serde",
                "error: xtask/edges.toml: model must not know sql"
            ]
        );
    }

    #[test]
    fn an_edge_that_no_source_names_fails() {
        let packages = [package("core", &["my-model", "term"], &["kit"])];
        let source = |path: &str, text: &str| (path.to_owned(), text.to_owned());
        let sources = [
            source("crates/core/src/lib.rs", "use my_model::Id;"),
            source("crates/core/tests/a.rs", "kit::start();"),
            source("crates/core2/src/lib.rs", "use term::Screen;"),
        ];
        let found = check_named(&packages, &sources);
        let message = "no source of core names term: drop it";
        assert_eq!(found, [Finding::error("crates/core/Cargo.toml", None, message)]);
    }

    #[test]
    fn the_test_kit_is_for_tests_only() {
        let mut packages = tree();
        packages[1] = package("core", &["model", "kit"], &[]);
        assert_eq!(
            findings(EDGES, &packages, false),
            ["error: xtask/edges.toml: core has a dependency on kit, not allowed here"]
        );
    }

    #[test]
    fn tests_are_held_to_the_row_as_well() {
        let mut packages = tree();
        packages[0] = package("model", &[], &["core"]);
        assert_eq!(
            findings(EDGES, &packages, false),
            ["error: xtask/edges.toml: model has a dev-dependency on core, not allowed here"]
        );
    }

    #[test]
    fn a_crate_without_a_row_fails() {
        let mut packages = tree();
        packages.push(package("extra", &[], &[]));
        assert_eq!(
            findings(EDGES, &packages, false),
            ["error: xtask/edges.toml: extra has no row"]
        );
    }

    #[test]
    fn a_row_without_a_crate_fails_only_when_strict() {
        let packages = &tree()[..2];
        let message = "xtask/edges.toml: kit has a row but does not exist";
        assert_eq!(findings(EDGES, packages, false), [format!("warning: {message}")]);
        assert_eq!(findings(EDGES, packages, true), [format!("error: {message}")]);
    }

    #[test]
    fn a_misspelled_name_fails() {
        let edges = EDGES.replace(r#"core = ["model"]"#, r#"core = ["model", "modle"]"#);
        assert_eq!(
            findings(&edges, &tree(), false),
            ["error: xtask/edges.toml: modle is allowed but has no row"]
        );
    }

    #[test]
    fn the_workspace_itself_is_seen() {
        let root = crate::repository_root().unwrap();
        let packages = packages(&root).unwrap();
        assert!(packages.iter().any(|one| (&*one.name, &*one.folder) == ("xtask", "xtask")));
    }
}
