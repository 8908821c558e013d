//! One connection: requests in, answers out, until it ends or its peer is let in.

use std::{
    convert::Infallible,
    future::poll_fn,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::{
    Response,
    body::{Body as _, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    time::timeout,
};

use super::{
    Answer, Carrier, Head, Limits, Reply, Request, Site,
    strict::{MAX_HEAD, Strict},
};
use crate::transport::{Slot, Slots, ws::Socket};

/// Most header lines in it.
const MAX_HEADERS: usize = 64;
/// Bytes read and thrown away after an answer, so that closing does not take it from the peer.
const MAX_DRAIN: usize = 64 * 1024;

/// The ends of a connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ends {
    pub(super) peer: SocketAddr,
    pub(super) local: SocketAddr,
    pub(super) is_encrypted: bool,
}

/// What every request of a connection is answered with.
struct Answerer<S: Site> {
    site: Arc<S>,
    ends: Ends,
    limits: Limits,
    slots: Slots,
    /// The place and the name of the peer, once it was let in.
    entered: Mutex<Option<(Slot, S::Guest)>>,
}

/// Serves a connection; yields its peer if that was let in.
pub(super) async fn serve<S: Site>(
    carrier: Carrier,
    ends: Ends,
    site: Arc<S>,
    limits: Limits,
    slots: Slots,
) -> Option<(Socket, S::Guest)> {
    let answerer = Arc::new(Answerer { site, ends, limits, slots, entered: Mutex::new(None) });
    let service = {
        let answerer = Arc::clone(&answerer);
        service_fn(move |request| {
            let answerer = Arc::clone(&answerer);
            Box::pin(async move { Ok::<_, Infallible>(answerer.answer(request).await) })
        })
    };
    let mut connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.handshake_time)
        .half_close(true)
        .title_case_headers(true)
        .max_buf_size(MAX_HEAD)
        .max_headers(MAX_HEADERS)
        .serve_connection(TokioIo::new(Strict::new(carrier)), service);
    let ended = poll_fn(|cx| connection.poll_without_shutdown(cx)).await;
    let parts = connection.into_parts();
    let (mut carrier, unread) = parts.io.into_inner().into_parts();
    let entered = answerer.entered.lock().unwrap_or_else(PoisonError::into_inner).take();
    match entered {
        Some((slot, guest)) if ended.is_ok() => {
            let rest = [&parts.read_buf[..], &unread].concat();
            Some((Socket::new(carrier, rest, ends.peer, slot).await, guest))
        }
        _ => {
            let _ = timeout(limits.handshake_time, part(&mut carrier)).await;
            None
        }
    }
}

/// Waits, within a bound, until the peer has seen that the answer was the last word.
async fn part(carrier: &mut Carrier) {
    if carrier.shutdown().await.is_err() {
        return;
    }
    let mut scrap = [0; 4096];
    let mut drained = 0;
    while drained < MAX_DRAIN {
        match carrier.read(&mut scrap).await {
            Ok(0) | Err(_) => return,
            Ok(count) => drained += count,
        }
    }
}

impl<S: Site> Answerer<S> {
    async fn answer(&self, request: hyper::Request<Incoming>) -> Response<Full<Bytes>> {
        let reply = match self.whole(request).await {
            Ok(request) => self.site.answer(request).await,
            Err(answer) => return self.refuse(answer),
        };
        let answer = match reply {
            Reply::Answer(answer) if self.limits.stay.is_some() => answer,
            // Said here, since hyper would say it to peers that are let in as well.
            Reply::Answer(answer) => answer.with("Connection", "close"),
            Reply::Enter(handshake, guest) => match self.slots.take() {
                Some(slot) => {
                    let place = (slot, guest);
                    *self.entered.lock().unwrap_or_else(PoisonError::into_inner) = Some(place);
                    handshake.answer()
                }
                None => {
                    let busy = Answer::text(503, "too many connections\n");
                    return self.refuse(busy.with("Retry-After", 1));
                }
            },
        };
        answer.into_response()
    }

    fn refuse(&self, answer: Answer) -> Response<Full<Bytes>> {
        self.site.refuse(answer).with("Connection", "close").into_response()
    }

    /// The request with its body, if it is one that may be looked at.
    async fn whole(&self, request: hyper::Request<Incoming>) -> Result<Request, Answer> {
        let (parts, body) = request.into_parts();
        let malformed = || Answer::text(400, "malformed request\n");
        let head = Head::read(&parts).ok_or_else(malformed)?;
        let body = match self.limits.body {
            0 => Bytes::new(),
            most => {
                // A proxy in front may read such a request otherwise than we do.
                if !body.is_end_stream() && head.method != "POST" {
                    return Err(malformed());
                }
                let whole = Limited::new(body, most).collect();
                match timeout(self.limits.handshake_time, whole).await {
                    Ok(Ok(body)) => body.to_bytes(),
                    Ok(Err(_)) => return Err(Answer::text(413, "request body is too long\n")),
                    Err(_) => return Err(Answer::text(408, "request body is too slow\n")),
                }
            }
        };
        let Ends { peer, local, is_encrypted } = self.ends;
        Ok(Request { head, body, peer, local, is_encrypted })
    }
}
