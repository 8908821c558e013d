//! Hooks of ours in the settings of Claude Code: which are there, how they come and how they go.

use std::path::Path;

use serde::Serialize;

use super::document::{self, Node};
use crate::personas::roostctl::{CLAUDE_EVENTS, hook_command, read_hook_command};

/// A hook as Claude Code reads it.
#[derive(Debug, Serialize)]
struct Hook<'a> {
    r#type: &'static str,
    command: &'a str,
}

#[derive(Debug, Serialize)]
struct Group<'a> {
    hooks: [Hook<'a>; 1],
}

impl<'a> Group<'a> {
    fn of(command: &'a str) -> Self {
        Self { hooks: [Hook { r#type: "command", command }] }
    }
}

/// How an event is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum State {
    Installed,
    /// By another program of ours.
    Outdated,
    Missing,
}

/// An event and how it is reported.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Reported {
    pub(super) event: &'static str,
    pub(super) state: State,
    /// The command that reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) command: Option<String>,
}

/// Where a hook of ours is: in which group of its event, at which place.
struct Place<'a> {
    event: usize,
    group: usize,
    hook: usize,
    command: &'a Node,
}

/// Settings that hooks can be put into.
pub(super) struct Settings<'a> {
    text: &'a str,
    root: Node,
    /// The program the hooks are to call.
    program: &'a Path,
}

impl<'a> Settings<'a> {
    /// Reads settings.
    ///
    /// # Errors
    /// Why they cannot be touched.
    pub(super) fn read(text: &'a str, program: &'a Path) -> Result<Self, String> {
        let root = document::parse(text)?;
        if root.members().is_none() {
            return Err("it is not a JSON object".to_owned());
        }
        if let Some(hooks) = root.get("hooks") {
            let events = hooks.members().ok_or("`hooks` is not an object")?;
            if let Some(odd) = events.iter().find(|event| event.value.items().is_none()) {
                return Err(format!("`hooks.{}` is not a list", odd.key));
            }
        }
        Ok(Self { text, root, program })
    }

    fn command(&self, event: &str) -> String {
        let program = [self.program.to_string_lossy().into_owned(), "roostctl".to_owned()];
        hook_command(&program, event)
    }

    /// Whether a command is one of ours, by this program or another of its name.
    fn is_ours(&self, command: &str) -> bool {
        read_hook_command(command).is_some_and(|called| {
            let is_named = called.program.file_name().is_some_and(|name| name == "rookery");
            called.is_rookery && (is_named || called.program == self.program)
        })
    }

    /// Every hook of ours, in the order of the file.
    fn places(&self) -> Vec<Place<'_>> {
        let mut places = Vec::new();
        let events = self.root.get("hooks").and_then(Node::members).unwrap_or_default();
        for (event, member) in events.iter().enumerate() {
            for (group, node) in member.value.items().unwrap_or_default().iter().enumerate() {
                let hooks = node.get("hooks").and_then(Node::items).unwrap_or_default();
                for (hook, node) in hooks.iter().enumerate() {
                    let command = node.get("command");
                    let ours =
                        command.filter(|it| it.text().is_some_and(|text| self.is_ours(text)));
                    places.extend(ours.map(|command| Place { event, group, hook, command }));
                }
            }
        }
        places
    }

    fn of_event(&self, event: &str) -> Vec<Place<'_>> {
        let events = self.root.get("hooks").and_then(Node::members).unwrap_or_default();
        let is_of = |place: &Place<'_>| events[place.event].key == event;
        self.places().into_iter().filter(is_of).collect()
    }

    /// How each event is reported.
    pub(super) fn reported(&self) -> Vec<Reported> {
        let of = |event: &'static str| {
            let commands: Vec<String> = self
                .of_event(event)
                .iter()
                .filter_map(|place| place.command.text().map(str::to_owned))
                .collect();
            let wanted = self.command(event);
            let state = match commands.first() {
                _ if commands.contains(&wanted) => State::Installed,
                Some(_) => State::Outdated,
                None => State::Missing,
            };
            let command =
                if state == State::Installed { Some(wanted) } else { commands.into_iter().next() };
            Reported { event, state, command }
        };
        CLAUDE_EVENTS.into_iter().map(of).collect()
    }

    /// The text with one event more that is reported by this program; none if all are.
    fn one_more(&self) -> Option<String> {
        let lacking = self.reported().into_iter().find(|it| it.state != State::Installed)?;
        let command = self.command(lacking.event);
        if let Some(place) = self.of_event(lacking.event).first() {
            let quoted = serde_json::Value::from(command).to_string();
            return Some(document::replaced(self.text, place.command.span.clone(), &quoted));
        }
        let group = Group::of(&command);
        let add = |container: &Node, key: Option<&str>, value: &dyn Render| {
            value.append(self.text, &self.root, container, key)
        };
        Some(match self.root.get("hooks") {
            None => {
                let hooks = std::collections::BTreeMap::from([(lacking.event, [group])]);
                add(&self.root, Some("hooks"), &hooks)
            }
            Some(hooks) => match hooks.get(lacking.event) {
                None => add(hooks, Some(lacking.event), &[group]),
                Some(groups) => add(groups, None, &group),
            },
        })
    }

    /// The text with one hook of ours less; none if there is none. Of what is empty without it, only
    /// that stays which `first` had too.
    fn one_less(&self, first: Option<&Node>) -> Option<String> {
        let place = self.places().into_iter().next()?;
        let hooks = self.root.get("hooks")?;
        let member = &hooks.members()?[place.event];
        let event = &member.value;
        let group = event.items()?[place.group].get("hooks")?;
        let had_hooks = first.and_then(|first| first.get("hooks"));
        let had_event = had_hooks.is_some_and(|hooks| hooks.get(&member.key).is_some());
        // What holds nothing but this goes with it.
        let (container, index) = if group.items()?.len() > 1 {
            (group, place.hook)
        } else if event.items()?.len() > 1 || had_event {
            (event, place.group)
        } else if hooks.members()?.len() > 1 || had_hooks.is_some() {
            (hooks, place.event)
        } else {
            let members = self.root.members()?;
            (&self.root, members.iter().rposition(|member| member.key == "hooks")?)
        };
        Some(document::without(self.text, container, index))
    }
}

/// Something that can be put into a text.
trait Render {
    fn append(&self, text: &str, root: &Node, container: &Node, key: Option<&str>) -> String;
}

impl<T: Serialize> Render for T {
    fn append(&self, text: &str, root: &Node, container: &Node, key: Option<&str>) -> String {
        document::appended(text, root, container, key, self)
    }
}

/// The most steps that a change may take; no file of a sensible size needs as many.
const MOST_STEPS: usize = 1000;

fn stepwise(
    text: &str,
    program: &Path,
    step: impl Fn(&Settings<'_>) -> Option<String>,
) -> Result<String, String> {
    let mut text = text.to_owned();
    for _ in 0..MOST_STEPS {
        let Some(next) = step(&Settings::read(&text, program)?) else { return Ok(text) };
        text = next;
    }
    Err("it has too many hooks".to_owned())
}

/// The text with every event reported by a program.
///
/// # Errors
/// Why the text cannot be touched.
pub(super) fn installed(text: &str, program: &Path) -> Result<String, String> {
    stepwise(text, program, |settings| settings.one_more())
}

/// The text without hooks of ours. What they leave empty goes with them, unless it was there in the
/// text before they came, if that is known.
///
/// # Errors
/// Why the text cannot be touched.
pub(super) fn uninstalled(
    text: &str,
    first: Option<&str>,
    program: &Path,
) -> Result<String, String> {
    let first = first.and_then(|first| document::parse(first).ok());
    stepwise(text, program, |settings| settings.one_less(first.as_ref()))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    const PROGRAM: &str = "/opt/rookery";

    fn install(text: &str) -> String {
        installed(text, Path::new(PROGRAM)).unwrap()
    }

    fn uninstall(text: &str) -> String {
        uninstalled(text, None, Path::new(PROGRAM)).unwrap()
    }

    fn states(text: &str) -> Vec<State> {
        let settings = Settings::read(text, Path::new(PROGRAM)).unwrap();
        settings.reported().iter().map(|reported| reported.state).collect()
    }

    const USERS: &str = r#"{
  "model": "opus",
  "hooks": {
    "Stop": [
      {
        "matcher": "*",
        "hooks": [ { "type": "command", "command": "say done" } ]
      }
    ]
  },
  "z": 1, "a": [1,2]
}
"#;

    #[test]
    fn hooks_are_added_and_the_rest_stays() {
        let text = install(USERS);
        expect![[r#"
            {
              "model": "opus",
              "hooks": {
                "Stop": [
                  {
                    "matcher": "*",
                    "hooks": [ { "type": "command", "command": "say done" } ]
                  },
                  {
                    "hooks": [
                      {
                        "type": "command",
                        "command": "/opt/rookery roostctl claude-hook Stop"
                      }
                    ]
                  }
                ],
                "SessionStart": [
                  {
                    "hooks": [
                      {
                        "type": "command",
                        "command": "/opt/rookery roostctl claude-hook SessionStart"
                      }
                    ]
                  }
                ],
        "#]]
        .assert_eq(&text[..text.find("    \"UserPromptSubmit\"").unwrap()]);
        assert!(text.ends_with("\n  },\n  \"z\": 1, \"a\": [1,2]\n}\n"), "{text}");
        assert_eq!(states(&text), [State::Installed; 6]);
        assert_eq!(install(&text), text);
        assert_eq!(uninstall(&text), USERS);
    }

    #[test]
    fn an_empty_file_is_filled_and_emptied() {
        let text = install("{}\n");
        assert_eq!(states(&text), [State::Installed; 6]);
        assert_eq!(uninstall(&text), "{}\n");
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["hooks"].as_object().unwrap().len(), 6);
    }

    #[test]
    fn another_path_is_corrected_in_place() {
        let old = installed(USERS, Path::new("/old place/rookery")).unwrap();
        assert_eq!(states(&old), [State::Outdated; 6]);
        let new = install(&old);
        assert_eq!(new, install(USERS));
        assert_eq!(uninstall(&old), USERS);
    }

    #[test]
    fn hooks_of_others_are_not_ours() {
        let of = |command: &str| {
            json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}})
                .to_string()
        };
        for command in
            ["/b/roostctl claude-hook Stop", "rookery ls", "/x/other roostctl claude-hook Stop"]
        {
            assert_eq!(uninstall(&of(command)), of(command), "{command}");
            assert_eq!(uninstall(&install(&of(command))), of(command), "{command}");
        }
        assert_eq!(uninstall(&of("/b/rookery roostctl claude-hook Stop")), "{}");
    }

    #[test]
    fn a_shared_group_keeps_what_is_not_ours() {
        let text = r#"{"hooks":{"Stop":[{"matcher":"","hooks":[{"command":"/b/rookery roostctl claude-hook Stop"},{"command":"x"}]}]}}"#;
        let left = r#"{"hooks":{"Stop":[{"matcher":"","hooks":[{"command":"x"}]}]}}"#;
        assert_eq!(uninstall(text), left);
    }

    #[test]
    fn what_was_empty_before_stays_empty() {
        let first = r#"{"hooks":{"Stop":[]},"a":1}"#;
        let changed = install(first).replace("\"a\":1", "\"a\":2");
        let left = uninstalled(&changed, Some(first), Path::new(PROGRAM)).unwrap();
        assert_eq!(left, r#"{"hooks":{"Stop":[]},"a":2}"#);
        let left = uninstalled(&changed, Some(r#"{"hooks":{}}"#), Path::new(PROGRAM)).unwrap();
        assert_eq!(left, r#"{"hooks":{},"a":2}"#);
        assert_eq!(uninstall(&changed), r#"{"a":2}"#);
    }

    #[test]
    fn what_is_not_understood_is_not_touched() {
        for text in ["", "[]", "{", "7", r#"{"hooks":[]}"#, r#"{"hooks":{"Stop":{}}}"#, "// x\n{}"]
        {
            assert!(installed(text, Path::new(PROGRAM)).is_err(), "{text}");
            assert!(uninstalled(text, None, Path::new(PROGRAM)).is_err(), "{text}");
        }
        let odd = r#"{"hooks":{"Stop":[7,{"hooks":7},{"hooks":[7,{"command":7}]}]}}"#;
        assert_eq!(uninstall(&install(odd)), odd);
    }

    proptest! {
        #[test]
        fn what_is_installed_can_be_undone(
            others in prop::collection::btree_map("[a-z]{1,4}", "\\PC{0,6}", 1..4),
            event in prop::sample::select(CLAUDE_EVENTS.to_vec()),
            command in "\\PC{0,10}",
            pretty: bool,
            with_hooks: bool,
        ) {
            let mut value = json!(others);
            if with_hooks {
                value["hooks"] = json!({event: [{"hooks": [{"type": "command", "command": command}]}]});
            }
            let text = if pretty { format!("{value:#}") } else { value.to_string() };
            let longer = install(&text);
            prop_assert_eq!(states(&longer), [State::Installed; 6]);
            prop_assert_eq!(uninstall(&longer), text);
        }
    }
}
