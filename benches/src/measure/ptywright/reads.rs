//! Reads of a terminal with something to see, and creating one: one request at a time.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{AHEAD, Server, Side, cells_name, servers, size_name};
use crate::child::needle;
use crate::client::Client;
use crate::gate::Gate;
use crate::measure::{Bench, Section};
use crate::peers::{self, LARGE, Session, Size, USUAL, session_id};
use crate::report::{Better, Report, Row};
use crate::stats::Times;
use crate::streams::Stream;

/// Enough to fill a large screen.
const FILL_BYTES: u64 = 64_000;

/// More than a transcript holds, which is 131,072 characters.
const TRANSCRIPT_BYTES: u64 = 200_000;

/// What is asked.
#[derive(Clone, Copy)]
enum Question {
    /// The same screen again and again.
    Snapshot(Size, bool),
    /// A screen that has changed since the last look.
    Changed(Size, bool),
    Transcript,
    Create,
}

const QUESTIONS: &[Question] = &[
    Question::Snapshot(USUAL, true),
    Question::Snapshot(USUAL, false),
    Question::Snapshot(LARGE, true),
    Question::Snapshot(LARGE, false),
    Question::Changed(USUAL, true),
    Question::Changed(USUAL, false),
    Question::Changed(LARGE, true),
    Question::Changed(LARGE, false),
    Question::Transcript,
    Question::Create,
];

impl Question {
    fn name(self) -> String {
        let of = |size, has_cells| format!("{}, {}", size_name(size), cells_name(has_cells));
        match self {
            Question::Snapshot(size, has_cells) => format!("snapshot {}", of(size, has_cells)),
            Question::Changed(size, has_cells) => {
                format!("snapshot {}, after a change", of(size, has_cells))
            }
            Question::Transcript => "transcript of 131072 characters".to_owned(),
            Question::Create => "create a session".to_owned(),
        }
    }

    /// How often in a round, usually and in a quick run.
    fn counts(self) -> (usize, usize) {
        match self {
            Question::Snapshot(_, true) | Question::Transcript => (100, 10),
            Question::Snapshot(_, false) => (1_000, 100),
            Question::Changed(..) => (100, 10),
            Question::Create => (40, 5),
        }
    }

    /// 0.3.0 sends the cells whatever it is asked.
    fn is_asked_of(self, side: Side) -> bool {
        let is_text = matches!(self, Question::Snapshot(_, false) | Question::Changed(_, false));
        side != Side::Theirs || !is_text
    }

    fn has_target(self) -> bool {
        matches!(self, Question::Snapshot(LARGE, true) | Question::Changed(LARGE, true))
    }
}

/// One who is asked, with terminals to look at.
struct Asked {
    side: Side,
    server: Server,
    usual: Session,
    large: Session,
    changing: [Session; 2],
    long: Session,
    /// The next number that a changing terminal writes.
    number: u64,
}

/// Measures all questions.
pub(super) fn run(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let mut asked = Vec::new();
    for (side, server) in servers(bench, report)? {
        asked.push(Asked::open(bench, side, server)?);
    }
    for question in QUESTIONS {
        let mut times: Vec<(Side, Times)> = Vec::new();
        times.extend(asked.iter().map(|asked| (asked.side, Times::default())));
        for _ in 0..bench.rounds {
            for (asked, (side, times)) in asked.iter_mut().zip(&mut times) {
                if question.is_asked_of(*side) {
                    asked.batch(bench, *question, times)?;
                }
            }
        }
        push(report, *question, &times);
    }
    Ok(())
}

fn push(report: &mut Report, question: Question, times: &[(Side, Times)]) {
    let of = |side| times.iter().find(|(own, _)| *own == side).and_then(|(_, times)| times.p50());
    for side in Side::OWN {
        let name = format!("{}, {}, p50", question.name(), side.name());
        let row = Row {
            rookery: of(side),
            ptywright: of(Side::Theirs),
            ..Row::new(Section::Ptywright.name(), name, "µs", Better::Lower)
        };
        let peer = row.ptywright;
        report.push(match question.has_target() {
            true => {
                row.target_against(peer, "a tenth of ptywright's", |own, peer| own * AHEAD <= peer)
            }
            false => row,
        });
    }
}

impl Asked {
    fn open(bench: &Bench, side: Side, mut server: Server) -> anyhow::Result<Asked> {
        let gate = Gate::new(bench.dir())?;
        let client = server.client()?;
        let mut written = |stream, bytes, size| {
            let mut session = peers::open_writer(client, &bench.exe, &gate, (stream, bytes), size)?;
            session.child.release()?;
            client.call("session.wait", &peers::wait_for_marker(&session.id))?;
            anyhow::Ok(session)
        };
        let usual = written(Stream::Sgr, FILL_BYTES, USUAL)?;
        let large = written(Stream::Sgr, FILL_BYTES, LARGE)?;
        let long = written(Stream::Ascii, TRANSCRIPT_BYTES, USUAL)?;
        let mut stamping = |size| peers::open(client, &bench.exe, &gate, &["__stamp"], size);
        let changing = [stamping(USUAL)?, stamping(LARGE)?];
        Ok(Asked { side, server, usual, large, changing, long, number: 0 })
    }

    /// One round of one question.
    fn batch(
        &mut self,
        bench: &Bench,
        question: Question,
        times: &mut Times,
    ) -> anyhow::Result<()> {
        let (usual, quick) = question.counts();
        let count = bench.count(usual, quick);
        bench.await_quiet();
        // The first ones find cold caches.
        for _ in 0..count.div_ceil(20) {
            self.ask(question)?;
        }
        times.begin();
        for _ in 0..count {
            times.push(self.ask(question)?);
        }
        Ok(())
    }

    fn ask(&mut self, question: Question) -> anyhow::Result<Duration> {
        let client = self.server.client()?;
        match question {
            Question::Snapshot(size, has_cells) => {
                let session = if size == LARGE { &self.large } else { &self.usual };
                time(client, "session.snapshot", &snapshot(session, has_cells))
            }
            Question::Changed(size, has_cells) => {
                let session = &mut self.changing[usize::from(size == LARGE)];
                session.child.tell(self.number)?;
                let wait = peers::wait_for(&session.id, &needle(self.number));
                self.number += 1;
                client.send("session.wait", &wait)?;
                client.receive_result()?;
                time(client, "session.snapshot", &snapshot(session, has_cells))
            }
            Question::Transcript => {
                time(client, "session.transcript", &json!({"session": self.long.id}))
            }
            Question::Create => {
                let request = client.encode("session.create", &json!({"program": "/bin/cat"}));
                let start = Instant::now();
                let reply = client.round_trip(&request)?;
                let time = start.elapsed();
                let mut created: Value = serde_json::from_slice(reply)?;
                let session = session_id(&created["result"].take())?;
                client.call("session.close", &json!({"session": session}))?;
                Ok(time)
            }
        }
    }
}

/// Params of a snapshot; who wants the cells does not have to say so.
fn snapshot(session: &Session, has_cells: bool) -> Value {
    match has_cells {
        true => json!({"session": session.id}),
        false => json!({"session": session.id, "cells": false}),
    }
}

fn time(client: &mut Client, method: &str, params: &Value) -> anyhow::Result<Duration> {
    let request = client.encode(method, params);
    let start = Instant::now();
    client.round_trip(&request)?;
    Ok(start.elapsed())
}
