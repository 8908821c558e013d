//! The prompt of a turn: words from the command line or typed text, piped input, and the files
//! and images that they name.

use std::{
    io::{self, IsTerminal as _, Read as _},
    path::{Path, PathBuf},
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};

use crate::{
    failure::{Failure, Outcome},
    output,
};

/// The longest text that is read from stdin.
const LONGEST_PROMPT: u64 = 4 << 20;
/// How long the first byte of a pipe may take that only adds to a prompt. A pipe that is inherited and
/// never written to, as ssh leaves one, must not hold the prompt up for ever.
const PIPE_PATIENCE: Duration = Duration::from_secs(3);
/// The longest file that is taken along as a text.
const LONGEST_FILE: u64 = 256 << 10;
/// Endings of files that are shown to the model as images.
const IMAGES: [&str; 5] = ["png", "jpg", "jpeg", "gif", "webp"];

/// The prompt of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Prompt {
    Text(String),
    /// A slash command: one of ours, or one of the workspace.
    Command {
        name: String,
        arguments: String,
    },
}

impl Prompt {
    /// Words that begin with a slash and a name are a command; a path is none.
    pub(super) fn read(text: &str) -> Self {
        let is_name = |name: &&str| {
            let mut letters = name.chars();
            letters.next().is_some_and(|c| c.is_ascii_alphanumeric())
                && letters.all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':'))
        };
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        match word.strip_prefix('/').filter(is_name) {
            Some(name) => {
                Self::Command { name: name.to_owned(), arguments: rest.trim().to_owned() }
            }
            None => Self::Text(text.to_owned()),
        }
    }

    /// The same with what was piped in behind it.
    fn with(self, piped: &str) -> Self {
        let join = |text: String| match (text.is_empty(), piped.trim_end()) {
            (_, "") => text,
            (true, piped) => piped.to_owned(),
            (false, piped) => format!("{text}\n\n{piped}"),
        };
        match self {
            Self::Text(text) => Self::Text(join(text)),
            Self::Command { name, arguments } => Self::Command { name, arguments: join(arguments) },
        }
    }
}

/// What to say; none means to ask for it.
pub(super) fn read_prompt(words: &[String]) -> Outcome<Option<Prompt>> {
    let is_piped = !io::stdin().is_terminal();
    if words == ["-"] || (words.is_empty() && is_piped) {
        return some_words(&read_stdin()?).map(|text| Some(Prompt::Text(text)));
    }
    if words.is_empty() {
        return Ok(None);
    }
    let prompt = Prompt::read(&some_words(&words.join(" "))?);
    if !is_piped {
        return Ok(Some(prompt));
    }
    if !begins(PIPE_PATIENCE) {
        output::note("stdin was empty; continuing without it");
        return Ok(Some(prompt));
    }
    Ok(Some(prompt.with(&read_stdin()?)))
}

pub(super) fn some_words(text: &str) -> Outcome<String> {
    match text.trim() {
        "" => Err(Failure::new("the prompt is empty").hint("give a prompt")),
        text => Ok(text.to_owned()),
    }
}

fn read_stdin() -> Outcome<String> {
    let mut bytes = Vec::new();
    let read = io::stdin().lock().take(LONGEST_PROMPT + 1).read_to_end(&mut bytes);
    read.map_err(Failure::doing("cannot read stdin"))?;
    if bytes.len() as u64 > LONGEST_PROMPT {
        return Err(Failure::new(format!("stdin is longer than {LONGEST_PROMPT} bytes"))
            .hint("attach the file with @ instead, such as @build.log"));
    }
    String::from_utf8(bytes).map_err(|_| {
        Failure::new("stdin is not UTF-8 text").hint("attach images with --image or @")
    })
}

/// Whether stdin has something to read, or its end, within a time.
fn begins(patience: Duration) -> bool {
    let limit = Timespec { tv_sec: patience.as_secs().try_into().unwrap_or(i64::MAX), tv_nsec: 0 };
    let stdin = rustix::stdio::stdin();
    let mut watched = [PollFd::new(&stdin, PollFlags::IN)];
    // A closed stdin has its end at once.
    match poll(&mut watched, Some(&limit)) {
        Ok(count) => count > 0,
        Err(Errno::INTR) => false,
        Err(_) => true,
    }
}

/// What is handed along with words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Attached {
    pub(super) images: Vec<PathBuf>,
    /// Files that the agent reads by itself.
    pub(super) files: Vec<PathBuf>,
    /// Texts of files that the agent itself could not read.
    pub(super) texts: Vec<String>,
}

impl Attached {
    /// The images of the command line.
    pub(super) fn images(paths: &[PathBuf]) -> Outcome<Self> {
        let image = |path: &PathBuf| match std::fs::canonicalize(path) {
            Ok(found) => utf8(found),
            Err(error) => Err(Failure::new(format!("cannot read {}: {error}", path.display()))),
        };
        Ok(Self { images: paths.iter().map(image).collect::<Outcome<_>>()?, ..Self::default() })
    }

    /// Adds the files that words name by `@path`, relative to a directory. What names no file is a word
    /// like others. The agent reads those of its workspace by itself.
    pub(super) fn named_in(mut self, words: &str, dir: &Path, workspace: &Path) -> Outcome<Self> {
        for word in words.split_whitespace() {
            let Some(named) = word.strip_prefix('@') else { continue };
            // A sentence may end behind a name.
            let whole = dir.join(named);
            let shorter = dir.join(named.trim_end_matches(['.', ',', ';', ':', '?', '!', ')']));
            let Some(found) = [whole, shorter].into_iter().find(|path| path.is_file()) else {
                continue;
            };
            let found = std::fs::canonicalize(&found).map_err(Failure::doing(found.display()))?;
            self.attach(&found, workspace)?;
        }
        Ok(self)
    }

    fn attach(&mut self, file: &Path, workspace: &Path) -> Outcome<()> {
        let ending = file.extension().map(|ending| ending.to_ascii_lowercase());
        if ending.is_some_and(|ending| IMAGES.iter().any(|image| ending == *image)) {
            self.images.push(utf8(file.to_owned())?);
        } else if file.starts_with(workspace) {
            self.files.push(utf8(file.to_owned())?);
        } else {
            // Outside of where the agent works it reads nothing by itself.
            self.texts.push(contents(file)?);
        }
        Ok(())
    }

    /// The words as they are sent.
    pub(super) fn prompt(&self, words: &str) -> String {
        let texts = self.texts.iter().map(|text| format!("\n\n{text}"));
        texts.fold(words.to_owned(), |all, text| all + &text)
    }
}

fn contents(file: &Path) -> Outcome<String> {
    let name = file.display();
    let mut text = String::new();
    let opened =
        std::fs::File::open(file).map_err(Failure::doing(format!("cannot read {name}")))?;
    opened
        .take(LONGEST_FILE + 1)
        .read_to_string(&mut text)
        .map_err(Failure::doing(format!("cannot read {name}")))?;
    if text.len() as u64 > LONGEST_FILE {
        return Err(Failure::new(format!("{name} is longer than {LONGEST_FILE} bytes")).hint(
            "start in a directory that contains it, so that the agent can read it in parts",
        ));
    }
    Ok(format!("The file {name}:\n```\n{}\n```", text.trim_end()))
}

/// The path, if it can be written as JSON.
fn utf8(path: PathBuf) -> Outcome<PathBuf> {
    match path.to_str() {
        Some(_) => Ok(path),
        None => Err(Failure::new(format!("{} is not UTF-8", path.display()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(name: &str, arguments: &str) -> Prompt {
        Prompt::Command { name: name.into(), arguments: arguments.into() }
    }

    #[test]
    fn a_slash_and_a_name_is_a_command() {
        assert_eq!(Prompt::read("/review"), command("review", ""));
        assert_eq!(Prompt::read("/git:fix-it  a  b "), command("git:fix-it", "a  b"));
        assert_eq!(Prompt::read("/review\nline"), command("review", "line"));
        for words in ["/", "/etc/passwd is odd", "// x", "say /review", "/-x", "/a.b", "/é"] {
            assert_eq!(Prompt::read(words), Prompt::Text(words.to_owned()), "{words}");
        }
    }

    #[test]
    fn nothing_is_not_said() {
        assert!(some_words(" \n").is_err());
        assert_eq!(some_words(" a b\n").unwrap(), "a b");
    }

    #[test]
    fn what_is_piped_in_follows_the_prompt() {
        let words = |text: &str| Prompt::Text(text.to_owned());
        assert_eq!(words("explain").with("a\n  b\n"), words("explain\n\na\n  b"));
        assert_eq!(words("explain").with("\n"), words("explain"));
        assert_eq!(command("review", "").with("diff\n"), command("review", "diff"));
        assert_eq!(command("review", "x").with("diff"), command("review", "x\n\ndiff"));
    }

    #[test]
    fn files_are_named_by_an_at_sign() {
        let home = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(home.path()).unwrap();
        let dir = root.join("work");
        std::fs::create_dir(&dir).unwrap();
        std::fs::write(dir.join("a.rs"), "fn a() {}").unwrap();
        std::fs::write(dir.join("p.PNG"), "x").unwrap();
        std::fs::write(root.join("out.txt"), "outside\n").unwrap();
        let words = "look at @a.rs, @p.PNG and @../out.txt; ask @me or @nothing.rs";
        let attached = Attached::default().named_in(words, &dir, &dir).unwrap();
        assert_eq!(attached.files, [dir.join("a.rs")]);
        assert_eq!(attached.images, [dir.join("p.PNG")]);
        let sent = attached.prompt(words);
        assert!(sent.starts_with(words) && sent.ends_with("```\noutside\n```"), "{sent}");
        let missing = Attached::images(&[dir.join("none.png")]);
        assert!(missing.is_err());
    }
}
