//! The programs that are known: what their arguments have to be like for them to change nothing,
//! and which change files. One row each; a program without a row is not known.

use super::classify::Class;
use super::git;
use super::options::{Operands, Options};
use super::scripts::{awk, find, printf, test_expression};
use super::sed::sed;
use super::word::Arg;

/// What the arguments of a program have to be like.
pub(super) enum Rule {
    /// Whatever they are, it only reads.
    Any,
    /// It may have none.
    None,
    /// Only these options.
    Only(Options),
    /// They are looked at one by one.
    Look(fn(&[Arg]) -> Class),
}

use Operands::{Any as AnyOperands, AtMost, BeginWith};

const fn only(short: &'static str, long: &'static str, operands: Operands) -> Rule {
    Rule::Only(Options { short, long, operands })
}

/// Programs that only read, sorted by name.
const READERS: &[(&str, Rule)] = &[
    ("[", Rule::Look(test_expression)),
    ("awk", Rule::Look(awk)),
    ("basename", Rule::Any),
    ("cargo", Rule::Look(cargo)),
    ("cat", Rule::Any),
    ("cd", Rule::Look(cd)),
    ("cksum", Rule::Any),
    ("cmp", Rule::Any),
    ("comm", Rule::Any),
    ("command", Rule::Look(command)),
    ("cut", Rule::Any),
    (
        "date",
        only(
            "uRI?d:r:",
            "date= reference= utc universal rfc-email iso-8601? rfc-3339=",
            BeginWith('+'),
        ),
    ),
    (
        "df",
        only(
            "ahHiklmPTt:x:B:",
            "all human-readable si inodes local portability print-type type= exclude-type= total \
             output? block-size=",
            AnyOperands,
        ),
    ),
    (
        "diff",
        only(
            "abBcC:dEeinNpqrstTuU:wW:x:yZ",
            "brief unified? context? recursive new-file ignore-case ignore-all-space \
             ignore-space-change ignore-blank-lines side-by-side stat color? \
             report-identical-files text exclude= label= width= minimal",
            AtMost(2),
        ),
    ),
    ("dirname", Rule::Any),
    ("du", Rule::Any),
    ("echo", Rule::Any),
    ("env", Rule::None),
    ("expand", Rule::Any),
    ("false", Rule::Any),
    (
        "fd",
        only(
            "HIusigpaLd:t:e:E:S:o:c:j:1qF0",
            "hidden no-ignore no-ignore-vcs unrestricted case-sensitive ignore-case glob regex \
             fixed-strings absolute-path follow full-path print0 max-depth= min-depth= \
             exact-depth= type= extension= exclude= size= changed-within= changed-before= owner= \
             color= threads= max-results= quiet base-directory= path-separator= one-file-system",
            AnyOperands,
        ),
    ),
    (
        "file",
        only(
            "bBihkLNnrsv0e:f:F:m:P:",
            "brief mime mime-type mime-encoding dereference no-dereference keep-going no-pad \
             no-buffer raw special-files print0 separator= extension files-from= version",
            AnyOperands,
        ),
    ),
    ("find", Rule::Look(find)),
    ("fold", Rule::Any),
    ("git", Rule::Look(git::judge)),
    ("grep", Rule::Any),
    ("groups", Rule::Any),
    ("head", Rule::Any),
    ("id", Rule::Any),
    ("jq", Rule::Any),
    ("ls", Rule::Any),
    ("md5sum", Rule::Any),
    ("nl", Rule::Any),
    ("nproc", Rule::Any),
    ("od", Rule::Any),
    ("paste", Rule::Any),
    ("printf", Rule::Look(printf)),
    ("pwd", Rule::Any),
    ("readlink", Rule::Any),
    ("realpath", Rule::Any),
    ("rev", Rule::Any),
    (
        "rg",
        only(
            "aA:B:bC:cd:e:E:Ff:g:HhiIj:LlM:m:nNoPpqr:SsT:t:UuVvwx.0",
            "after-context= before-context= context= count count-matches max-depth= regexp= \
             encoding= fixed-strings file= glob= iglob= with-filename no-filename ignore-case \
             threads= follow files files-with-matches files-without-match max-columns= max-count= \
             line-number no-line-number only-matching pcre2 pretty quiet replace= smart-case \
             case-sensitive type= type-not= type-list multiline multiline-dotall unrestricted \
             version invert-match word-regexp line-regexp hidden no-ignore no-ignore-vcs \
             no-heading heading color= colors= json stats sort= sortr= trim text vimgrep column \
             byte-offset null no-messages no-config max-filesize= passthru crlf debug",
            AnyOperands,
        ),
    ),
    ("sed", Rule::Look(sed)),
    ("seq", Rule::Any),
    ("sha1sum", Rule::Any),
    ("sha256sum", Rule::Any),
    ("sha512sum", Rule::Any),
    ("sleep", Rule::Any),
    (
        "sort",
        only(
            "bcCdfghiMmnRrsuVzk:t:S:",
            "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort \
             ignore-nonprinting month-sort human-numeric-sort numeric-sort random-sort reverse \
             sort= version-sort check? key= merge stable buffer-size= field-separator= parallel= \
             unique zero-terminated files0-from= debug",
            AnyOperands,
        ),
    ),
    ("stat", Rule::Any),
    ("tac", Rule::Any),
    ("tail", Rule::Any),
    ("test", Rule::Look(test_expression)),
    ("tr", Rule::Any),
    (
        "tree",
        only(
            "adflxL:P:I:CnNqQphugsDFrtcUvAiSJX",
            "noreport gitignore matchdirs prune filelimit= dirsfirst filesfirst sort= inodes \
             device du si timefmt= fromfile metafirst ignore-case charset=",
            AnyOperands,
        ),
    ),
    ("true", Rule::Any),
    (
        "uname",
        only(
            "asnrvmpio",
            "all kernel-name nodename kernel-release kernel-version machine processor \
             hardware-platform operating-system",
            AtMost(0),
        ),
    ),
    (
        "uniq",
        only(
            "cdDf:is:uw:z",
            "count repeated all-repeated? group? skip-fields= ignore-case skip-chars= unique \
             zero-terminated check-chars=",
            AtMost(1),
        ),
    ),
    ("wc", Rule::Any),
    ("which", Rule::Any),
    ("whoami", Rule::Any),
];

/// Programs that change files whatever their arguments, sorted by name.
const WRITERS: &[&str] = &[
    "chgrp", "chmod", "chown", "cp", "dd", "install", "link", "ln", "mkdir", "mkfifo", "mknod",
    "mktemp", "mv", "patch", "rm", "rmdir", "rsync", "shred", "split", "tee", "touch", "truncate",
    "unlink",
];

/// Options that make a reader write, with the program they belong to.
const WRITING_OPTIONS: &[(&str, &[&str])] = &[
    ("find", &["-delete", "-fprint", "-fprint0", "-fprintf", "-fls"]),
    ("sort", &["-o", "--output"]),
    ("tree", &["-o"]),
    ("file", &["-C", "--compile"]),
];

/// Directories that hold the same programs as a name without a path.
const SYSTEM_DIRECTORIES: &[&str] = &["/bin/", "/usr/bin/"];

/// The name of a program: given as one, or by a path into a directory of the system.
pub(super) fn base_name(program: &str) -> Option<&str> {
    let bare = SYSTEM_DIRECTORIES.iter().find_map(|dir| program.strip_prefix(dir));
    let name = bare.unwrap_or(program);
    (!name.contains('/')).then_some(name)
}

/// What a program does with these arguments; none means that not all are known.
pub(super) fn judge(program: &str, args: Option<&[Arg]>) -> Class {
    let Some(name) = base_name(program) else { return Class::Other };
    if WRITERS.binary_search(&name).is_ok() {
        return Class::Writing;
    }
    let Ok(row) = READERS.binary_search_by_key(&name, |(name, _)| name) else {
        return Class::Other;
    };
    let Some(args) = args else { return Class::Other };
    let class = match &READERS[row].1 {
        Rule::Any => Class::ReadOnly,
        Rule::None if args.is_empty() => Class::ReadOnly,
        Rule::None => Class::Other,
        Rule::Only(options) if options.fit(args) => Class::ReadOnly,
        Rule::Only(_) => Class::Other,
        Rule::Look(look) => look(args),
    };
    if class == Class::Other && has_writing_option(name, args) { Class::Writing } else { class }
}

fn has_writing_option(name: &str, args: &[Arg]) -> bool {
    let options = WRITING_OPTIONS.iter().find(|(program, _)| *program == name);
    let Some((_, options)) = options else { return false };
    let given = args.iter().filter_map(Arg::text).take_while(|text| *text != "--");
    given.map(|text| text.split('=').next().unwrap_or(text)).any(|text| options.contains(&text))
}

/// `cd DIR`, for a directory below the one we are in: what follows runs there, and the
/// configuration of a place far away is not what the user had in mind.
fn cd(args: &[Arg]) -> Class {
    match args {
        [Arg::Literal(dir)] if is_below(dir) => Class::ReadOnly,
        _ => Class::Other,
    }
}

/// True for a relative path that does not climb.
pub(super) fn is_below(path: &str) -> bool {
    let climbs = path.split('/').any(|part| part == "..");
    !climbs && !path.is_empty() && !path.starts_with(['/', '~', '-', '+'])
}

/// `command -v NAME…` only looks programs up; without `-v` it runs one.
fn command(args: &[Arg]) -> Class {
    let looks = matches!(args.first().and_then(Arg::text), Some("-v" | "-V"));
    let names = args.get(1..).unwrap_or_default();
    let known = names.iter().all(|name| name.text().is_some_and(|text| !text.starts_with('-')));
    if looks && known && !names.is_empty() { Class::ReadOnly } else { Class::Other }
}

/// Options of `cargo metadata` and `cargo tree`, which ask about packages.
const CARGO: Options = Options {
    short: "qvp:i:e:d?F:",
    long: "format-version= no-deps manifest-path= locked offline frozen quiet verbose color= \
     package= workspace exclude= invert? depth= edges= prefix= no-dedupe duplicates charset= \
     format= features= all-features no-default-features filter-platform= target= prune=",
    operands: AtMost(0),
};

fn cargo(args: &[Arg]) -> Class {
    let asks = matches!(args.first().and_then(Arg::text), Some("metadata" | "tree"));
    if asks && CARGO.fit(&args[1..]) { Class::ReadOnly } else { Class::Other }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted() {
        assert!(READERS.is_sorted_by_key(|(name, _)| *name));
        assert!(WRITERS.is_sorted());
    }

    #[test]
    fn no_program_is_both() {
        assert!(READERS.iter().all(|(name, _)| !WRITERS.contains(name)));
    }
}
