//! `idx0-notify`: says a word about the session it runs in, for hooks and scripts.
//!
//! Outside a session it does nothing, and it never takes longer than a few seconds: shells start it
//! and go on.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    process::ExitCode,
    sync::mpsc,
    time::{Duration, Instant},
};

use rookery_idx0::envelope::{Reply, Request};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, PidfdFlags, pidfd_open},
};

use super::idx0::link;
use crate::output;

/// The name of the tool.
pub(crate) const NAME: &str = "idx0-notify";

/// How long the server may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long the one before may take that is to be heard first.
const AFTER: Duration = Duration::from_secs(6);

/// What was said.
#[derive(Debug, Default, PartialEq, Eq)]
struct Arguments {
    category: Option<String>,
    activity: Option<String>,
    /// The process whose word is to be heard before this one.
    after: Option<i32>,
    title: Option<String>,
    summary: Option<String>,
}

/// The whole tool.
pub(crate) fn main(args: Vec<OsString>) -> ExitCode {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let (Some(session), Some(socket)) = (variable("IDX0_SESSION_ID"), variable("IDX0_IPC_SOCKET"))
    else {
        return ExitCode::SUCCESS;
    };
    let words = args.into_iter().map(|word| word.to_string_lossy().into_owned());
    let arguments = Arguments::read(words);
    if let Some(pid) = arguments.after {
        wait_for(pid);
    }
    let request = arguments.request(&session.to_string_lossy());
    let socket = link::resolve_socket(socket.into());
    // A server that never accepts would block this process for ever.
    let (sender, answer) = mpsc::channel();
    std::thread::spawn(move || {
        let _ = sender.send(link::ask_at(&socket, &request, PATIENCE));
    });
    let late = || Err("the server does not answer".to_owned());
    match answer.recv_timeout(PATIENCE).unwrap_or_else(|_| late()) {
        Ok(Reply { success: true, .. }) => ExitCode::SUCCESS,
        Ok(reply) => failure(reply.message.as_deref().unwrap_or("Command failed")),
        Err(message) => failure(&message),
    }
}

fn failure(message: &str) -> ExitCode {
    output::note(format!("{NAME}: {}", output::printable(message)));
    ExitCode::FAILURE
}

impl Arguments {
    /// Reads the arguments. What is no option is the title, then the summary; more is ignored.
    fn read(words: impl Iterator<Item = String>) -> Arguments {
        let mut arguments = Arguments::default();
        let mut words = words;
        let mut is_text = false;
        while let Some(word) = words.next() {
            let (name, value) = match word.split_once('=') {
                Some((name, value)) if name.starts_with("--") => (name, Some(value.to_owned())),
                _ => (word.as_str(), None),
            };
            let mut value = || value.clone().or_else(|| words.next());
            match name {
                _ if is_text => arguments.text(word),
                "--" => is_text = true,
                "-c" | "--category" => arguments.category = value(),
                "-a" | "--activity" => arguments.activity = value(),
                "--after" => arguments.after = value().and_then(|pid| pid.parse().ok()),
                _ => arguments.text(word),
            }
        }
        arguments
    }

    fn text(&mut self, word: String) {
        if self.title.is_none() {
            self.title = Some(word);
        } else if self.summary.is_none() {
            self.summary = Some(word);
        }
    }

    fn request(self, session: &str) -> Request {
        let title = self.title.filter(|title| !title.trim().is_empty());
        let title = title.unwrap_or_else(|| "Activity".to_owned());
        let payload = [
            ("sessionID", Some(session.to_owned())),
            ("activityDescription", Some(title.clone())),
            ("title", Some(title)),
            ("summary", self.summary),
            ("category", self.category),
            ("activity", self.activity),
        ];
        let filled = payload.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
        Request { command: "notify".to_owned(), payload: filled.collect::<BTreeMap<_, _>>() }
    }
}

/// Waits until a process is gone, a while.
fn wait_for(pid: i32) {
    let Some(pid) = Some(pid).filter(|pid| *pid > 0).and_then(Pid::from_raw) else { return };
    let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else { return };
    let until = Instant::now() + AFTER;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let Ok(limit) = Timespec::try_from(left) else { return };
        match poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&limit)) {
            Err(rustix::io::Errno::INTR) => {}
            _ => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Arguments {
        Arguments::read(words.iter().map(|word| (*word).to_owned()))
    }

    fn payload(words: &[&str]) -> Vec<(String, String)> {
        read(words).request("S").payload.into_iter().collect()
    }

    #[test]
    fn options_and_texts_come_in_any_order() {
        let arguments = Arguments {
            category: Some("error".into()),
            activity: Some("active".into()),
            after: Some(7),
            title: Some("a b".into()),
            summary: Some("-x".into()),
        };
        let spelled = ["a b", "-a", "active", "--category=error", "--after", "7", "--", "-x", "y"];
        assert_eq!(read(&spelled), arguments);
        let spelled = ["--activity", "active", "a b", "-c", "error", "-x", "--after=7"];
        assert_eq!(read(&spelled), arguments);
        assert_eq!(read(&["--after=", "-a"]), Arguments::default());
    }

    #[test]
    fn the_title_is_the_description_too() {
        let of = |members: &[(&str, &str)]| -> Vec<(String, String)> {
            members.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect()
        };
        assert_eq!(
            payload(&["-a", "active", "x\n\"y\"", "z"]),
            of(&[
                ("activity", "active"),
                ("activityDescription", "x\n\"y\""),
                ("sessionID", "S"),
                ("summary", "z"),
                ("title", "x\n\"y\""),
            ])
        );
        assert_eq!(
            payload(&["", "z"]),
            of(&[
                ("activityDescription", "Activity"),
                ("sessionID", "S"),
                ("summary", "z"),
                ("title", "Activity"),
            ])
        );
    }

    #[test]
    fn a_process_that_has_ended_is_not_waited_for() {
        for pid in [i32::MAX, 0, -1] {
            wait_for(pid);
        }
    }
}
