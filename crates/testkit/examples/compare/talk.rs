//! Holds one conversation to its end, whatever happens on the way.
//!
//! Replies are found by their id and notifications by their order among themselves, so that a step that went wrong does
//! not spoil the ones after it. Which of a reply and a notification comes first is not compared.

use std::collections::VecDeque;

use rookery_testkit::vectors::pattern::{Bindings, substitute};
use rookery_testkit::vectors::{Script, Step, StepKind};
use serde_json::Value;

use crate::judge::judge;
use crate::rules::Rules;
use crate::server::{Program, Received, Server};

/// After this number of steps without any answer the rest is not tried.
const MAX_SILENCES: usize = 2;

/// What came of one expectation.
pub(crate) struct Outcome {
    pub(crate) line: usize,
    /// The id of the reply that was expected, as JSON.
    pub(crate) id: Option<String>,
    /// Rows of members that had to be left out.
    pub(crate) members: Vec<usize>,
    /// Why it does not meet what was expected.
    pub(crate) failure: Option<String>,
}

impl Outcome {
    /// Whether it is exactly as the vector says.
    pub(crate) fn is_met(&self) -> bool {
        self.failure.is_none() && self.members.is_empty()
    }
}

/// What came of a conversation.
pub(crate) struct Course {
    pub(crate) outcomes: Vec<Outcome>,
    /// How many expectations were not tried, if it went silent.
    pub(crate) cut: Option<usize>,
}

/// Holds the conversation of a script with fresh servers: once without the requests that are to be held `apart`, and
/// once for each of these, up to its reply.
pub(crate) fn hold_apart(
    program: &Program,
    script: &Script,
    rules: &Rules,
    apart: &[String],
) -> Result<Course, String> {
    let mut course = hold(program, &only(script, |id| !apart.contains(id)), rules)?;
    for this in apart {
        let mut part = only(script, |id| id == this || !apart.contains(id));
        let is_reply = |step: &Step| is_expectation(step) && id_of(step).as_ref() == Some(this);
        part.steps.truncate(part.steps.iter().position(is_reply).map_or(0, |at| at + 1));
        let outcomes = hold(program, &part, rules)?.outcomes;
        course
            .outcomes
            .extend(outcomes.into_iter().filter(|found| found.id.as_ref() == Some(this)));
    }
    course.outcomes.sort_by_key(|outcome| outcome.line);
    Ok(course)
}

/// The script without requests, and their replies, whose ids are not wanted.
fn only(script: &Script, is_wanted: impl Fn(&String) -> bool) -> Script {
    let mut script = script.clone();
    script.steps.retain(|step| id_of(step).is_none_or(|id| is_wanted(&id)));
    script
}

/// The id of a request or of a reply.
fn id_of(step: &Step) -> Option<String> {
    match &step.kind {
        StepKind::Send(message) | StepKind::Expect(message) => {
            message.get("id").map(Value::to_string)
        }
        _ => None,
    }
}

/// Holds the conversation of a script with a fresh server.
pub(crate) fn hold(program: &Program, script: &Script, rules: &Rules) -> Result<Course, String> {
    let server = program.start()?;
    let text =
        |path: Option<&std::path::Path>| path.and_then(std::path::Path::to_str).map(Value::from);
    let home = text(Some(server.home())).ok_or("a home without a name")?;
    let here = text(script.path.parent()).ok_or("a vector without a folder")?;
    let mut talk = Talk {
        server,
        rules,
        bindings: Bindings::from([("home".to_owned(), home), ("here".to_owned(), here)]),
        requests: Vec::new(),
        inbox: VecDeque::new(),
        silences: 0,
    };
    let mut course = Course { outcomes: Vec::new(), cut: None };
    for (index, step) in script.steps.iter().enumerate() {
        if talk.silences >= MAX_SILENCES {
            let left = script.steps[index..].iter().filter(|step| is_expectation(step)).count();
            course.cut = Some(left).filter(|left| *left > 0);
            break;
        }
        course.outcomes.extend(talk.step(step));
    }
    if course.cut.is_none() {
        course.outcomes.extend(talk.strays(script));
    }
    Ok(course)
}

fn is_expectation(step: &Step) -> bool {
    !matches!(step.kind, StepKind::Send(_) | StepKind::Comment(_))
}

struct Talk<'a> {
    server: Server,
    rules: &'a Rules,
    bindings: Bindings,
    requests: Vec<Value>,
    inbox: VecDeque<Value>,
    silences: usize,
}

impl Talk<'_> {
    fn step(&mut self, step: &Step) -> Option<Outcome> {
        let (id, judged) = match &step.kind {
            StepKind::Comment(_) => return None,
            StepKind::Send(message) => (None, self.send(message).err().map(Err)?),
            StepKind::Expect(pattern) => (reply_id(pattern), self.expect(pattern)),
            StepKind::ExpectUnordered(patterns) => {
                let each = patterns.iter().map(|pattern| self.expect_any(pattern));
                let judged: Result<Vec<Vec<usize>>, String> = each.collect();
                (None, judged.map(|rows| rows.concat()))
            }
            StepKind::ExpectEof(_) => (None, self.expect_end()),
            StepKind::Until { .. } | StepKind::Disconnect(_) => {
                (None, Err("only our own server is asked in this way".to_owned()))
            }
        };
        let id = id.map(Value::to_string);
        let (members, failure) = match judged {
            Ok(members) => (members, None),
            Err(reason) => (Vec::new(), Some(reason)),
        };
        Some(Outcome { line: step.line, id, members, failure })
    }

    fn send(&mut self, message: &Value) -> Result<(), String> {
        let line = match substitute(message, &self.bindings) {
            Value::String(raw) => raw,
            json => {
                let line = json.to_string();
                self.requests.push(json);
                line
            }
        };
        self.server.send(&line)
    }

    /// The first message of the kind that is expected: the reply with that id, or a notification.
    fn expect(&mut self, pattern: &Value) -> Result<Vec<usize>, String> {
        let wanted = reply_id(pattern).map(|id| substitute(id, &self.bindings));
        let message = self.find(|message| reply_id(message) == wanted.as_ref())?;
        self.judge(pattern, &message)
    }

    /// The same, but of several notifications the one that fits.
    fn expect_any(&mut self, pattern: &Value) -> Result<Vec<usize>, String> {
        if reply_id(pattern).is_some() {
            return self.expect(pattern);
        }
        let (rules, bindings) = (self.rules, self.bindings.clone());
        let fits =
            |message: &Value| judge(pattern, message, None, rules, &mut bindings.clone()).is_ok();
        let message = self.find(fits)?;
        self.judge(pattern, &message)
    }

    fn judge(&mut self, pattern: &Value, message: &Value) -> Result<Vec<usize>, String> {
        let id = reply_id(message);
        let request = self.requests.iter().find(|request| id.is_some() && request.get("id") == id);
        judge(pattern, message, request, self.rules, &mut self.bindings)
    }

    /// Takes the first message like that, and leaves the others for later steps.
    fn find(&mut self, is_it: impl Fn(&Value) -> bool) -> Result<Value, String> {
        let mut seen = 0;
        loop {
            if let Some(at) = (seen..self.inbox.len()).find(|at| is_it(&self.inbox[*at]))
                && let Some(message) = self.inbox.remove(at)
            {
                return Ok(message);
            }
            seen = self.inbox.len();
            match self.server.hear() {
                Received::Line(line) => {
                    // What is no JSON meets no pattern.
                    let message = serde_json::from_str(&line).unwrap_or(Value::String(line));
                    self.inbox.push_back(message);
                }
                Received::Nothing => {
                    self.silences += 1;
                    return Err("no such message came".to_owned());
                }
                Received::End => {
                    self.silences = MAX_SILENCES;
                    return Err("the server ended".to_owned());
                }
            }
        }
    }

    fn expect_end(&mut self) -> Result<Vec<usize>, String> {
        match self.server.hear() {
            Received::End => Ok(Vec::new()),
            Received::Nothing => Err("the server did not end".to_owned()),
            Received::Line(line) => Err(format!("expected the end, got {line}")),
        }
    }

    /// Unexpected replies, as a difference of the last line.
    fn strays(&self, script: &Script) -> Option<Outcome> {
        let replies = self.inbox.iter().filter(|message| message.get("method").is_none());
        let texts: Vec<String> = replies.map(Value::to_string).collect();
        let line = script.steps.last()?.line;
        let failure = format!("replies that were not expected: {}", texts.join(" "));
        (!texts.is_empty()).then(|| Outcome {
            line,
            id: None,
            members: Vec::new(),
            failure: Some(failure),
        })
    }
}

/// The id of a reply; none for a notification.
fn reply_id(message: &Value) -> Option<&Value> {
    message.get("id").filter(|_| message.get("method").is_none())
}
