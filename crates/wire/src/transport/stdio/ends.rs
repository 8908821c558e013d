//! Pipes and sockets that others may share, without blocking and without a thread.
//!
//! `O_NONBLOCK` belongs to the open file description, which the parent process may use
//! as well, so it is never set on one that was given to us: a pipe is opened a second time, and a
//! socket is asked not to block call by call.

use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    pin::Pin,
    task::{Context, Poll, ready},
};

use rustix::{
    fs::{FileType, Mode, OFlags, fcntl_getfl, fstat, open},
    io::Errno,
    net::{RecvFlags, SendFlags, SocketType, recv, send, sockopt::socket_type},
    pipe::{fcntl_getpipe_size, fcntl_setpipe_size},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, Interest, ReadBuf, unix::AsyncFd},
    net::unix::pipe,
};

/// Where bytes come from.
pub(super) type Input = Box<dyn AsyncRead + Send + Unpin>;

/// Where bytes go to.
pub(super) type Output = Box<dyn AsyncWrite + Send + Unpin>;

/// What a pipe usually holds.
const USUAL_PIPE: usize = 64 * 1024;

/// What a pipe is asked to hold once more than usual is written; without privileges it is the most.
const LARGE_PIPE: usize = 1024 * 1024;

/// The reading side of a pipe or a socket; fails for everything else.
pub(super) fn input(fd: BorrowedFd<'_>) -> io::Result<Input> {
    Ok(match kind(fd)? {
        Kind::Pipe => {
            let again = reopen(fd, OFlags::RDONLY)?;
            Box::new(PipeInput(pipe::Receiver::from_owned_fd_unchecked(again)?))
        }
        Kind::Socket => Box::new(Socket::new(fd, Interest::READABLE)?),
    })
}

/// The writing side of a pipe or a socket; fails for everything else.
pub(super) fn output(fd: BorrowedFd<'_>) -> io::Result<Output> {
    Ok(match kind(fd)? {
        Kind::Pipe => {
            let again = reopen(fd, OFlags::WRONLY)?;
            let pipe = pipe::Sender::from_owned_fd_unchecked(again)?;
            Box::new(PipeOutput { pipe, is_sized: false })
        }
        Kind::Socket => Box::new(Socket::new(fd, Interest::WRITABLE)?),
    })
}

enum Kind {
    Pipe,
    Socket,
}

fn kind(fd: BorrowedFd<'_>) -> io::Result<Kind> {
    match FileType::from_raw_mode(fstat(fd)?.st_mode) {
        FileType::Fifo => Ok(Kind::Pipe),
        FileType::Socket if socket_type(fd)? == SocketType::STREAM => Ok(Kind::Socket),
        _ => Err(io::ErrorKind::Unsupported.into()),
    }
}

/// A pipe once more, with flags of its own. Fails also where `/proc` is missing or a named pipe is
/// not ours to open, and for the wrong end of a pipe, of which opening would make the right one.
fn reopen(fd: BorrowedFd<'_>, mode: OFlags) -> io::Result<OwnedFd> {
    let given = fcntl_getfl(fd)? & OFlags::RWMODE;
    if given != mode && given != OFlags::RDWR {
        return Err(Errno::BADF.into());
    }
    let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&fd));
    Ok(open(path, mode | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?)
}

struct PipeInput(pipe::Receiver);

impl AsyncRead for PipeInput {
    /// Reads before it waits: a named pipe whose writers were gone when it was opened again has
    /// its end to read, but is never reported ready.
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match rustix::io::read(self.0.as_fd(), buf.initialize_unfilled()) {
            Ok(count) => buf.advance(count),
            Err(Errno::AGAIN) => return Pin::new(&mut self.0).poll_read(cx, buf),
            Err(error) => return Poll::Ready(Err(error.into())),
        }
        Poll::Ready(Ok(()))
    }
}

struct PipeOutput {
    pipe: pipe::Sender,
    /// Whether it was made larger, or that was tried.
    is_sized: bool,
}

impl AsyncWrite for PipeOutput {
    /// The pipe grows only for those who need it, since what all pipes of a user hold is bounded.
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        if buf.len() > USUAL_PIPE && !self.is_sized {
            self.is_sized = true;
            enlarge(self.pipe.as_fd());
        }
        Pin::new(&mut self.pipe).poll_write(cx, buf)
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

fn enlarge(pipe: BorrowedFd<'_>) {
    if fcntl_getpipe_size(pipe).is_ok_and(|size| size < LARGE_PIPE) {
        // It may be refused; then it takes more writes.
        let _ = fcntl_setpipe_size(pipe, LARGE_PIPE);
    }
}

/// One direction of a socket.
struct Socket(AsyncFd<OwnedFd>);

impl Socket {
    #[expect(
        unsafe_code,
        reason = "registering a descriptor with the reactor is a promise about its lifetime"
    )]
    fn new(fd: BorrowedFd<'_>, interest: Interest) -> io::Result<Socket> {
        // The other direction may be the same socket, which can be registered once by its number.
        let own = rustix::io::fcntl_dupfd_cloexec(fd, 3)?;
        // SAFETY: the descriptor is owned by what is registered, which gives out the same one as long as it lives.
        let registered = unsafe { AsyncFd::register_with_interest(own, interest) };
        Ok(Socket(registered.map_err(io::Error::from)?))
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            let mut guard = ready!(self.0.poll_read_ready(cx))?;
            let received = guard.try_io(|socket| {
                let room = buf.initialize_unfilled();
                Ok(recv(socket.get_ref(), room, RecvFlags::DONTWAIT)?.1)
            });
            if let Ok(received) = received {
                return Poll::Ready(received.map(|count| buf.advance(count)));
            }
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        loop {
            let mut guard = ready!(self.0.poll_write_ready(cx))?;
            if let Ok(sent) = guard.try_io(|socket| Ok(send(socket.get_ref(), buf, flags)?)) {
                return Poll::Ready(sent);
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use std::{
        fs::File,
        io::{Read as _, Write as _},
        os::unix::net::UnixStream,
        thread,
    };

    use rustix::{
        fs::{CWD, mknodat},
        pipe::pipe,
    };
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    /// More than any pipe or socket holds.
    const BIG: usize = 5 << 20;

    fn big() -> Vec<u8> {
        (0..BIG).map(|at| (at % 251) as u8).collect()
    }

    fn is_blocking(fd: &impl AsFd) -> bool {
        !fcntl_getfl(fd).unwrap().contains(OFlags::NONBLOCK)
    }

    /// Sends a lot through both ends; the peers block, and so do the descriptors that were given.
    async fn carry(
        (given_in, mut peer_in): (OwnedFd, File),
        (given_out, mut peer_out): (OwnedFd, File),
    ) {
        let mut from = input(given_in.as_fd()).unwrap();
        let mut to = output(given_out.as_fd()).unwrap();
        let writer = thread::spawn(move || peer_in.write_all(&big()));
        let reader = thread::spawn(move || {
            let mut got = vec![0; BIG];
            peer_out.read_exact(&mut got).map(|()| got)
        });
        let mut got = Vec::new();
        from.read_to_end(&mut got).await.unwrap();
        to.write_all(&got).await.unwrap();
        writer.join().unwrap().unwrap();
        assert!(reader.join().unwrap().unwrap() == big());
        assert!(is_blocking(&given_in) && is_blocking(&given_out));
        // Their reader is gone.
        let error = to.write_all(&[0; 16]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }

    #[tokio::test]
    async fn pipes_carry_everything_and_keep_their_flags() {
        let (given_in, peer_in) = pipe().unwrap();
        let (peer_out, given_out) = pipe().unwrap();
        carry((given_in, peer_in.into()), (given_out, peer_out.into())).await;
    }

    #[tokio::test]
    async fn sockets_carry_everything_and_keep_their_flags() {
        let pair = || {
            let (given, peer) = UnixStream::pair().unwrap();
            (OwnedFd::from(given), File::from(OwnedFd::from(peer)))
        };
        carry(pair(), pair()).await;
    }

    #[tokio::test]
    async fn one_socket_can_be_both_ends() {
        let (given, mut peer) = UnixStream::pair().unwrap();
        let mut from = input(given.as_fd()).unwrap();
        let mut to = output(given.as_fd()).unwrap();
        peer.write_all(b"there").unwrap();
        let mut got = [0; 5];
        from.read_exact(&mut got).await.unwrap();
        to.write_all(b"back").await.unwrap();
        peer.read_exact(&mut got[..4]).unwrap();
        assert_eq!(&got, b"backe");
        peer.shutdown(std::net::Shutdown::Write).unwrap();
        assert_eq!(from.read(&mut got).await.unwrap(), 0);
        to.write_all(b"still").await.unwrap();
        peer.read_exact(&mut got).unwrap();
        assert_eq!(&got, b"still");
    }

    #[tokio::test]
    async fn a_named_pipe_ends_even_if_its_writer_was_gone_before_us() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("fifo");
        mknodat(CWD, &path, FileType::Fifo, Mode::RWXU, 0).unwrap();
        let mut writer = File::options().read(true).write(true).open(&path).unwrap();
        let given = File::open(&path).unwrap();
        writer.write_all(b"last words").unwrap();
        drop(writer);
        let mut got = String::new();
        input(given.as_fd()).unwrap().read_to_string(&mut got).await.unwrap();
        assert_eq!(got, "last words");
    }

    #[tokio::test]
    async fn a_pipe_grows_when_much_is_written_and_never_shrinks() {
        let (_reader, writer) = pipe().unwrap();
        let mut to = output(writer.as_fd()).unwrap();
        let size = || fcntl_getpipe_size(&writer).unwrap();
        let before = size();
        to.write_all(b"little").await.unwrap();
        assert_eq!(size(), before);
        let count = to.write(&big()).await.unwrap();
        assert!(size() >= before && count <= size());
        let after = size();
        enlarge(writer.as_fd());
        assert_eq!(size(), after);
    }

    #[tokio::test]
    async fn files_devices_and_wrong_ends_are_left_to_others() {
        let file = tempfile::tempfile().unwrap();
        let null = File::options().read(true).write(true).open("/dev/null").unwrap();
        for fd in [file.as_fd(), null.as_fd()] {
            assert!(input(fd).is_err() && output(fd).is_err());
        }
        let (reader, writer) = pipe().unwrap();
        assert!(input(writer.as_fd()).is_err() && output(reader.as_fd()).is_err());
        let (packets, _) = rustix::net::socketpair(
            rustix::net::AddressFamily::UNIX,
            SocketType::SEQPACKET,
            rustix::net::SocketFlags::CLOEXEC,
            None,
        )
        .unwrap();
        assert!(input(packets.as_fd()).is_err() && output(packets.as_fd()).is_err());
    }
}
