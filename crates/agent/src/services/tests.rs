//! Servers that answer well, badly and not at all, on this machine.

use std::sync::Arc;

use rookery_host::http::Client;
use serde_json::{Map, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::*;

const KEY: &str = "sk-of-this-test-0123456789";

/// A server that answers one request; gives the request in the end.
async fn server(status: u16, body: String) -> (String, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let served = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut bytes = Vec::new();
        loop {
            let mut piece = [0; 4096];
            let count = stream.read(&mut piece).await.unwrap();
            bytes.extend_from_slice(&piece[..count]);
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let Some((head, rest)) = text.split_once("\r\n\r\n") else { continue };
            let length = head.lines().find_map(|line| {
                line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse::<usize>().ok()
            });
            if count == 0 || rest.len() >= length.unwrap_or(0) {
                break;
            }
        }
        let head = format!(
            "HTTP/1.1 {status} x\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(body.as_bytes()).await.unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    });
    (url, served)
}

/// What was sent, as JSON.
fn body(request: &str) -> Value {
    serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap()
}

fn service(base_url: String, variable: Option<&str>) -> Service {
    let settings = ServiceSettings {
        base_url,
        api_key_env: variable.map(str::to_owned),
        model: "tiny".to_owned(),
        dimensions: Some(2),
    };
    let environment: Environment = Arc::new(|name| (name == "TINY_KEY").then(|| KEY.to_owned()));
    Service::new(settings, environment, Client::new())
}

#[tokio::test]
async fn a_server_is_asked_for_vectors_with_its_key() {
    let answer = json!({"data": [{"index": 0, "embedding": [1, 0]}]}).to_string();
    let (url, served) = server(200, answer).await;
    let service = service(url, Some("TINY_KEY"));
    assert!(service.is_usable());
    assert_eq!(embed(&service, &["hello"]).await, Ok(vec![vec![1.0, 0.0]]));
    let asked = served.await.unwrap();
    assert!(asked.starts_with("POST /v1/embeddings "), "{asked}");
    assert!(asked.contains(&format!("authorization: Bearer {KEY}")), "{asked}");
    assert_eq!(body(&asked), json!({"dimensions": 2, "input": ["hello"], "model": "tiny"}));
}

#[tokio::test]
async fn what_goes_wrong_is_reported_without_the_key() {
    let refused = json!({"error": {"message": format!("bad key {KEY}")}}).to_string();
    let (url, _) = server(401, refused).await;
    let told = embed(&service(url, Some("TINY_KEY")), &["x"]).await.unwrap_err();
    assert_eq!(told, "the server answered 401 (Unauthorized): bad key [REDACTED]");
    let (url, _) = server(200, "no json".to_owned()).await;
    assert_eq!(embed(&service(url, None), &["x"]).await.unwrap_err(), "its answer is not JSON");
    let missing = service("http://127.0.0.1:1".to_owned(), Some("NO_SUCH_KEY"));
    assert!(!missing.is_usable());
    assert!(embed(&missing, &["x"]).await.unwrap_err().contains("set NO_SUCH_KEY"));
    let nowhere = service("http://127.0.0.1:1".to_owned(), None);
    assert!(embed(&nowhere, &["x"]).await.unwrap_err().starts_with("cannot connect"));
}

#[tokio::test]
async fn images_are_made_from_words_and_from_images() {
    let answer = json!({"data": [{"b64_json": "aGk="}]}).to_string();
    let (url, served) = server(200, answer.clone()).await;
    let options: Map<String, Value> =
        json!({"size": "1x1", "a\r\nb": 1}).as_object().cloned().unwrap();
    let wanted =
        ImageRequest { prompt: "a cat".to_owned(), count: 1, options, ..ImageRequest::default() };
    let made = make_images(&service(url, None), &wanted).await.unwrap();
    assert_eq!(made.images[0].bytes, b"hi");
    let asked = served.await.unwrap();
    assert!(asked.starts_with("POST /v1/images/generations "), "{asked}");
    let wanted_body = json!({"model": "tiny", "n": 1, "prompt": "a cat", "size": "1x1"});
    assert_eq!(body(&asked), wanted_body);
    let (url, served) = server(200, answer).await;
    let input = ImageInput { bytes: b"bytes".to_vec(), mime_type: "image/png".to_owned() };
    let wanted = ImageRequest { inputs: vec![input], model: Some("big".to_owned()), ..wanted };
    make_images(&service(url, None), &wanted).await.unwrap();
    let asked = served.await.unwrap();
    assert!(asked.starts_with("POST /v1/images/edits "), "{asked}");
    assert!(asked.contains("content-type: multipart/form-data; boundary=rookery-"), "{asked}");
    assert!(asked.contains("name=\"model\"\r\n\r\nbig\r\n"), "{asked}");
}
