//! What runs on the other machine: scripts for any POSIX shell, and how their outcome is read.
//!
//! Whatever comes from elsewhere is quoted as a whole word; nothing of it is ever a part of a script.

use crate::RunnerError;
pub(super) use crate::replies::HostInfo as Remote;
use crate::replies::READY;
use crate::session::{CommandEnd, ExitCause};

/// Statuses by which scripts say why they did nothing. Programs rarely use them, and the words on standard
/// error have to fit as well.
const NOT_FOUND: i32 = 120;
const OUTSIDE: i32 = 121;
const NOT_REGULAR: i32 = 122;
/// How such words begin.
const SAID: &str = "rookery-runner:";

/// Why a session cannot be opened over there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// There is no such root.
    Root,
    /// Nothing can be noted there.
    Notes,
    /// No command can lead a group.
    Leader,
}

/// Whose group a command leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leader {
    /// The shell itself leads one: it has a terminal.
    Own,
    /// It gets one.
    New,
}

/// A command over there.
pub(super) struct Launch<'a> {
    pub(super) id: &'a str,
    pub(super) cwd: &'a str,
    pub(super) env: &'a [(String, String)],
    pub(super) argv: &'a [String],
}

/// One word for a shell, whatever is in it.
pub(super) fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// A script as one command of whatever shell the user has there.
pub(super) fn in_shell(script: &str) -> String {
    format!("exec sh -c {}", quote(script))
}

/// Keeps the connection, and ends what is left when that is over.
pub(super) fn keeper(session: &str, root: &str) -> String {
    format!(
        "trap '' HUP; umask 077\n\
         cd -- {root} 2>/dev/null || {{ echo {READY}-no-root; exit 3; }}\n\
         r=$(pwd -P); d=\"${{TMPDIR:-/tmp}}/rookery-\"{session}\n\
         mkdir -- \"$d\" 2>/dev/null || {{ [ -d \"$d\" ] && [ -O \"$d\" ]; }} || {{ echo {READY}-no-notes; exit 4; }}\n\
         if command -v setsid >/dev/null 2>&1; then l=setsid\n\
         elif command -v perl >/dev/null 2>&1; then l=perl\n\
         else echo {READY}-no-leader; rmdir \"$d\"; exit 5; fi\n\
         printf '%s\\n' {READY} \"$l\" \"$d\" \"$r\"\n\
         cat >/dev/null\n\
         for s in TERM KILL; do\n\
         n=0; for f in \"$d\"/*.pid; do [ -s \"$f\" ] || continue; read p <\"$f\"; n=1; kill -$s \"-$p\" 2>/dev/null; done\n\
         [ $n = 0 ] && break; [ $s = KILL ] || sleep 0.25 2>/dev/null || sleep 1\n\
         done\n\
         rm -rf -- \"$d\"",
        root = quote(root),
        session = quote(session),
    )
}

/// Why it said that it cannot.
pub(super) fn refusal(said: &[u8]) -> Option<Refusal> {
    let text = String::from_utf8_lossy(said);
    let has = |word: &str| text.lines().any(|line| line == format!("{READY}-{word}"));
    match () {
        () if has("no-root") => Some(Refusal::Root),
        () if has("no-notes") => Some(Refusal::Notes),
        () if has("no-leader") => Some(Refusal::Leader),
        () => None,
    }
}

/// How every script begins: the root, and the way to say that something is not below it.
fn start(remote: &Remote) -> String {
    let root = remote.root.trim_end_matches('/');
    format!(
        "r={}; no() {{ echo \"{SAID} $2\" >&2; exit $1; }}\n\
         inside() {{ case \"$1/\" in \"$r\"/*) ;; *) no {OUTSIDE} outside;; esac; }}\n",
        quote(root)
    )
}

/// Runs a command in a group of its own, with a note of its number while it runs.
pub(super) fn run(remote: &Remote, launch: &Launch<'_>, leader: Leader) -> String {
    let note = quote(&format!("{}/{}.pid", remote.notes, launch.id));
    let env: String = launch
        .env
        .iter()
        .map(|(name, value)| format!(" {}", quote(&format!("{name}={value}"))))
        .collect();
    let argv: String = launch.argv.iter().map(|word| format!(" {}", quote(word))).collect();
    let mut script = start(remote);
    script.push_str(&format!(
        "cd -- {} 2>/dev/null || no {NOT_FOUND} 'no such directory'; inside \"$(pwd -P)\"\n\
         mkdir -p -- {} 2>/dev/null\n",
        quote(launch.cwd),
        quote(&remote.notes),
    ));
    let command = format!("env{env}{argv}");
    let noted = format!("sh -c 'echo $$ >\"$0\"; exec \"$@\"' {note} {command}");
    match (leader, remote.leader.as_str()) {
        (Leader::Own, _) => script.push_str(&format!("echo $$ >{note}; exec {command}")),
        (Leader::New, "perl") => script.push_str(&format!(
            "perl -e 'use POSIX; POSIX::setsid(); exec @ARGV or exit 127' {noted}; c=$?; rm -f -- {note}; exit $c"
        )),
        (Leader::New, _) => {
            script.push_str(&format!("setsid {noted}; c=$?; rm -f -- {note}; exit $c"));
        }
    }
    script
}

/// Ends a command by its note: asks its group, and kills it after a grace.
pub(super) fn end(remote: &Remote, id: &str) -> String {
    let note = quote(&format!("{}/{id}.pid", remote.notes));
    format!(
        "for i in 1 2 3 4; do [ -s {note} ] && break; sleep 0.05 2>/dev/null || break; done\n\
         [ -s {note} ] || exit 0; read p <{note}\n\
         kill -TERM \"-$p\" 2>/dev/null || exit 0\n\
         sleep 0.25 2>/dev/null || sleep 1\n\
         kill -KILL \"-$p\" 2>/dev/null; rm -f -- {note}"
    )
}

/// Finds out what a path means: `$f`, in a directory that is below the root, and no link.
fn reach(path: &str, makes: bool) -> String {
    let missing = match makes {
        false => format!("no {NOT_FOUND} 'no such file'"),
        true => "p=$t; while [ ! -d \"$p\" ]; do [ -e \"$p\" ] && no 122 'not a directory'; p=$(dirname -- \"$p\"); done\n\
                 inside \"$(cd -- \"$p\" && pwd -P)\"; mkdir -p -- \"$t\" || exit 1"
            .to_owned(),
    };
    format!(
        "f={}; n=0\n\
         while :; do\n\
         t=$(dirname -- \"$f\"); b=$(basename -- \"$f\")\n\
         [ \"$f\" = \"$r\" ] && {{ inside \"$(cd -- \"$f\" && pwd -P)\"; break; }}\n\
         [ -d \"$t\" ] || {{ {missing}; }}\n\
         t=$(cd -- \"$t\" && pwd -P) || exit 1; inside \"$t\"; f=$t/$b\n\
         [ -L \"$f\" ] || break\n\
         n=$((n+1)); [ $n -lt 9 ] || no {OUTSIDE} 'too many links'\n\
         l=$(readlink -- \"$f\"); case \"$l\" in /*) f=$l;; *) f=$t/$l;; esac\n\
         done\n",
        quote(path)
    )
}

/// The bytes of a file, up to a number.
pub(super) fn read(remote: &Remote, path: &str, most: usize) -> String {
    format!(
        "{}{}[ -e \"$f\" ] || no {NOT_FOUND} 'no such file'; [ -f \"$f\" ] || no {NOT_REGULAR} 'not a file'\n\
         head -c {most} -- \"$f\"",
        start(remote),
        reach(path, false)
    )
}

/// Says what a file is, as `ls -l` does.
pub(super) fn describe(remote: &Remote, path: &str) -> String {
    format!(
        "{}{}[ -e \"$f\" ] || no {NOT_FOUND} 'no such file'; [ -f \"$f\" ] || no {NOT_REGULAR} 'not a file'\n\
         LC_ALL=C ls -ld -- \"$f\"",
        start(remote),
        reach(path, false)
    )
}

/// Replaces a file by what is read, if all of it comes. One that is made gets these permissions, if some are
/// given.
pub(super) fn write(remote: &Remote, path: &str, bytes: usize, mode: Option<u32>) -> String {
    // Without them it has the usual ones.
    let made = mode.map_or_else(String::new, |mode| format!("&& chmod {mode:04o} \"$x\" "));
    format!(
        "{}{}[ ! -e \"$f\" ] || [ -f \"$f\" ] || no {NOT_REGULAR} 'not a file'\n\
         x=$t/.rookery-$$.new; [ -e \"$f\" ] && cp -p -- \"$f\" \"$x\" 2>/dev/null\n\
         cat >\"$x\" && [ $(($(wc -c <\"$x\"))) -eq {bytes} ] {made}&& mv -f -- \"$x\" \"$f\" || {{ rm -f -- \"$x\"; exit 1; }}",
        start(remote),
        reach(path, true)
    )
}

/// Removes a file.
pub(super) fn remove(remote: &Remote, path: &str) -> String {
    format!(
        "{}{}[ -e \"$f\" ] || no {NOT_FOUND} 'no such file'; [ -f \"$f\" ] || no {NOT_REGULAR} 'not a file'\n\
         rm -f -- \"$f\"",
        start(remote),
        reach(path, false)
    )
}

/// Names of a directory, those of directories with a slash.
pub(super) fn list(remote: &Remote, path: &str) -> String {
    format!(
        "{}{}[ -d \"$f\" ] || no {NOT_FOUND} 'no such directory'; cd -- \"$f\" && inside \"$(pwd -P)\" && ls -1Ap",
        start(remote),
        reach(path, false)
    )
}

/// Names of the files below a directory, each ended by a zero byte.
pub(super) fn find(remote: &Remote, path: &str) -> String {
    format!(
        "{}{}[ -e \"$f\" ] || no {NOT_FOUND} 'no such file'\n\
         [ -d \"$f\" ] || {{ printf '.\\0'; exit 0; }}\n\
         cd -- \"$f\" && inside \"$(pwd -P)\" && find . -type d '(' -name .git -o -name .roder -o -name target ')' -prune -o -type f -print0",
        start(remote),
        reach(path, false)
    )
}

/// All of the root.
pub(super) fn archive(remote: &Remote) -> String {
    format!("cd -- {} && tar -cf - .", quote(&remote.root))
}

/// What a script about a path came to.
pub(super) fn outcome(path: &str, end: CommandEnd) -> Result<Vec<u8>, RunnerError> {
    let end = ran(path, end)?;
    match (end.how, end.exit_code) {
        (ExitCause::Exited, Some(0)) => Ok(end.stdout),
        (ExitCause::TimedOut, _) => {
            Err(RunnerError::failed(format!("{path}: the remote machine timed out")))
        }
        _ => {
            let said = String::from_utf8_lossy(&end.stderr);
            let last = said.lines().last().unwrap_or("it failed").trim().to_owned();
            Err(RunnerError::failed(format!("{path}: {last}")))
        }
    }
}

/// The end of a command, or why it was not even begun.
pub(super) fn ran(path: &str, end: CommandEnd) -> Result<CommandEnd, RunnerError> {
    let is_ours = String::from_utf8_lossy(&end.stderr).lines().any(|line| line.starts_with(SAID));
    match (end.exit_code.filter(|_| is_ours), end.exit_code) {
        (Some(NOT_FOUND), _) => Err(RunnerError::NotFound(path.to_owned())),
        (Some(OUTSIDE), _) => Err(RunnerError::Outside(path.to_owned())),
        (Some(NOT_REGULAR), _) => Err(RunnerError::failed(format!("{path} is not a regular file"))),
        _ => Ok(end),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_refusal_is_understood() {
        assert_eq!(refusal(b"x\nrookery-ready-no-root\n"), Some(Refusal::Root));
        assert_eq!(refusal(b"rookery-ready\n"), None);
    }

    /// What a shell makes of a word.
    fn unquoted(word: &str) -> Option<String> {
        let (mut text, mut letters) = (String::new(), word.chars());
        while let Some(letter) = letters.next() {
            match letter {
                '\\' => text.push(letters.next()?),
                '\'' => loop {
                    match letters.next()? {
                        '\'' => break,
                        inside => text.push(inside),
                    }
                },
                // Anything else outside of quotes could mean something.
                _ => return None,
            }
        }
        Some(text)
    }

    proptest! {
        #[test]
        fn a_word_stays_one_word(text in ".*") {
            let quoted = quote(&text);
            prop_assert_eq!(unquoted(&quoted), Some(text));
        }
    }
}
