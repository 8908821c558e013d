//! The pages that describe the crates, against the crates that there are: the drawings of
//! `ARCHITECTURE.md`, the list of `docs/crates.md`, and the files that `docs/bounds.md` names.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use super::edges::Package;

/// Where the crates are drawn, as the first block below this heading.
pub(super) const DRAWING: &str = "ARCHITECTURE.md";
const HEADING: &str = "## Code map";
/// Where the rooms of core are drawn, likewise, and where they are declared.
const INSIDE: &str = "### Inside core";
pub(super) const ROOMS: &str = "crates/core/src/rooms.rs";
/// Where it is said what each of them owns.
pub(super) const LIST: &str = "docs/crates.md";
/// Where it is said what is bounded in which file.
pub(super) const BOUNDS: &str = "docs/bounds.md";

/// The folder of our crates, and of those that are dialects.
const CRATES: &str = "crates/";
const DIALECTS: &str = "crates/dialects/";

/// Our crates by what they are called in drawings: the last part of their folder.
fn drawn(packages: &[Package]) -> BTreeMap<&str, &Package> {
    let ours = packages.iter().filter(|package| package.folder.starts_with(CRATES));
    ours.filter_map(|package| Some((package.folder.rsplit('/').next()?, package))).collect()
}

/// Every crate stands in the drawing once, and on lower lines stands all that it uses.
pub(super) fn check_drawing(text: &str, packages: &[Package]) -> Vec<Finding> {
    let crates = drawn(packages);
    let block = text.split(HEADING).nth(1).and_then(|rest| rest.split("```").nth(1));
    let mut lines: BTreeMap<&str, usize> = BTreeMap::new();
    let mut findings = Vec::new();
    let mut wrong = |message: String| findings.push(Finding::error(DRAWING, None, message));
    for (at, line) in block.unwrap_or_default().lines().enumerate() {
        for word in line.split_whitespace().filter(|word| crates.contains_key(word)) {
            if lines.insert(word, at).is_some() {
                wrong(format!("{word} is drawn twice"));
            }
        }
    }
    let by_name: BTreeMap<&str, &str> =
        crates.iter().map(|(short, package)| (package.name.as_str(), *short)).collect();
    for (short, package) in &crates {
        let Some(own) = lines.get(short) else {
            wrong(format!("{short} is not drawn"));
            continue;
        };
        let used = package.dependencies.iter().filter(|to| !to.dev);
        for other in used.filter_map(|to| by_name.get(to.name.as_str())) {
            if lines.get(other).is_some_and(|line| line <= own) && !is_support(text, short) {
                wrong(format!("{short} uses {other}, which is not drawn below it"));
            }
        }
    }
    findings
}

/// Every room that gives a handle stands in the drawing once.
pub(super) fn check_rooms(text: &str, rooms: &str) -> Vec<Finding> {
    let block = text.split(INSIDE).nth(1).and_then(|rest| rest.split("```").nth(1));
    let drawn: Vec<&str> = block.unwrap_or_default().split_whitespace().collect();
    let listed = rooms.lines().filter_map(|line| line.strip_suffix(',')?.split_once(" => "));
    let own = rooms
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("pub fn ")?.split_once("(&self) -> "));
    // The macro itself names none.
    let rooms = listed.chain(own).map(|(room, _)| room.trim()).filter(|room| !room.contains('$'));
    let mut findings = Vec::new();
    for room in rooms {
        let message = match drawn.iter().filter(|word| **word == room).count() {
            0 => format!("the room {room} is not drawn"),
            1 => continue,
            _ => format!("the room {room} is drawn twice"),
        };
        findings.push(Finding::error(DRAWING, None, message));
    }
    findings
}

/// Support for tests stands apart: it may use everything.
fn is_support(text: &str, short: &str) -> bool {
    let line = text.lines().find(|line| line.starts_with("tests "));
    line.is_some_and(|line| line.split_whitespace().any(|word| word == short))
}

/// Every crate has one row, and every row a crate.
pub(super) fn check_list(text: &str, packages: &[Package]) -> Vec<Finding> {
    let folders: BTreeSet<&str> = packages
        .iter()
        .map(|package| package.folder.as_str())
        .filter(|folder| folder.starts_with(CRATES))
        .collect();
    let mut rows = BTreeSet::new();
    let mut findings = Vec::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| line.starts_with("| [")) {
        let link = line.split("](../").nth(1).and_then(|rest| rest.split(')').next());
        let folder = link.unwrap_or_default();
        let message = match () {
            () if !folders.contains(folder) => format!("{folder} is no crate"),
            () if !rows.insert(folder) => format!("{folder} has two rows"),
            () => continue,
        };
        findings.push(Finding::error(LIST, index + 1, message));
    }
    let missing = folders.difference(&rows);
    findings.extend(missing.map(|it| Finding::error(LIST, None, format!("{it} has no row"))));
    findings
}

/// The files that rows name are there, below our crates.
pub(super) fn check_bounds(text: &str, files: &BTreeSet<String>) -> Vec<Finding> {
    let is_there = |named: &str| {
        [CRATES, DIALECTS].iter().any(|root| {
            let path = format!("{root}{named}");
            files.contains(&path)
                || named.ends_with('/')
                    && files.range(path.clone()..).next().is_some_and(|it| it.starts_with(&path))
        })
    };
    let mut findings = Vec::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| line.starts_with("| ")) {
        let place = line.trim_end_matches([' ', '|']).rsplit(" | ").next().unwrap_or_default();
        let named = place.split('`').skip(1).step_by(2).filter(|named| named.contains('/'));
        for named in named.filter(|named| !is_there(named)) {
            findings.push(Finding::error(BOUNDS, index + 1, format!("there is no crates/{named}")));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::edges::Dependency;
    use super::*;

    fn package(folder: &str, used: &[&str]) -> Package {
        let name = format!("rookery-{}", folder.rsplit('/').next().unwrap());
        let dependency = |name: &&str| Dependency { name: format!("rookery-{name}"), dev: false };
        Package {
            name,
            folder: folder.to_owned(),
            dependencies: used.iter().map(dependency).collect(),
            others: BTreeSet::new(),
        }
    }

    fn packages() -> Vec<Package> {
        vec![
            package("crates/core", &["model"]),
            package("crates/dialects/native", &["core"]),
            package("crates/model", &[]),
            package("crates/testkit", &["core", "native"]),
            package("xtask", &[]),
        ]
    }

    fn said(findings: &[Finding]) -> Vec<&str> {
        findings.iter().map(|finding| finding.message.as_str()).collect()
    }

    fn drawing(lines: &str) -> String {
        format!("# A\n\n{HEADING}\n\n```text\n{lines}```\n")
    }

    #[test]
    fn a_drawing_is_complete_and_its_arrows_go_down() {
        let check = |lines: &str| {
            let findings = check_drawing(&drawing(lines), &packages());
            said(&findings).join("; ")
        };
        let right = "dialects native\nstate core\nground model\ntests testkit\n";
        assert_eq!(check(right), "");
        assert_eq!(check(&right.replace("model", "")), "model is not drawn");
        assert_eq!(
            check(&right.replace("model", "model core")),
            "core is drawn twice; core uses model, which is not drawn below it"
        );
        let level = "dialects native core\nground model\ntests testkit\n";
        assert_eq!(check(level), "native uses core, which is not drawn below it");
        assert_eq!(check("").split("; ").count(), 4);
    }

    #[test]
    fn every_room_is_drawn_once() {
        let rooms = "macro {\n    pub fn $accessor(&self) -> $Handle {\n}\npub fn seats(&self) -> Seats {\n\
                     rooms! {\n    log => Log,\n    tasks => Tasks,\n}\n";
        let check = |lines: &str| {
            let text = format!("# A\n\n{INSIDE}\n\n```text\n{lines}```\n");
            said(&check_rooms(&text, rooms)).join("; ")
        };
        assert_eq!(check("| seats  tasks  what is run |\n| log  core.log().page() |\n"), "");
        assert_eq!(check("| seats tasks |"), "the room log is not drawn");
        assert_eq!(check("seats tasks log\nlog"), "the room log is drawn twice");
    }

    #[test]
    fn a_list_has_every_crate_once() {
        let row = |folder: &str| format!("| [it](../{folder}) | a | b |\n");
        let all = ["crates/core", "crates/dialects/native", "crates/model", "crates/testkit"];
        let list: String = all.iter().map(|folder| row(folder)).collect();
        assert_eq!(said(&check_list(&list, &packages())), [""; 0]);
        let list = list + &row("crates/model") + &row("crates/gone");
        let expected = ["crates/model has two rows", "crates/gone is no crate"];
        assert_eq!(said(&check_list(&list, &packages())), expected);
        assert_eq!(check_list("", &packages()).len(), 4);
    }

    #[test]
    fn a_bound_names_files_that_are_there() {
        let files = ["crates/host/src/git/mod.rs", "crates/dialects/link/src/lib.rs"];
        let files: BTreeSet<String> = files.map(str::to_owned).into();
        let check =
            |place: &str| check_bounds(&format!("| what | a `b/c` | {place} |\n"), &files).len();
        assert_eq!(check("`host/src/git/`, `link/src/lib.rs`"), 0);
        assert_eq!(check("`host/src/git/mod.rs`"), 0);
        assert_eq!(check("`host/src/gone/`"), 1);
        assert_eq!(check("`host/src/gone.rs`"), 1);
    }
}
