//! Bytes and descriptors over a Unix stream socket; shared by both ends. Knows nothing of frames.
//! Descriptors ride with the first byte of the message they belong to, so their order is that of the frames.

use std::collections::VecDeque;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

use crate::protocol::MAX_FDS;

/// What came with a message.
pub(crate) enum ReceivedFd {
    /// A descriptor.
    Fd(OwnedFd),
    /// All descriptors of one message: there were too many, or this process has no number left for one of them.
    /// The bytes came.
    Lost,
}

const ANCILLARY: usize = rustix::cmsg_space!(ScmRights(MAX_FDS));

/// Sends some of `bytes`, and all of `fds` if anything is sent.
pub(crate) fn send_some(
    socket: impl AsFd,
    bytes: &[u8],
    fds: &[BorrowedFd<'_>],
) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); ANCILLARY];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !fds.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(fds)) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "too many descriptors for one message",
        ));
    }
    loop {
        match sendmsg(&socket, &[IoSlice::new(bytes)], &mut ancillary, SendFlags::NOSIGNAL) {
            Err(rustix::io::Errno::INTR) => {}
            other => return Ok(other?),
        }
    }
}

/// Receives some bytes into `buffer` and appends descriptors to `fds`; 0 is end of stream.
pub(crate) fn recv_some(
    socket: impl AsFd,
    buffer: &mut [u8],
    fds: &mut VecDeque<ReceivedFd>,
) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); ANCILLARY];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let message = loop {
        let mut slices = [IoSliceMut::new(buffer)];
        match recvmsg(&socket, &mut slices, &mut ancillary, RecvFlags::CMSG_CLOEXEC) {
            Err(rustix::io::Errno::INTR) => {}
            other => break other?,
        }
    };
    let mut received = Vec::new();
    for part in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(some) = part {
            received.extend(some);
        }
    }
    if message.flags.contains(ReturnFlags::CTRUNC) {
        // One call never returns the descriptors of two messages, so these belong together.
        fds.push_back(ReceivedFd::Lost);
    } else {
        fds.extend(received.into_iter().map(ReceivedFd::Fd));
    }
    Ok(message.bytes)
}
