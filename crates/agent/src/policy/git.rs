//! Which calls of git only read: its subcommands and the options of each that are known.

use super::classify::Class;
use super::options::{Operands, Options};
use super::programs::is_below;
use super::word::Arg;

/// What the arguments of a subcommand have to be like.
enum Rule {
    /// Whatever they are, it only reads.
    Any,
    /// Only these options.
    Only(Options),
    /// It lists only if asked to, or if there is nothing else to do.
    Lists(Options),
    /// Only if the first argument is one of these.
    First(&'static [&'static str]),
}

const fn only(short: &'static str, long: &'static str) -> Rule {
    Rule::Only(Options { short, long, operands: Operands::Any })
}

/// Options of everything that shows commits or differences. Not among them: `--output`, which
/// writes, `--ext-diff` and `--textconv`, which run drivers, and `--show-signature`.
const LOG: Options = Options {
    short: "0123456789pusabBDiEFgM?C?mcn:S:G:wzRqU?L:W",
    long: "abbrev-commit abbrev? after= all ancestry-path? all-match author= author-date-order \
     before= binary boundary branches? cached cc check cherry cherry-mark cherry-pick children \
     color? color-words? combined-all-paths committer= compact-summary count cumulative date= \
     date-order decorate? decorate-refs= diff-algorithm= diff-filter= dirstat? dense exclude= \
     exit-code find-copies? find-copies-harder find-object= find-renames? first-parent follow \
     full-diff full-history full-index function-context graph grep= histogram ignore-all-space \
     ignore-blank-lines ignore-space-at-eol ignore-space-change ignore-submodules? \
     indent-heuristic inter-hunk-context= invert-grep left-only left-right line-prefix= max-age= \
     max-count= max-parents= merge-base merges min-age= min-parents= minimal name-only \
     name-status no-abbrev no-abbrev-commit no-color no-color-moved no-decorate no-ext-diff \
     no-index no-merges no-notes no-patch no-prefix no-relative no-renames no-textconv no-walk? \
     numstat oneline parents patch patch-with-stat patience perl-regexp pickaxe-all pickaxe-regex \
     quiet raw regexp-ignore-case relative? relative-date remotes? reverse right-only root \
     shortstat show-pulls simplify-by-decoration simplify-merges since= skip= sparse staged stat? \
     stat-count= stat-name-width= stat-width= submodule? summary tags? text topo-order unified= \
     until= walk-reflogs word-diff? word-diff-regex= merge email numbered color-moved? \
     src-prefix= dst-prefix= default-prefix log-size fixed-strings extended-regexp basic-regexp \
     source mailmap use-mailmap no-mailmap format= pretty? show-notes? notes? clear-decorations \
     not reflog objects no-max-parents no-min-parents",
    operands: Operands::Any,
};

const BRANCH: Options = Options {
    short: "arvi",
    long: "list all remotes verbose show-current color? no-color contains= no-contains= merged? \
     no-merged? points-at= sort= format= column? no-column ignore-case abbrev? no-abbrev \
     omit-empty",
    operands: Operands::Any,
};

const TAG: Options = Options {
    short: "ln?i",
    long: "list contains= no-contains= merged? no-merged? points-at= sort= format= column? \
     no-column color? ignore-case omit-empty",
    operands: Operands::Any,
};

/// Options after which `branch` and `tag` list, whatever else they are given.
const LISTING: &[&str] = &["--list", "-l", "--contains", "--no-contains", "--points-at"];

/// Subcommands that read, sorted by name.
const READERS: &[(&str, Rule)] = &[
    (
        "blame",
        only(
            "bcdefhlnpstwL:M?C?",
            "porcelain line-porcelain incremental root show-stats show-name show-number \
             show-email date= color-lines color-by-age minimal reverse first-parent ignore-rev= \
             ignore-revs-file= abbrev= since= score-debug",
        ),
    ),
    ("branch", Rule::Lists(BRANCH)),
    ("cat-file", only("etps", "batch-check? batch? batch-all-objects unordered buffer")),
    ("check-ignore", Rule::Any),
    ("count-objects", Rule::Any),
    ("describe", Rule::Any),
    ("diff", Rule::Only(LOG)),
    (
        "diff-tree",
        only(
            "rtpsuzcmM?C?",
            "name-only name-status stat? numstat no-commit-id root raw shortstat summary \
             no-ext-diff no-textconv cc patch abbrev?",
        ),
    ),
    (
        "grep",
        only(
            "aiIwvhHEGFPnlLzocpWqe:A:B:C:m:f:",
            "cached untracked no-index text ignore-case word-regexp invert-match extended-regexp \
             basic-regexp fixed-strings perl-regexp line-number column name-only \
             files-with-matches files-without-match null only-matching count color? no-color \
             break heading show-function function-context after-context= before-context= context= \
             max-count= max-depth= recursive and or not all-match quiet full-name no-textconv",
        ),
    ),
    ("log", Rule::Only(LOG)),
    ("ls-files", Rule::Any),
    ("ls-tree", Rule::Any),
    ("merge-base", Rule::Any),
    ("name-rev", Rule::Any),
    ("reflog", Rule::Only(REFLOG)),
    ("remote", Rule::Only(Options { short: "v", long: "verbose", operands: Operands::AtMost(0) })),
    ("rev-list", Rule::Only(LOG)),
    ("rev-parse", Rule::Any),
    (
        "shortlog",
        only(
            "nsecw?",
            "numbered summary email format= date= group= committer all no-merges merges since= \
             until= after= before= author= max-count= first-parent",
        ),
    ),
    ("show", Rule::Only(LOG)),
    ("show-ref", Rule::Any),
    ("stash", Rule::First(&["list"])),
    ("status", Rule::Any),
    ("tag", Rule::Lists(TAG)),
    ("version", Rule::Any),
    ("worktree", Rule::First(&["list"])),
];

const REFLOG: Options = Options { operands: Operands::AtMost(0), ..LOG };

/// Subcommands that change a repository, a working tree or a remote, sorted by name.
const WRITERS: &[&str] = &[
    "add",
    "am",
    "apply",
    "bisect",
    "branch",
    "checkout",
    "checkout-index",
    "cherry-pick",
    "clean",
    "clone",
    "commit",
    "commit-tree",
    "fast-import",
    "fetch",
    "filter-branch",
    "format-patch",
    "gc",
    "init",
    "merge",
    "mv",
    "notes",
    "pack-refs",
    "prune",
    "pull",
    "push",
    "read-tree",
    "rebase",
    "remote",
    "repack",
    "replace",
    "reset",
    "restore",
    "revert",
    "rm",
    "send-email",
    "stash",
    "submodule",
    "switch",
    "symbolic-ref",
    "tag",
    "update-index",
    "update-ref",
    "worktree",
    "write-tree",
];

/// Options before the subcommand that change nothing about what it runs.
const GLOBAL: &[&str] = &[
    "--no-pager",
    "-P",
    "--no-optional-locks",
    "--literal-pathspecs",
    "--glob-pathspecs",
    "--noglob-pathspecs",
    "--icase-pathspecs",
    "--no-replace-objects",
    "--no-lazy-fetch",
];

/// In a format these have a signature checked, by a program that configuration names.
const SIGNATURES: &[&str] = &["%G", "signature"];

pub(super) fn judge(args: &[Arg]) -> Class {
    let mut rest = args;
    let mut is_known = true;
    let subcommand = loop {
        match rest.first().map(Arg::text) {
            Some(Some("--version")) if rest.len() == 1 => return Class::ReadOnly,
            Some(Some(option)) if GLOBAL.contains(&option) => rest = &rest[1..],
            Some(Some("-C")) => {
                let below = rest.get(1).and_then(Arg::text).is_some_and(is_below);
                is_known &= below;
                rest = rest.get(2..).unwrap_or_default();
            }
            Some(Some("-c" | "--git-dir" | "--work-tree" | "--namespace" | "--config-env")) => {
                is_known = false;
                rest = rest.get(2..).unwrap_or_default();
            }
            Some(Some(option)) if option.starts_with('-') => {
                is_known = false;
                rest = &rest[1..];
            }
            Some(Some(subcommand)) => break subcommand,
            _ => return Class::Other,
        }
    };
    let args = &rest[1..];
    if is_known && only_reads(subcommand, args) {
        return Class::ReadOnly;
    }
    // An unknown option may only be an unusual way to read: not every use of these writes.
    let reads_too = READERS.binary_search_by_key(&subcommand, |(name, _)| name).is_ok();
    let writes = WRITERS.binary_search(&subcommand).is_ok();
    if writes && (!reads_too || mutates(args)) { Class::Writing } else { Class::Other }
}

/// True if the words are all known and the first is no option, or one is a well-known order.
fn mutates(args: &[Arg]) -> bool {
    const ORDERS: &[&str] =
        &["-d", "-D", "-m", "-M", "-c", "-C", "-f", "-a", "--delete", "--move", "--copy"];
    let first = args.first().and_then(Arg::text);
    first.is_none_or(|first| !first.starts_with('-')) || first.is_some_and(|f| ORDERS.contains(&f))
}

fn only_reads(subcommand: &str, args: &[Arg]) -> bool {
    let Ok(row) = READERS.binary_search_by_key(&subcommand, |(name, _)| name) else {
        return false;
    };
    let checks = |arg: &Arg| arg.text().is_some_and(|t| SIGNATURES.iter().any(|s| t.contains(s)));
    if args.iter().any(checks) {
        return false;
    }
    match &READERS[row].1 {
        Rule::Any => args.iter().all(|arg| arg.text().is_some() || arg.is_operand()),
        Rule::Only(options) => options.fit(args),
        Rule::Lists(options) => lists(options, args),
        Rule::First(orders) => {
            let known = args.iter().all(|arg| arg.text().is_some());
            let plain = args.iter().skip(1).all(|arg| {
                arg.text()
                    .is_some_and(|text| matches!(text, "--porcelain" | "--oneline" | "-z" | "-v"))
            });
            known && plain && args.first().and_then(Arg::text).is_some_and(|t| orders.contains(&t))
        }
    }
}

fn lists(options: &Options, args: &[Arg]) -> bool {
    let Some(given) = options.read(args) else { return false };
    let asked = given.options.iter().any(|option| {
        let name = option.split('=').next().unwrap_or(option);
        LISTING.contains(&name)
    });
    // `--merged` may take the next word, and then lists as well.
    let merged = given.options.iter().any(|option| matches!(*option, "--merged" | "--no-merged"));
    asked || given.operands.is_empty() || (merged && given.operands.len() == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(line: &str) -> Class {
        let args: Vec<Arg> = line.split_whitespace().map(|arg| Arg::Literal(arg.into())).collect();
        judge(&args)
    }

    #[test]
    fn tables_are_sorted() {
        assert!(READERS.is_sorted_by_key(|(name, _)| *name));
        assert!(WRITERS.is_sorted());
    }

    #[test]
    fn reading_is_known() {
        for line in [
            "status --short",
            "log --oneline -5",
            "log -n 3 --format=%h",
            "diff HEAD~1 -- src",
            "show --stat HEAD",
            "branch",
            "branch -vv",
            "branch --list x*",
            "branch --merged main",
            "branch --show-current",
            "rev-parse --abbrev-ref HEAD",
            "blame -L 1,5 f",
            "describe --tags",
            "--no-pager log -1 -p",
            "-C sub status",
            "tag",
            "tag --list v*",
            "tag -l v*",
            "remote -v",
            "stash list",
            "diff --stat",
            "log -S foo",
            "log --since=1.week",
            "ls-files -m",
            "grep -n x",
            "--version",
        ] {
            assert_eq!(class(line), Class::ReadOnly, "{line}");
        }
    }

    #[test]
    fn writing_is_known() {
        for line in [
            "commit -m x",
            "push",
            "checkout .",
            "branch new",
            "branch -D x",
            "tag v1",
            "tag -d v1",
            "stash",
            "stash pop",
            "reset --hard",
            "clean -fdx",
            "remote add x y",
            "add .",
            "-c a.b=c commit",
            "worktree add x",
            "init",
            "-C /x commit",
        ] {
            assert_eq!(class(line), Class::Writing, "{line}");
        }
    }

    #[test]
    fn the_rest_is_not_known() {
        for line in [
            "",
            "-c core.pager=x log",
            "--exec-path=. status",
            "--git-dir=x status",
            "-C /tmp status",
            "-C .. status",
            "diff --output=x",
            "diff --outp=x",
            "diff --ext-diff",
            "log --textconv",
            "log --output x",
            "log --show-signature",
            "log --format=%G?",
            "branch --list -D x",
            "branch --lis x",
            "branch -v new -u x",
            "frobnicate",
            "-p log",
            "--paginate log",
            "grep -O x",
            "grep --open-files-in-pager",
            "cat-file --textconv x",
            "blame --output=x f",
            "shortlog --output=x",
            "rev-list --output=x HEAD",
            "config x y",
            "difftool",
            "help log",
            "branch --format=%(signature)",
            "reflog expire",
            "branch --edit-description",
        ] {
            assert_eq!(class(line), Class::Other, "{line}");
        }
    }
}
