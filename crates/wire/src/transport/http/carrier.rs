//! What carries the bytes of a connection: a TCP stream, encrypted or not.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};
use tokio_rustls::server::TlsStream;

/// A stream of bytes to a peer.
pub(crate) enum Carrier {
    Plain(TcpStream),
    Encrypted(Box<TlsStream<TcpStream>>),
}

impl Carrier {
    /// The stream below.
    pub(crate) fn tcp(&self) -> &TcpStream {
        match self {
            Carrier::Plain(stream) => stream,
            Carrier::Encrypted(stream) => stream.get_ref().0,
        }
    }
}

impl AsyncRead for Carrier {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Carrier::Plain(stream) => Pin::new(stream).poll_read(cx, buf),
            Carrier::Encrypted(stream) => Pin::new(stream).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Carrier {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Carrier::Plain(stream) => Pin::new(stream).poll_write(cx, buf),
            Carrier::Encrypted(stream) => Pin::new(stream).poll_write(cx, buf),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Carrier::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Carrier::Encrypted(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Carrier::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Carrier::Encrypted(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
