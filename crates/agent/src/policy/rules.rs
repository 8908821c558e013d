//! What the user wrote down about tools and commands: never, ask me, or go ahead.

use rookery_model::Mode;

use super::classify::{Analysis, Class, Part};
use super::mode::mode_name;
use super::programs::base_name;
use super::word::Arg;

/// What a rule says about what it matches. The order is the order in which they win.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Never, in no mode.
    Deny,
    /// Ask, in every mode but bypass.
    Ask,
    /// Go ahead where the mode would ask.
    Allow,
}

/// A rule about a tool, or about commands that a tool runs.
///
/// Written `tool` or `tool(words of a command)`. In a tool's name and in every word `*` stands for
/// any text. The words match the beginning of a simple command: `shell(git push)` matches
/// `git push origin`, but not `git pushd`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// What it says.
    pub action: Action,
    tool: String,
    command: Option<Vec<String>>,
}

impl Rule {
    /// Reads a rule. None if there is no tool, or the parentheses do not close.
    pub fn parse(action: Action, text: &str) -> Option<Self> {
        let text = text.trim();
        let (tool, command) = match text.split_once('(') {
            None => (text, None),
            Some((tool, rest)) => {
                let words: Vec<String> =
                    rest.strip_suffix(')')?.split_whitespace().map(str::to_owned).collect();
                (tool.trim(), Some(words).filter(|words| !words.is_empty()))
            }
        };
        let is_name =
            !tool.is_empty() && !tool.contains(char::is_whitespace) && !tool.contains(')');
        is_name.then(|| Self { action, tool: tool.to_owned(), command })
    }

    /// The rule as it is written.
    pub fn text(&self) -> String {
        match &self.command {
            None => self.tool.clone(),
            Some(words) => format!("{}({})", self.tool, words.join(" ")),
        }
    }

    fn is_about(&self, tool: &str) -> bool {
        matches(&self.tool, tool)
    }

    /// Whether a simple command could be meant: words that are not known match anything.
    fn may_match(&self, part: &Part) -> bool {
        let Some(rule) = &self.command else { return true };
        let mut words = part.words.iter();
        rule.iter().enumerate().all(|(at, pattern)| match words.next() {
            None => false,
            Some(Some(Arg::Literal(text))) if at == 0 => {
                matches(pattern, text) || matches(pattern, last_of(text))
            }
            Some(Some(Arg::Literal(text))) => matches(pattern, text),
            Some(_) => true,
        })
    }

    /// Whether a simple command is surely meant: all its words are known and the first ones match.
    fn must_match(&self, part: &Part) -> bool {
        let Some(rule) = &self.command else { return true };
        let words: Option<Vec<&str>> =
            part.words.iter().map(|word| word.as_ref().and_then(Arg::text)).collect();
        let Some(words) = words else { return false };
        part.is_plain
            && words.len() >= rule.len()
            && rule.iter().zip(words).all(|(pattern, word)| matches(pattern, word))
    }
}

/// The last part of a program's path.
fn last_of(program: &str) -> &str {
    base_name(program).unwrap_or_else(|| program.rsplit('/').next().unwrap_or(program))
}

/// Whether `*` in `pattern` can stand for something that makes it `text`.
fn matches(pattern: &str, text: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut last = None;
    for piece in pieces {
        if let Some(middle) = last.replace(piece) {
            let Some(at) = rest.find(middle) else { return false };
            rest = &rest[at + middle.len()..];
        }
    }
    match last {
        None => rest.is_empty(),
        Some(last) => rest.ends_with(last),
    }
}

/// All that configuration says about what agents may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Tools that are never run. Beats everything.
    pub denied_tools: Vec<String>,
    /// Tools that are approved at once, for each mode; `*` is all of them.
    pub auto_approve: Vec<(Mode, Vec<String>)>,
    /// Rules about tools and commands.
    pub rules: Vec<Rule>,
    /// Whether tools that speak to the network are asked for in the default mode.
    pub network_asks: bool,
    /// Whether they are denied in plan mode.
    pub plan_blocks_network: bool,
    /// Whether commands that are allowed because they only read run inside the sandbox. Without
    /// it, programs that do what a project's files tell them are asked for.
    pub sandboxed: bool,
    /// Whether everything is asked for, because the settings cannot be trusted. Beats everything but
    /// what is denied.
    pub asks_everything: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            denied_tools: Vec::new(),
            auto_approve: Vec::new(),
            rules: Vec::new(),
            network_asks: false,
            plan_blocks_network: false,
            sandboxed: true,
            asks_everything: false,
        }
    }
}

impl Rules {
    /// The entry of `denied_tools` that names the tool.
    pub(super) fn denied(&self, tool: &str) -> Option<String> {
        let entry = self.denied_tools.iter().find(|entry| matches(entry, tool))?;
        Some(format!("denied_tools:{entry}"))
    }

    /// The entry of `auto_approve` for the mode that names the tool.
    pub(super) fn approved(&self, tool: &str, mode: Mode) -> Option<String> {
        let lists = self.auto_approve.iter().filter(|(of, _)| *of == mode);
        let entry = lists.flat_map(|(_, names)| names).find(|entry| matches(entry, tool))?;
        Some(format!("auto_approve.{}:{entry}", mode_name(mode)))
    }

    /// The rule that decides about a call, and what it says.
    pub(super) fn decide(
        &self,
        tool: &str,
        command: Option<&Analysis>,
    ) -> Option<(Action, String)> {
        let about = || self.rules.iter().filter(|rule| rule.is_about(tool));
        for action in [Action::Deny, Action::Ask] {
            let hit = about().filter(|rule| rule.action == action).find(|rule| match command {
                None => rule.command.is_none(),
                Some(command) => {
                    rule.command.is_none() || command.parts.iter().any(|part| rule.may_match(part))
                }
            });
            if let Some(rule) = hit {
                return Some((action, format!("{}:{}", name_of(action), rule.text())));
            }
        }
        // What is not understood might be just what a rule forbids.
        let forbids = about().find(|rule| rule.action != Action::Allow && rule.command.is_some());
        if let (Some(rule), Some(command)) = (forbids, command)
            && !command.is_plain
        {
            return Some((Action::Ask, format!("{}:{}", name_of(rule.action), rule.text())));
        }
        self.allows(tool, command).map(|rule| (Action::Allow, rule))
    }

    /// The rules that allow a call: every simple command needs one, or has to be known to read.
    fn allows(&self, tool: &str, command: Option<&Analysis>) -> Option<String> {
        let about =
            || self.rules.iter().filter(|rule| rule.action == Action::Allow && rule.is_about(tool));
        let whole = about().find(|rule| rule.command.is_none());
        if let Some(rule) = whole {
            return Some(format!("allow:{}", rule.text()));
        }
        let command = command.filter(|command| command.is_plain && !command.parts.is_empty())?;
        let mut used = None;
        for part in &command.parts {
            match about().find(|rule| rule.must_match(part)) {
                Some(rule) => used = used.or_else(|| Some(format!("allow:{}", rule.text()))),
                None if part.class == Class::ReadOnly => {}
                None => return None,
            }
        }
        used
    }
}

fn name_of(action: Action) -> &'static str {
    match action {
        Action::Deny => "deny",
        Action::Ask => "ask",
        Action::Allow => "allow",
    }
}

#[cfg(test)]
mod tests {
    use super::super::classify::{Command, analyze};
    use super::*;

    #[test]
    fn stars_stand_for_any_text() {
        for (pattern, text, expected) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("*", "", true),
            ("a*", "ab", true),
            ("*b", "ab", true),
            ("a*c", "abc", true),
            ("a*c", "abd", false),
            ("*b*", "abc", true),
            ("a**c", "ac", true),
            ("ab*bc", "abc", false),
            ("mcp__*", "mcp__x__y", true),
            ("", "", true),
            ("", "a", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn rules_are_read_and_written() {
        for text in ["shell", "*", "mcp__*", "shell(git push)", "*(rm)"] {
            assert_eq!(Rule::parse(Action::Deny, text).unwrap().text(), text);
        }
        for text in ["", "(git)", "shell(git", "a b", "shell)"] {
            assert_eq!(Rule::parse(Action::Deny, text), None, "{text}");
        }
    }

    fn decide(rules: &[(Action, &str)], command: &str) -> Option<Action> {
        let rules =
            rules.iter().map(|(action, text)| Rule::parse(*action, text).unwrap()).collect();
        let rules = Rules { rules, ..Rules::default() };
        let analysis = analyze(Command::Shell(command), &[]);
        rules.decide("shell", Some(&analysis)).map(|(action, _)| action)
    }

    #[test]
    fn every_command_of_a_chain_needs_leave() {
        let rules = &[(Action::Allow, "shell(cargo test)"), (Action::Allow, "shell(cargo build)")];
        for command in ["cargo test", "cargo test --lib", "cargo build && cargo test | tail -5"] {
            assert_eq!(decide(rules, command), Some(Action::Allow), "{command}");
        }
        for command in [
            "cargo testify",
            "cargo test; make",
            "cargo test > out",
            "cargo test $(x)",
            "cargo test $X",
            "RUSTC=x cargo test",
            "cargo test &",
            "(cargo test)",
            "./cargo test",
            "ls",
            "cargo",
            "cargo test <<< x",
            "cargo test\nmake",
        ] {
            assert_eq!(decide(rules, command), None, "{command}");
        }
    }

    #[test]
    fn one_forbidden_command_is_enough() {
        let rules = &[(Action::Deny, "shell(git push)"), (Action::Allow, "shell")];
        for command in [
            "git push",
            "ls && git push -f",
            "(git push)",
            "sh -c 'git push'",
            "/usr/bin/git push",
            "git $X",
            "for i in 1; do git push; done",
            "/opt/git push",
            "ls | (cd x; git push)",
        ] {
            assert_eq!(decide(rules, command), Some(Action::Deny), "{command}");
        }
        assert_eq!(decide(rules, "git pull"), Some(Action::Allow));
        assert_eq!(decide(rules, "echo $(git push)"), Some(Action::Ask));
        assert_eq!(decide(rules, "echo 'unclosed"), Some(Action::Ask));
    }
}
