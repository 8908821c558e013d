//! Exchanges over memory, with time that stands still.

use tokio::io::DuplexStream;

use super::*;
use crate::transport::memory;

async fn echo(request: Result<Bytes, NoRequest>) -> Vec<u8> {
    match request {
        Ok(bytes) => [b"got ", &bytes[..]].concat(),
        Err(error) => error.to_string().into_bytes(),
    }
}

fn serve(limits: Limits) -> (DuplexStream, tokio::task::JoinHandle<Outcome>) {
    let (near, far) = memory::pair();
    (near, tokio::spawn(serve_exchange(far, limits, echo)))
}

async fn all(mut near: DuplexStream) -> String {
    let mut reply = Vec::new();
    near.read_to_end(&mut reply).await.unwrap();
    String::from_utf8(reply).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_complete_object_is_answered_though_the_peer_keeps_its_side_open() {
    let (mut near, served) = serve(Limits::default());
    for byte in "{\n \"a\": \"}é\"\n}".as_bytes() {
        near.write_all(&[*byte]).await.unwrap();
    }
    assert_eq!(all(near).await, "got {\n \"a\": \"}é\"\n}");
    assert!(matches!(served.await.unwrap(), Outcome::Answered));
}

#[tokio::test(start_paused = true)]
async fn the_end_of_sending_ends_a_request_that_is_not_complete() {
    let (mut near, _served) = serve(Limits::default());
    near.write_all(b"{\"a\":").await.unwrap();
    near.shutdown().await.unwrap();
    assert_eq!(all(near).await, "got {\"a\":");
}

#[tokio::test(start_paused = true)]
async fn a_half_request_is_answered_when_its_time_is_over_and_silence_is_not() {
    let (mut near, _served) = serve(Limits::default());
    near.write_all(b"{").await.unwrap();
    assert_eq!(all(near).await, "the request was not complete after 10 s");
    let (near, served) = serve(Limits::default());
    assert_eq!(all(near).await, "");
    assert!(matches!(served.await.unwrap(), Outcome::Silent));
}

#[tokio::test(start_paused = true)]
async fn a_request_over_the_limit_is_refused_and_the_reply_arrives() {
    let (mut near, _served) = serve(Limits { request: 8, ..Limits::default() });
    near.write_all(b"{\"aaaaaaaaaaaaaaaa\":").await.unwrap();
    assert_eq!(all(near).await, "the request is longer than 8 bytes");
}

#[tokio::test(start_paused = true)]
async fn who_does_not_read_is_let_go() {
    let (near, far) = memory::pair();
    let answer = async |_| vec![b'x'; 1 << 20];
    let served = tokio::spawn(serve_exchange(far, Limits::default(), answer));
    let (_reading, mut writing) = tokio::io::split(near);
    writing.write_all(b"{}").await.unwrap();
    assert!(matches!(served.await.unwrap(), Outcome::Io(_)));
}
