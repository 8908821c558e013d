//! `command` and `provider` lines: entries of the launcher and of the custom palette.

use std::time::Duration;

/// One entry of the launcher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The row's words.
    pub label: String,
    /// What the shell runs.
    pub run: String,
    /// The new tab's title; the label unless given.
    pub title: String,
    /// Whether a shell stays open after the command ended.
    pub hold: bool,
    /// Variables exported before the command.
    pub env: Vec<(String, String)>,
}

/// A script that fills a palette.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provider {
    /// The row's words.
    pub label: String,
    /// How it is started.
    pub run: ProviderRun,
    /// The placeholder of its palette; the label unless given.
    pub title: String,
    /// How long one run may take.
    pub timeout: Duration,
    /// How many rows one run may give.
    pub limit: usize,
}

/// How a provider is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProviderRun {
    /// A line for the shell, from settings.
    Shell(String),
    /// An executable found in the directory of providers, run without a shell.
    Executable(String),
}

/// Seconds a provider may take when its line does not say.
pub const DEFAULT_TIMEOUT: u64 = 5;
/// Rows a provider may give when its line does not say.
pub const DEFAULT_LIMIT: usize = 100;
const TIMEOUTS: (u64, u64) = (1, 60);
const LIMITS: (u64, u64) = (1, 1000);

/// What a line lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MissingWord {
    /// No `label`, or an empty one.
    #[error("the line has no label")]
    Label,
    /// No `run`, or an empty one.
    #[error("the line has no run")]
    Run,
}

impl Command {
    /// Reads the value of a `command` line.
    pub fn parse(value: &str) -> Result<Self, MissingWord> {
        let words = Words::read(value);
        let (label, run, title) = words.common()?;
        let hold = words.get("hold").is_some_and(|hold| hold.is_none_or(|hold| hold == "true"));
        let env = words.text("env").map(variables).unwrap_or_default();
        Ok(Self { label, run, title, hold, env })
    }
}

impl Provider {
    /// Reads the value of a `provider` line.
    pub fn parse(value: &str) -> Result<Self, MissingWord> {
        let words = Words::read(value);
        let (label, run, title) = words.common()?;
        let timeout = words.number("timeout", TIMEOUTS).unwrap_or(DEFAULT_TIMEOUT);
        let limit = words.number("limit", LIMITS).map_or(DEFAULT_LIMIT, |limit| limit as usize);
        let timeout = Duration::from_secs(timeout);
        Ok(Self { label, run: ProviderRun::Shell(run), title, timeout, limit })
    }

    /// The words that say what it runs.
    pub fn run_text(&self) -> &str {
        match &self.run {
            ProviderRun::Shell(line) => line,
            ProviderRun::Executable(path) => path,
        }
    }
}

/// The tokens of a line, split at the first `=` each; a token without one has no value.
struct Words(Vec<(String, Option<String>)>);

impl Words {
    fn read(value: &str) -> Self {
        let split = |token: String| match token.split_once('=') {
            Some((key, value)) => (key.to_owned(), Some(value.to_owned())),
            None => (token, None),
        };
        Self(tokens(value).into_iter().map(split).collect())
    }

    /// The last word of this key, as everywhere in settings.
    fn get(&self, key: &str) -> Option<Option<&str>> {
        self.0.iter().rfind(|(name, _)| name == key).map(|(_, value)| value.as_deref())
    }

    /// Its value, unless empty.
    fn text(&self, key: &str) -> Option<&str> {
        self.get(key).flatten().filter(|value| !value.trim().is_empty())
    }

    fn number(&self, key: &str, (low, high): (u64, u64)) -> Option<u64> {
        let number: u64 = self.text(key)?.trim().parse().ok()?;
        Some(number.clamp(low, high))
    }

    fn common(&self) -> Result<(String, String, String), MissingWord> {
        let label = self.text("label").ok_or(MissingWord::Label)?;
        let run = self.text("run").ok_or(MissingWord::Run)?;
        let title = self.text("title").unwrap_or(label);
        Ok((label.to_owned(), run.to_owned(), title.to_owned()))
    }
}

/// Splits at white space; `"` toggles quoting and disappears, and nothing escapes it.
fn tokens(value: &str) -> Vec<String> {
    let mut done = Vec::new();
    // None between tokens, so that `""` still is an empty one.
    let mut current: Option<String> = None;
    let mut quoted = false;
    for c in value.chars() {
        if c == '"' {
            quoted = !quoted;
            current.get_or_insert_default();
        } else if c.is_whitespace() && !quoted {
            done.extend(current.take());
        } else {
            current.get_or_insert_default().push(c);
        }
    }
    done.extend(current);
    done
}

/// `K=V K2=V2`; whatever has no proper key is dropped.
fn variables(text: &str) -> Vec<(String, String)> {
    let pairs = text.split_whitespace().filter_map(|pair| pair.split_once('='));
    pairs
        .filter(|(key, _)| is_variable_name(key))
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect()
}

fn is_variable_name(key: &str) -> bool {
    let mut bytes = key.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn tokens_split_at_white_space_and_quotes_disappear() {
        assert_eq!(tokens(r#"  a  b="c d"e  "" f" "#), ["a", "b=c de", "", "f "]);
        assert_eq!(tokens(r#"run="say \"x" y"#), [r"run=say \x y"]);
    }

    #[test]
    fn a_command_has_all_its_words() {
        let line = r#"label="My Logs" run="tail -f a=b" title=Logs hold env="A=1 B_2=x=y" icon=z"#;
        let command = Command::parse(line).unwrap();
        assert_eq!(command.label, "My Logs");
        assert_eq!(command.run, "tail -f a=b");
        assert_eq!(command.title, "Logs");
        assert!(command.hold);
        let env = [("A", "1"), ("B_2", "x=y")].map(|(k, v)| (k.to_owned(), v.to_owned()));
        assert_eq!(command.env, env);
    }

    #[test]
    fn hold_is_a_word_alone_or_true() {
        for (word, hold) in
            [("hold", true), ("hold=true", true), ("hold=false", false), ("", false)]
        {
            let command = Command::parse(&format!("label=a run=b {word}")).unwrap();
            assert_eq!(command.hold, hold, "{word}");
        }
    }

    #[test]
    fn a_title_defaults_to_the_label() {
        assert_eq!(Command::parse("label=a run=b").unwrap().title, "a");
        assert_eq!(Command::parse("label=a run=b title=").unwrap().title, "a");
        assert_eq!(Provider::parse("label=a run=b").unwrap().title, "a");
    }

    #[test]
    fn label_and_run_are_needed() {
        assert_eq!(Command::parse("run=b"), Err(MissingWord::Label));
        assert_eq!(Command::parse("label=a"), Err(MissingWord::Run));
        assert_eq!(Command::parse(r#"label="" run=b"#), Err(MissingWord::Label));
        assert_eq!(Provider::parse("label=a run="), Err(MissingWord::Run));
    }

    #[test]
    fn variables_with_bad_names_are_dropped() {
        let command = Command::parse(r#"label=a run=b env="1A=x A-B=y _c=z =w D é=1 E=""#).unwrap();
        let env = [("_c", "z"), ("E", "")].map(|(k, v)| (k.to_owned(), v.to_owned()));
        assert_eq!(command.env, env);
    }

    #[test]
    fn timeout_and_limit_have_defaults_and_bounds() {
        let check = |words: &str, seconds: u64, limit: usize| {
            let provider = Provider::parse(&format!("label=a run=b {words}")).unwrap();
            assert_eq!(provider.timeout, Duration::from_secs(seconds), "{words}");
            assert_eq!(provider.limit, limit, "{words}");
        };
        check("", 5, 100);
        check("timeout=8 limit=25", 8, 25);
        check("timeout=0 limit=0", 1, 1);
        check("timeout=61 limit=1001", 60, 1000);
        check("timeout=soon limit=-3", 5, 100);
    }

    proptest! {
        #[test]
        fn no_line_panics(value in "(?s).{0,120}") {
            let _ = Command::parse(&value);
            let _ = Provider::parse(&value);
        }
    }
}
