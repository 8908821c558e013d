//! Programs whose arguments are little programs: find, awk, printf and test.

use super::classify::Class;
use super::options::{Operands, Options};
use super::word::Arg;

pub(super) fn reading(is_proved: bool) -> Class {
    if is_proved { Class::ReadOnly } else { Class::Other }
}

/// What `find` may be asked, and whether it takes a word. Sorted.
const FIND: &[(&str, bool)] = &[
    ("-H", false),
    ("-L", false),
    ("-P", false),
    ("-a", false),
    ("-amin", true),
    ("-and", false),
    ("-anewer", true),
    ("-atime", true),
    ("-cmin", true),
    ("-cnewer", true),
    ("-ctime", true),
    ("-daystart", false),
    ("-depth", false),
    ("-empty", false),
    ("-executable", false),
    ("-false", false),
    ("-follow", false),
    ("-fstype", true),
    ("-gid", true),
    ("-group", true),
    ("-ignore_readdir_race", false),
    ("-ilname", true),
    ("-iname", true),
    ("-inum", true),
    ("-ipath", true),
    ("-iregex", true),
    ("-iwholename", true),
    ("-links", true),
    ("-lname", true),
    ("-ls", false),
    ("-maxdepth", true),
    ("-mindepth", true),
    ("-mmin", true),
    ("-mount", false),
    ("-mtime", true),
    ("-name", true),
    ("-newer", true),
    ("-newermt", true),
    ("-nogroup", false),
    ("-noleaf", false),
    ("-not", false),
    ("-nouser", false),
    ("-nowarn", false),
    ("-o", false),
    ("-or", false),
    ("-path", true),
    ("-perm", true),
    ("-print", false),
    ("-print0", false),
    ("-printf", true),
    ("-prune", false),
    ("-quit", false),
    ("-readable", false),
    ("-regex", true),
    ("-regextype", true),
    ("-samefile", true),
    ("-size", true),
    ("-true", false),
    ("-type", true),
    ("-uid", true),
    ("-used", true),
    ("-user", true),
    ("-wholename", true),
    ("-writable", false),
    ("-xdev", false),
    ("-xtype", true),
];

pub(super) fn find(args: &[Arg]) -> Class {
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let Some(text) = arg.text() else {
            if arg.is_operand() {
                continue;
            }
            return Class::Other;
        };
        if !text.starts_with('-') {
            continue;
        }
        match FIND.binary_search_by_key(&text, |(name, _)| name) {
            // Its word must be one: a pattern without quotes may become several.
            Ok(row) if FIND[row].1 => match rest.next().map(Arg::text) {
                Some(Some(_)) => {}
                _ => return Class::Other,
            },
            Ok(_) => {}
            Err(_) => return Class::Other,
        }
    }
    Class::ReadOnly
}

/// Options of awk that only feed it.
const AWK: Options = Options { short: "F:v:", long: "", operands: Operands::Any };
/// What an awk program must not contain anywhere: ways to run, to write and to load.
const AWK_FORBIDDEN: &[&str] = &["system", "getline", ">", "@", "\\\n", "fflush", "close"];

pub(super) fn awk(args: &[Arg]) -> Class {
    let Some(given) = AWK.read(args) else { return Class::Other };
    let Some(program) = given.operands.first().and_then(|first| first.text()) else {
        return Class::Other;
    };
    let forbidden = AWK_FORBIDDEN.iter().any(|word| program.contains(word));
    // Two bars are a choice, one is a pipe.
    let pipes = program.replace("||", "").contains('|');
    reading(!forbidden && !pipes)
}

/// `printf` sets a variable with `-v` and `%n`, and some shells compute what a number stands for.
pub(super) fn printf(args: &[Arg]) -> Class {
    let args = if args.first().and_then(Arg::text) == Some("--") { &args[1..] } else { args };
    let Some((Some(format), values)) = args.split_first().map(|(format, v)| (format.text(), v))
    else {
        return Class::Other;
    };
    if format.starts_with('-') {
        return Class::Other;
    }
    let mut is_text = true;
    let mut pieces = format.replace("%%", "");
    while let Some(at) = pieces.find('%') {
        let rest = pieces[at + 1..].trim_start_matches(|c: char| "-+ #0123456789.".contains(c));
        match rest.chars().next() {
            Some('s' | 'b' | 'c') => {}
            Some('d' | 'i' | 'u' | 'o' | 'x' | 'X' | 'f' | 'e' | 'g') => is_text = false,
            _ => return Class::Other,
        }
        pieces = rest.to_owned();
    }
    let number = |text: &str| text.chars().all(|c| c.is_ascii_digit() || "+-.".contains(c));
    reading(is_text || values.iter().all(|value| value.text().is_some_and(number)))
}

/// Tests of files, each with one path. Comparisons of numbers are left out: shells compute them.
const FILE_TESTS: &[&str] = &["-d", "-e", "-f", "-h", "-L", "-r", "-s", "-w", "-x"];

pub(super) fn test_expression(args: &[Arg]) -> Class {
    let texts: Option<Vec<&str>> = args.iter().map(Arg::text).collect();
    let Some(texts) = texts else { return Class::Other };
    let texts = texts.strip_suffix(&["]"]).unwrap_or(&texts);
    let texts = texts.strip_prefix(&["!"]).unwrap_or(texts);
    reading(matches!(texts, [test, _] if FILE_TESTS.contains(test)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn literals(args: &[&str]) -> Vec<Arg> {
        args.iter().map(|arg| Arg::Literal((*arg).to_owned())).collect()
    }

    #[test]
    fn the_table_of_find_is_sorted() {
        assert!(FIND.is_sorted());
    }

    #[test]
    fn awk_prints_only() {
        for program in ["{print $1}", "NR==1 || NR==3", "BEGIN{FS=\":\"} {n+=$2} END{print n}"] {
            assert_eq!(awk(&literals(&[program, "file"])), Class::ReadOnly, "{program}");
        }
        for program in [
            "{print > \"x\"}",
            "{print | \"sh\"}",
            "BEGIN{system(\"x\")}",
            "\"ls\" | getline",
            "@load \"x\"",
            "{print ||| \"sh\"}",
            "BEGIN{sys\\\ntem(1)}",
        ] {
            assert_eq!(awk(&literals(&[program])), Class::Other, "{program}");
        }
        assert_eq!(awk(&literals(&["-f", "x"])), Class::Other);
        assert_eq!(awk(&literals(&["-i", "inplace", "{print}"])), Class::Other);
    }

    #[test]
    fn printf_sets_nothing() {
        for args in [&["%s\\n", "x"][..], &["%d%%\\n", "5"], &["--", "%s", "-v"]] {
            assert_eq!(printf(&literals(args)), Class::ReadOnly, "{args:?}");
        }
        for args in [
            &["-v", "PATH", "x"][..],
            &["%n", "PATH"],
            &["%d", "a[$(x)]"],
            &["%5n", "x"],
            &["%*s"],
            &[],
        ] {
            assert_eq!(printf(&literals(args)), Class::Other, "{args:?}");
        }
    }
}
