//! The token of a remote server: where it comes from, and how it leaves the command line, which every
//! user of the machine can read.

use std::{
    ffi::OsString,
    fs::File,
    io::{self, BufRead as _, Read as _, Write as _},
    os::{
        fd::AsRawFd as _,
        unix::{ffi::OsStrExt as _, fs::MetadataExt as _, process::CommandExt as _},
    },
    path::Path,
    process::Command,
};

use rookery_wire::transport::ws::{Token, TokenError};

use crate::{
    failure::{Failure, Outcome},
    output,
};

/// The argument that may have a token in it.
const ARGUMENT: &str = "--auth-token";
/// How a variable of the environment is named.
const VARIABLE: &str = "env:";
/// How an inherited descriptor is named.
const DESCRIPTOR: &str = "fd:";
/// How stdin is named.
const STDIN: &str = "-";
/// More than this is no token.
const LONGEST: u64 = 4096;

/// The warning about a token on the command line.
const WAS_VISIBLE: &str = "warning: a token on the command line can be seen by other users until the server has \
     started; use --auth-token env:NAME, --auth-token - or --auth-token-file FILE";

/// The variable that a setting names.
pub(super) fn variable(setting: Option<&str>) -> Option<&str> {
    setting.and_then(|setting| setting.strip_prefix(VARIABLE))
}

/// The token that was asked for; a new one if none was.
pub(super) fn read(setting: Option<&str>, file: Option<&Path>) -> Outcome<Token> {
    let token = match (setting, file) {
        (None, None) => Token::generate(),
        (_, Some(path)) => from_file(path).and_then(|text| Token::new(&text)),
        (Some(STDIN), None) => from_stdin().and_then(|text| Token::new(&text)),
        (Some(setting), None) => match setting.strip_prefix(DESCRIPTOR) {
            Some(number) => from_descriptor(number).and_then(|text| Token::new(&text)),
            None if setting.starts_with(VARIABLE) => {
                Token::from_setting(setting, |name| std::env::var(name).ok())
            }
            // One that is unusable is refused before anything is started again.
            None => match Token::new(setting) {
                Ok(token) => return hide(&token),
                Err(error) => Err(error),
            },
        },
    };
    token.map_err(|error| Failure::new(error.to_string()).code(2))
}

/// The first line of stdin.
fn from_stdin() -> Result<String, TokenError> {
    let mut line = String::new();
    let read = io::stdin().lock().take(LONGEST).read_line(&mut line);
    read.map_err(|error| TokenError::Unread(format!("cannot read stdin: {error}")))?;
    Ok(line)
}

/// The text of a file that only its owner may read.
fn from_file(path: &Path) -> Result<String, TokenError> {
    let failed = |error: io::Error| TokenError::Unread(format!("{}: {error}", path.display()));
    let file = File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if metadata.is_file() && metadata.mode() & 0o077 != 0 {
        let message =
            format!("{} is readable by other users; run `chmod 600` on it", path.display());
        return Err(TokenError::Unread(message));
    }
    whole(file).map_err(failed)
}

/// What an inherited descriptor has to give.
fn from_descriptor(number: &str) -> Result<String, TokenError> {
    let failed =
        |error: String| TokenError::Unread(format!("cannot read the file descriptor: {error}"));
    let number: u32 = number.parse().map_err(|_| failed(format!("{number:?} is not a number")))?;
    let file = File::open(format!("/proc/self/fd/{number}"));
    file.and_then(whole).map_err(|error| failed(error.to_string()))
}

fn whole(file: File) -> io::Result<String> {
    let mut text = String::new();
    file.take(LONGEST).read_to_string(&mut text)?;
    Ok(text)
}

/// Starts this program again without the token among its arguments; the new one reads it from a pipe.
/// Comes back only if that is not possible.
#[expect(clippy::disallowed_methods, reason = "becomes this very program again")]
fn hide(token: &Token) -> Outcome<Token> {
    let failed = |error: io::Error| {
        Failure::new(format!("cannot remove the token from the command line: {error}"))
            .hint("give it as --auth-token env:NAME or --auth-token-file FILE")
    };
    output::note(WAS_VISIBLE);
    let (reading, writing) = rustix::pipe::pipe().map_err(|error| failed(error.into()))?;
    File::from(writing).write_all(token.expose().as_bytes()).map_err(failed)?;
    let mut args = std::env::args_os();
    let called = args.next().unwrap_or_default();
    let args = without_token(args, &format!("{DESCRIPTOR}{}", reading.as_raw_fd()));
    Err(failed(Command::new("/proc/self/exe").arg0(called).args(args).exec()))
}

/// The arguments with something else in place of the token.
fn without_token(args: impl Iterator<Item = OsString>, instead: &str) -> Vec<OsString> {
    let mut is_value = false;
    let replace = |arg: OsString| {
        let was_value = std::mem::replace(&mut is_value, arg == ARGUMENT);
        let is_joined = arg.as_bytes().strip_prefix(ARGUMENT.as_bytes());
        match (was_value, is_joined.is_some_and(|rest| rest.starts_with(b"="))) {
            (true, _) => instead.into(),
            (false, true) => format!("{ARGUMENT}={instead}").into(),
            (false, false) => arg,
        }
    };
    args.map(replace).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attack_no_spelling_leaves_the_token_among_the_arguments() {
        let hidden = |args: &str| {
            let args = args.split(' ').map(OsString::from);
            without_token(args, "fd:3").join(" ".as_ref()).into_string().unwrap()
        };
        assert_eq!(
            hidden("app-server --auth-token s --remote"),
            "app-server --auth-token fd:3 --remote"
        );
        assert_eq!(hidden("app-server --auth-token=s"), "app-server --auth-token=fd:3");
        assert_eq!(
            hidden("a --auth-token-file f --mode plan"),
            "a --auth-token-file f --mode plan"
        );
        assert_eq!(hidden("a --auth-token --auth-token"), "a --auth-token fd:3");
    }
}
