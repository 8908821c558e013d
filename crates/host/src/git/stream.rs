//! Calls of git that take or give more than should lie in memory: objects going in and coming out.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

use super::repo::Oid;
use super::run::{Call, Git, GitError};
use crate::{Program, ProgramCommand, ProgramControl, ProgramEnd, ProgramStream, WriteError};

/// How long objects may take to go in or come out.
const LIMIT: Duration = Duration::from_secs(600);
/// How many pieces may wait between git and the disk.
pub(super) const WAITING: usize = 8;
/// How much is written at once.
const PIECE: usize = 64 << 10;
/// How much of its complaints is kept.
const COMPLAINT: usize = 4 << 10;

/// A running git with both ends in our hands. Dropping it kills it.
struct Piped {
    program: Program,
    control: ProgramControl,
    command: String,
    deadline: Instant,
    complaint: VecDeque<u8>,
}

impl Piped {
    async fn start(call: &Call<'_>) -> Result<Self, GitError> {
        let inherited = std::env::vars_os().filter(|(name, _)| call.inherits(name));
        let set = call.environment();
        let inherited = inherited.filter(|(name, _)| set.iter().all(|(own, _)| own != name));
        let request = ProgramCommand {
            argv: call.argv(),
            env: inherited.chain(set.iter().cloned()).collect(),
            cwd: call.directory().to_owned(),
            has_input: true,
        };
        let program =
            Program::start(request).await.map_err(|_| match call.directory().is_dir() {
                true => GitError::Missing,
                false => GitError::NoSuchPath(call.directory().to_owned()),
            })?;
        let control = program.control();
        let (command, deadline) = (call.name(), Instant::now() + LIMIT);
        Ok(Self { program, control, command, deadline, complaint: VecDeque::new() })
    }

    /// The next piece of its output.
    async fn next(&mut self) -> Result<Option<Bytes>, GitError> {
        loop {
            let piece = timeout_at(self.deadline, self.program.next()).await;
            match piece.map_err(|_| GitError::TimedOut(self.command.clone()))? {
                None => return Ok(None),
                Some((ProgramStream::Stdout, bytes)) => return Ok(Some(bytes)),
                Some((ProgramStream::Stderr, bytes)) => {
                    self.complaint.extend(bytes);
                    let over = self.complaint.len().saturating_sub(COMPLAINT);
                    self.complaint.drain(..over);
                }
            }
        }
    }

    /// Waits for its end, which has to be a good one.
    async fn finish(mut self) -> Result<(), GitError> {
        while self.next().await?.is_some() {}
        let end = timeout_at(self.deadline, self.control.wait()).await;
        match end.map_err(|_| GitError::TimedOut(self.command.clone()))? {
            ProgramEnd::Exited(0) => Ok(()),
            end => {
                let said = Vec::from(self.complaint);
                let said = String::from_utf8_lossy(&said);
                let said = said.lines().rev().find(|line| !line.trim().is_empty());
                let message = said.map_or_else(|| format!("{end:?}"), str::to_owned);
                Err(GitError::Failed { command: self.command, message })
            }
        }
    }
}

/// Hands it bytes, however slowly it reads. False if it reads no more.
async fn feed(control: &ProgramControl, bytes: &[u8], deadline: Instant) -> bool {
    for piece in bytes.chunks(PIECE) {
        loop {
            match control.write(piece).await {
                Ok(()) => break,
                Err(WriteError::Full) if Instant::now() < deadline => {}
                Err(_) => return false,
            }
        }
    }
    true
}

/// Runs a command whose input comes in pieces, and lets it end.
pub(super) async fn fed(call: Call<'_>, mut pieces: mpsc::Receiver<Bytes>) -> Result<(), GitError> {
    let piped = Piped::start(&call).await?;
    let (control, deadline) = (piped.control.clone(), piped.deadline);
    let feeding = async move {
        while let Some(piece) = pieces.recv().await {
            if !feed(&control, &piece, deadline).await {
                break;
            }
        }
        control.close_input().await;
    };
    let ((), result) = tokio::join!(feeding, piped.finish());
    result
}

/// A piece of what comes out of the object store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// The next object begins; that many bytes follow.
    Begins(u64),
    /// The next bytes of it.
    Bytes(Bytes),
}

/// Gives the contents of blobs in the order asked for, piece by piece.
///
/// Ends early, without an error, when the receiver is dropped.
pub(super) async fn contents(
    git: &Git,
    blobs: Vec<Oid>,
    taker: mpsc::Sender<Content>,
) -> Result<(), GitError> {
    let call = git.call(["cat-file", "--batch"]);
    let mut piped = Piped::start(&call).await?;
    let (control, deadline, count) = (piped.control.clone(), piped.deadline, blobs.len());
    let feeding = async move {
        for some in blobs.chunks(512) {
            let mut request = String::new();
            some.iter().for_each(|oid| request.extend([oid.as_str(), "\n"]));
            if !feed(&control, request.as_bytes(), deadline).await {
                break;
            }
        }
        control.close_input().await;
    };
    let reading = async move {
        let mut answer = Answer::default();
        let mut ended = 0;
        while ended < count {
            let Some(bytes) = piped.next().await? else { break };
            let mut rest = bytes;
            while !rest.is_empty() {
                let sent = match answer.take(&mut rest)? {
                    Some(Part::Content(content)) => taker.send(content).await,
                    Some(Part::Ends) => {
                        ended += 1;
                        Ok(())
                    }
                    None => Ok(()),
                };
                if sent.is_err() {
                    return Ok(());
                }
            }
        }
        match ended < count {
            true => Err(GitError::Unreadable("cat-file".into())),
            false => piped.finish().await,
        }
    };
    let ((), result) = tokio::join!(feeding, reading);
    result
}

/// Where we are in the output of `cat-file --batch`.
#[derive(Debug, Default)]
struct Answer {
    header: Vec<u8>,
    /// Bytes that the object still has, its line end included.
    left: Option<u64>,
}

enum Part {
    Content(Content),
    Ends,
}

impl Answer {
    /// Takes the next part off the front of what was printed. None if more is needed.
    fn take(&mut self, bytes: &mut Bytes) -> Result<Option<Part>, GitError> {
        let Some(left) = self.left else {
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let taken = bytes.split_to(end.map_or(bytes.len(), |end| end + 1));
            self.header.extend_from_slice(&taken);
            if end.is_none() {
                return Ok(None);
            }
            let header = std::mem::take(&mut self.header);
            let size = size(&header).ok_or_else(|| GitError::Unreadable("cat-file".into()))?;
            self.left = size.checked_add(1);
            return Ok(Some(Part::Content(Content::Begins(size))));
        };
        if left == 1 {
            let _ = bytes.split_to(1);
            self.left = None;
            return Ok(Some(Part::Ends));
        }
        let here = usize::try_from(left - 1).unwrap_or(usize::MAX).min(bytes.len());
        self.left = Some(left - here as u64);
        Ok(Some(Part::Content(Content::Bytes(bytes.split_to(here)))))
    }
}

/// The size in `NAME blob SIZE`.
fn size(header: &[u8]) -> Option<u64> {
    let header = str::from_utf8(header.strip_suffix(b"\n")?).ok()?;
    let mut parts = header.split(' ').skip(1);
    (parts.next()? == "blob").then_some(())?;
    parts.next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn answers_are_read_however_they_are_cut(
            objects in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..6),
            cut in 1_usize..30,
        ) {
            let mut printed = Vec::new();
            for object in &objects {
                printed.extend(format!("{} blob {}\n", "0".repeat(40), object.len()).bytes());
                printed.extend(object);
                printed.push(b'\n');
            }
            let (mut answer, mut seen, mut ended) = (Answer::default(), Vec::new(), 0);
            for piece in printed.chunks(cut) {
                let mut piece = Bytes::copy_from_slice(piece);
                while !piece.is_empty() {
                    match answer.take(&mut piece).unwrap() {
                        Some(Part::Content(Content::Begins(_))) => seen.push(Vec::new()),
                        Some(Part::Content(Content::Bytes(bytes))) => {
                            seen.last_mut().unwrap().extend_from_slice(&bytes);
                        }
                        Some(Part::Ends) => ended += 1,
                        None => {}
                    }
                }
            }
            prop_assert_eq!(ended, objects.len());
            prop_assert_eq!(seen, objects);
        }

        #[test]
        fn nonsense_is_refused(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let mut bytes = Bytes::from(bytes);
            let mut answer = Answer::default();
            while !bytes.is_empty() && answer.take(&mut bytes).is_ok() {}
        }
    }
}
