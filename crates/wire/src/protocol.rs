//! What a dialect supplies to the connection loop: how a frame becomes a call and a reply a frame.
//! Knows neither bytes on a socket nor any envelope.

use std::future::Future;

use crate::{connection::Outcome, framing::FrameError};

/// One side of a conversation, created for each connection.
///
/// The loop calls every method from the connection's own task, so none may block; work that waits
/// goes into [`Call`](Self::Call). A call is polled once right after [`accept`](Self::accept), and
/// if it is ready its reply is encoded without any hop to another task.
pub trait Protocol: Send + 'static {
    /// What a finished call yields; encoded later, straight into the write buffer.
    type Reply: Send;
    /// A request at work. Dropped when the connection ends.
    type Call: Future<Output = Self::Reply> + Send + Unpin + 'static;

    /// Takes one frame.
    fn accept(&mut self, frame: &[u8]) -> Step<Self>;

    /// Says what to do about a frame that could not be read.
    ///
    /// After a [fatal](FrameError::is_fatal) error the connection ends whatever the answer is; the
    /// reply, if any, is still sent.
    fn bad_frame(&mut self, error: FrameError) -> Step<Self>;

    /// Takes one frame that must not be started, because `limit` requests are already at work.
    fn overloaded(&mut self, frame: &[u8], limit: usize) -> Step<Self>;

    /// Appends the body of the reply to `out`; appending nothing sends no frame.
    ///
    /// Called exactly once per finished call, in the order in which replies go out.
    fn encode(&mut self, reply: Self::Reply, out: &mut Vec<u8>);

    /// Whether what is queued in the outbox goes out before this reply, also where
    /// [`Options::outbox_first`](crate::Options::outbox_first) is off.
    fn is_behind_outbox(&self, _reply: &Self::Reply) -> bool {
        false
    }

    /// Called after every call, when its reply (if it has one) is in the write buffer: what is
    /// queued in the outbox now goes out right behind it.
    fn replied(&mut self) {}

    /// Whether the peer has said who it is, if it has to. Until then it has little time and may send little, see
    /// [`Admission`](crate::admission::Admission).
    fn is_admitted(&self) -> bool {
        true
    }

    /// Whether the peer is still told things though it has said all it had to say: then the
    /// connection lasts until the peer is gone.
    fn is_listening(&self) -> bool {
        false
    }

    /// Called once, when the peer has said all it had to say and everything was answered: what is
    /// queued in the outbox now still goes out.
    fn ending(&mut self) {}
}

/// What becomes of a frame.
pub enum Step<P: Protocol + ?Sized> {
    /// Nothing to do and nothing to say.
    Skip,
    /// An answer that is known at once.
    Reply(P::Reply),
    /// A request that has begun.
    Call(P::Call),
    /// Send the reply, drop all calls and end the connection.
    Close(Option<P::Reply>, Outcome),
}
