//! Where bytes come from and go to: Unix sockets, TCP, WebSockets, the process's own stdio, and memory.
//! Owns who may connect; knows no framing.

pub mod http;
pub mod memory;
mod reserve;
pub mod stdio;
pub mod tcp;
mod unauthenticated;
pub mod unix;
pub mod ws;

use std::{
    future::Future,
    io,
    os::fd::AsFd,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::{
    io::{AsyncRead, AsyncWrite, DuplexStream, Join},
    net::{TcpStream, UnixStream},
    sync::{OwnedSemaphorePermit, Semaphore},
};

use crate::connection::Outcome;

/// Both directions of one connection.
pub trait Transport: AsyncRead + AsyncWrite + Send + Unpin + 'static {
    /// True if it is known that the peer will neither send nor read any more.
    ///
    /// A peer that only stopped sending is not gone: it may wait for replies.
    fn peer_gone(&self) -> bool {
        false
    }

    /// The process at the other side, if the system tells.
    fn peer_pid(&self) -> Option<u32> {
        None
    }

    /// Called once, when the protocol has admitted the peer.
    fn admitted(&mut self) {}

    /// Tells the peer that and why the connection ends, where there is a way to say it. Called
    /// again until it is ready, but not for longer than the connection lingers.
    fn poll_farewell(&mut self, _cx: &mut Context<'_>, _outcome: &Outcome) -> Poll<()> {
        Poll::Ready(())
    }
}

impl Transport for DuplexStream {}

impl Transport for Box<dyn Transport> {
    fn peer_gone(&self) -> bool {
        (**self).peer_gone()
    }

    fn peer_pid(&self) -> Option<u32> {
        (**self).peer_pid()
    }

    fn admitted(&mut self) {
        (**self).admitted();
    }

    fn poll_farewell(&mut self, cx: &mut Context<'_>, outcome: &Outcome) -> Poll<()> {
        (**self).poll_farewell(cx, outcome)
    }
}

impl<R, W> Transport for Join<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
}

impl Transport for UnixStream {
    fn peer_gone(&self) -> bool {
        hung_up(self)
    }
}

impl Transport for TcpStream {
    fn peer_gone(&self) -> bool {
        hung_up(self)
    }
}

fn hung_up(socket: &impl AsFd) -> bool {
    let mut fds = [PollFd::new(socket, PollFlags::empty())];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut fds, Some(&now)).is_ok()
        && fds[0].revents().intersects(PollFlags::HUP | PollFlags::ERR)
}

/// Counts the open connections of an endpoint.
#[derive(Debug, Clone)]
struct Slots(Arc<Semaphore>);

/// One open connection; free again when dropped.
type Slot = OwnedSemaphorePermit;

impl Slots {
    fn new(limit: usize) -> Self {
        Self(Arc::new(Semaphore::new(limit.min(Semaphore::MAX_PERMITS))))
    }

    fn take(&self) -> Option<Slot> {
        Arc::clone(&self.0).try_acquire_owned().ok()
    }
}

/// Accepts until it works. Running out of descriptors or memory is waited out instead of spun on,
/// since the connection that could not be accepted stays in the queue and wakes us at once.
async fn accept_patiently<T, F: Future<Output = io::Result<T>>>(
    mut accept: impl FnMut() -> F,
) -> io::Result<T> {
    const LONGEST: Duration = Duration::from_secs(1);
    let mut pause = Duration::from_millis(10);
    loop {
        let error = match accept().await {
            Ok(accepted) => return Ok(accepted),
            Err(error) => error,
        };
        match error.raw_os_error().map(rustix::io::Errno::from_raw_os_error) {
            Some(
                rustix::io::Errno::BADF | rustix::io::Errno::INVAL | rustix::io::Errno::NOTSOCK,
            ) => {
                return Err(error);
            }
            Some(rustix::io::Errno::CONNABORTED | rustix::io::Errno::INTR) => {}
            _ => {
                tracing::warn!(%error, ?pause, "cannot accept, trying again");
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(LONGEST);
            }
        }
    }
}

/// Passes reading and writing through to a field.
macro_rules! delegate_io {
    ($type:ty, $field:ident) => {
        impl tokio::io::AsyncRead for $type {
            fn poll_read(
                mut self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                buf: &mut tokio::io::ReadBuf<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                std::pin::Pin::new(&mut self.$field).poll_read(cx, buf)
            }
        }

        impl tokio::io::AsyncWrite for $type {
            fn poll_write(
                mut self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                buf: &[u8],
            ) -> std::task::Poll<std::io::Result<usize>> {
                std::pin::Pin::new(&mut self.$field).poll_write(cx, buf)
            }

            fn poll_flush(
                mut self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                std::pin::Pin::new(&mut self.$field).poll_flush(cx)
            }

            fn poll_shutdown(
                mut self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                std::pin::Pin::new(&mut self.$field).poll_shutdown(cx)
            }
        }
    };
}
use delegate_io;

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn accept_waits_out_a_shortage_but_not_a_broken_listener() {
        let attempts = Cell::new(0);
        let accepted = accept_patiently(|| {
            attempts.set(attempts.get() + 1);
            let errno = if attempts.get() < 4 { Some(rustix::io::Errno::MFILE) } else { None };
            std::future::ready(errno.map_or(Ok(()), |errno| Err(errno.into())))
        });
        accepted.await.unwrap();
        assert_eq!(attempts.get(), 4);

        let broken =
            accept_patiently(|| std::future::ready(Err::<(), _>(rustix::io::Errno::BADF.into())));
        assert!(broken.await.is_err());
    }

    #[tokio::test]
    async fn a_peer_is_gone_only_when_it_closed_both_ways() {
        use tokio::io::AsyncWriteExt as _;

        let (mut near, far) = UnixStream::pair().unwrap();
        assert!(!far.peer_gone());
        near.shutdown().await.unwrap();
        assert!(!far.peer_gone());
        drop(near);
        assert!(far.peer_gone());
    }
}
