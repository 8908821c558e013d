//! Peers that have to say who they are have little time for it and little room; afterwards they have both.

use std::future::Ready;

use super::*;
use crate::{Protocol, Step, framing::FrameError};

/// Echoes once it was told the word.
struct Shy {
    is_told: bool,
}

impl Protocol for Shy {
    type Reply = Vec<u8>;
    type Call = Ready<Vec<u8>>;

    fn accept(&mut self, frame: &[u8]) -> Step<Self> {
        match (self.is_told, frame) {
            (true, frame) => Step::Reply(frame.to_vec()),
            (false, b"sesame") => {
                self.is_told = true;
                Step::Skip
            }
            (false, _) => Step::Close(None, Outcome::Cut("wrong".into())),
        }
    }

    fn bad_frame(&mut self, error: FrameError) -> Step<Self> {
        Step::Close(None, Outcome::Framing(error))
    }

    fn overloaded(&mut self, frame: &[u8], _: usize) -> Step<Self> {
        self.accept(frame)
    }

    fn encode(&mut self, reply: Vec<u8>, out: &mut Vec<u8>) {
        out.extend_from_slice(&reply);
    }

    fn is_admitted(&self) -> bool {
        self.is_told
    }
}

fn serve_shy() -> (DuplexStream, JoinHandle<Outcome>) {
    let (near, far) = memory::pair();
    let serving =
        serve_connection(far, Ndjson::default(), Options::default(), |_| Shy { is_told: false });
    (near, tokio::spawn(serving))
}

#[tokio::test(start_paused = true)]
async fn attack_a_silent_stranger_is_cut_off() {
    let (mut near, serving) = serve_shy();
    // A byte now and then is not an answer.
    near.write_all(b"ses").await.unwrap();
    let outcome = serving.await.unwrap();
    assert_eq!(outcome.to_string(), "connection cut off: peer did not say in time who it is");
    drop(near);
}

#[tokio::test(start_paused = true)]
async fn attack_a_stranger_may_not_send_much() {
    let long = vec![b'x'; Options::default().admission.frame + 1];
    let whole = [&long[..], b"\n"].concat();
    for sent in [&long, &whole] {
        let (mut near, serving) = serve_shy();
        // The rest is not taken any more.
        let _ = near.write_all(sent).await;
        let outcome = serving.await.unwrap().to_string();
        assert!(outcome.contains("too much before it says who it is"), "{outcome}");
    }
}

#[tokio::test(start_paused = true)]
async fn who_was_admitted_may_take_its_time_and_say_much() {
    let (near, serving) = serve_shy();
    let (read, mut write) = tokio::io::split(near);
    let long = "y".repeat(200 * 1024);
    let sending = tokio::spawn(async move {
        // In one go, so that the long line is there before the word was heard.
        write.write_all(format!("sesame\n{long}\n").as_bytes()).await.unwrap();
        tokio::time::advance(Duration::from_secs(3600)).await;
        write.write_all(b"later\n").await.unwrap();
        write
    });
    let mut lines = BufReader::new(read).lines();
    assert_eq!(lines.next_line().await.unwrap().unwrap().len(), 200 * 1024);
    assert_eq!(lines.next_line().await.unwrap().unwrap(), "later");
    sending.await.unwrap().shutdown().await.unwrap();
    assert!(matches!(serving.await.unwrap(), Outcome::PeerClosed));
}
