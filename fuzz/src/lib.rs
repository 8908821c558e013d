//! What the fuzz targets share: cutting an input into the pieces in which it arrives, and asking an
//! endpoint for its answer.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use bytes::BytesMut;
use rookery_wire::framing::{Frame, FrameError, Framing};
use rookery_wire::rpc::JsonRpc;
use rookery_wire::{Protocol as _, Step};

/// What an endpoint answers, if anything; its methods must have nothing to wait for.
pub fn reply(mut endpoint: JsonRpc, frame: &[u8]) -> Option<Vec<u8>> {
    let reply = match endpoint.accept(frame) {
        Step::Skip => return None,
        Step::Reply(reply) => reply,
        Step::Call(call) => match pin!(call).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(reply) => reply,
            Poll::Pending => panic!("echo has nothing to wait for"),
        },
        Step::Close(reply, _) => reply?,
    };
    let mut out = Vec::new();
    endpoint.encode(reply, &mut out);
    (!out.is_empty()).then_some(out)
}

/// Splits off the first byte, which says how long the pieces are, and cuts the rest into them.
///
/// Returns the rest as a whole as well, to compare with what the pieces give.
pub fn cut(input: &[u8]) -> (&[u8], impl Iterator<Item = &[u8]>) {
    let (length, rest) = match input.split_first() {
        Some((first, rest)) => (1 + usize::from(*first), rest),
        None => (1, input),
    };
    (rest, rest.chunks(length))
}

/// Everything a framing says about a stream that arrives in `pieces` and then ends.
pub fn frames<'a>(
    mut framing: impl Framing,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> Vec<Result<Frame, FrameError>> {
    let mut buffer = BytesMut::new();
    let mut said = Vec::new();
    for piece in pieces {
        buffer.extend_from_slice(piece);
        while let Some(outcome) = framing.decode(&mut buffer).transpose() {
            said.push(outcome);
        }
    }
    while let Some(outcome) = framing.decode_eof(&mut buffer).transpose() {
        said.push(outcome);
    }
    assert!(buffer.is_empty(), "the end of the stream leaves nothing behind");
    said
}
