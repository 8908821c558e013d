//! Reads both outputs of a program, as fast as they are taken.

use std::os::fd::AsFd;
use std::time::Duration;

use bytes::Bytes;
use rustix::io::Errno;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Child;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, timeout_at};

use super::{ProgramEnd, ProgramStream};

/// How large a piece of output is at most.
pub const MAX_CHUNK: usize = 64 << 10;
/// How long outputs that others hold open are read after the end of a program.
const ORPHANS_LIMIT: Duration = Duration::from_millis(250);
/// What a pipe can hold at most, as an unprivileged user may set it.
const MAX_LEFT: usize = 1 << 20;

type Chunks = mpsc::Sender<(ProgramStream, Bytes)>;
type Ended = watch::Receiver<Option<ProgramEnd>>;

/// Starts reading both outputs.
pub(super) fn start(child: &mut Child, chunks: &Chunks, ended: &Ended) {
    if let Some(pipe) = child.stdout.take() {
        tokio::spawn(pump(pipe, ProgramStream::Stdout, chunks.clone(), ended.clone()));
    }
    if let Some(pipe) = child.stderr.take() {
        tokio::spawn(pump(pipe, ProgramStream::Stderr, chunks.clone(), ended.clone()));
    }
}

/// Reads one output until it is closed, its receiver is dropped, or its program is gone.
async fn pump<P: AsyncRead + AsFd + Unpin>(
    mut pipe: P,
    stream: ProgramStream,
    chunks: Chunks,
    mut ended: Ended,
) {
    let mut buffer = vec![0; MAX_CHUNK];
    loop {
        let read = tokio::select! {
            read = pipe.read(&mut buffer) => read,
            _ = ended.wait_for(Option::is_some) => break,
            () = chunks.closed() => return,
        };
        let Ok(got @ 1..) = read else { return };
        if chunks.send((stream, Bytes::copy_from_slice(&buffer[..got]))).await.is_err() {
            return;
        }
    }
    let until = Instant::now() + ORPHANS_LIMIT;
    let Some(left) = take_left(&pipe, &mut buffer) else { return };
    for piece in left {
        if chunks.send((stream, piece)).await.is_err() {
            return;
        }
    }
    while let Ok(Ok(got @ 1..)) = timeout_at(until, pipe.read(&mut buffer)).await {
        if chunks.send((stream, Bytes::copy_from_slice(&buffer[..got]))).await.is_err() {
            return;
        }
        // Reading may always find something when others go on writing.
        if Instant::now() >= until {
            return;
        }
    }
}

/// Takes what lies in a pipe, asking the kernel itself: the runtime may not have heard of it yet.
fn take_left(pipe: &impl AsFd, buffer: &mut [u8]) -> Option<Vec<Bytes>> {
    let mut left = Vec::new();
    let mut taken = 0;
    while taken < MAX_LEFT {
        match rustix::io::read(pipe, &mut *buffer) {
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => break,
            Ok(got @ 1..) => {
                left.push(Bytes::copy_from_slice(&buffer[..got]));
                taken += got;
            }
            Ok(0) | Err(_) if left.is_empty() => return None,
            Ok(0) | Err(_) => break,
        }
    }
    Some(left)
}
