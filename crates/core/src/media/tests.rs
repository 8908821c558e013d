//! Artifacts over a whole core: kept, shown, attached, deleted, made, and found again.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rookery_agent::settings::{ServiceSettings, Settings};
use rookery_agent::turn::Message;
use rookery_media::{Artifact, Kind, Strategy, fake_image};
use rookery_model::{ErrorKind, ItemBody, ThreadId};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::{ImageAction, MediaChange, MediaInput, NewImage, NewImageInput};
use crate::core::Core;
use crate::log::{News, NoticeBody, Subscription, Topics};
use crate::threads::tests::core_with;
use crate::threads::{NewThread, NewTurn, StartedTurn};

const PATIENCE: Duration = Duration::from_secs(20);

struct Bench {
    dir: tempfile::TempDir,
    core: Core,
    news: Subscription,
    seen: VecDeque<MediaChange>,
}

impl Bench {
    async fn new() -> Self {
        Self::with(Settings::default()).await
    }

    async fn with(settings: Settings) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let core = start(dir.path(), settings).await;
        let news = core.log().subscribe(Topics::NOTICES, None);
        Self { dir, core, news, seen: VecDeque::new() }
    }

    /// The same home with another daemon.
    async fn restarted(self) -> Self {
        self.core.stop(crate::StopKind::EndTerminals).await.unwrap();
        let core = start(self.dir.path(), Settings::default()).await;
        let news = core.log().subscribe(Topics::NOTICES, None);
        Self { core, news, seen: VecDeque::new(), ..self }
    }

    fn artifacts(&self) -> PathBuf {
        self.dir.path().join("artifacts")
    }

    fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.artifacts()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    async fn import(&self, bytes: &[u8]) -> Arc<Artifact> {
        self.core.media().import(MediaInput::Bytes(bytes.to_vec()), None, None).await.unwrap()
    }

    async fn thread(&self) -> ThreadId {
        let cwd = self.dir.path().canonicalize().unwrap();
        let new = NewThread { cwd, ..NewThread::default() };
        self.core.threads().start(new).await.unwrap().thread.id
    }

    /// Starts a turn, waits for its end, and gives the images that the user brought.
    async fn turn(&self, thread: ThreadId, message: Message) -> Vec<String> {
        let new = NewTurn { message, ..NewTurn::default() };
        let started = self.core.threads().start_turn(thread, new).await.unwrap();
        let StartedTurn::New(turn) = started else { panic!("a turn ran already") };
        let threads = self.core.threads();
        tokio::time::timeout(PATIENCE, threads.turn_ended(thread, turn.id)).await.unwrap();
        let live = threads.live(thread).await.unwrap();
        let items = live.read().items_of(turn.id);
        let images = items.into_iter().find_map(|item| match item.body {
            ItemBody::User { images, .. } => Some(images),
            _ => None,
        });
        images.unwrap_or_default()
    }

    async fn next(&mut self) -> MediaChange {
        loop {
            if let Some(seen) = self.seen.pop_front() {
                return seen;
            }
            let news = tokio::time::timeout(PATIENCE, self.news.next()).await.unwrap().unwrap();
            self.seen.extend(news.into_iter().filter_map(|news| match news {
                News::Notice(notice) => match &notice.body {
                    NoticeBody::Media(change) => Some((**change).clone()),
                    _ => None,
                },
                _ => None,
            }));
        }
    }
}

async fn start(home: &Path, settings: Settings) -> Core {
    let core = core_with(home, settings).await;
    let mut config = core.inner.config.clone();
    core.stop(crate::StopKind::EndTerminals).await.unwrap();
    config.agent.media_dir = Some(home.join("artifacts"));
    Core::start(config).await.unwrap()
}

fn said(text: &str) -> Message {
    Message { text: text.to_owned(), ..Message::default() }
}

fn script() -> Message {
    said(r#"MOCK_SCRIPT:[{"text":"seen"}]"#)
}

#[tokio::test]
async fn what_is_imported_is_described_by_its_bytes_and_there_after_a_restart() {
    let mut bench = Bench::new().await;
    let photo = include_bytes!("../../../media/tests/images/photo.jpg");
    let kept = bench.import(photo).await;
    assert_eq!((kept.kind, kept.mime_type.as_str()), (Kind::Image, "image/jpeg"));
    let size = kept.dimensions.unwrap();
    assert_eq!((size.width, size.height, kept.byte_size), (320, 200, photo.len() as u64));
    assert_eq!(kept.label(), format!("import image/jpeg ({} bytes)", photo.len()));
    assert!(matches!(bench.next().await, MediaChange::Created(it) if it.id == kept.id));
    let bench = bench.restarted().await;
    let media = bench.core.media();
    assert_eq!(media.list(None, None).await.unwrap(), [Arc::clone(&kept)]);
    let (again, bytes) = media.read(&kept.id, 1 << 20).await.unwrap();
    assert_eq!((again, &bytes[..]), (kept, &photo[..]));
}

#[tokio::test]
async fn a_file_is_imported_by_its_path_and_wrong_ones_are_named() {
    let bench = Bench::new().await;
    let media = bench.core.media();
    let file = bench.dir.path().join("cat.png");
    std::fs::write(&file, fake_image()).unwrap();
    let kept = media.import(MediaInput::Path(file), None, None).await.unwrap();
    assert_eq!(kept.title.as_deref(), Some("cat.png"));
    std::fs::write(bench.dir.path().join("empty"), "").unwrap();
    for path in ["relative.png", "/no/such/file", "/dev/zero", "/"] {
        let error = media.import(MediaInput::Path(path.into()), None, None).await.unwrap_err();
        assert_eq!((error.kind(), error.field()), (ErrorKind::Invalid, Some("path")), "{path}");
    }
    let empty = MediaInput::Path(bench.dir.path().join("empty"));
    assert_eq!(media.import(empty, None, None).await.unwrap_err().field(), Some("path"));
    let none = media.import(MediaInput::Bytes(Vec::new()), None, None).await.unwrap_err();
    assert_eq!(none.field(), Some("bytes_base64"));
    let title = Some("x\ny".to_owned());
    let wrong = media.import(MediaInput::Bytes(b"x".to_vec()), None, title).await.unwrap_err();
    assert_eq!(wrong.field(), Some("title"));
    let nowhere = Some(ThreadId::new(4));
    assert!(media.import(MediaInput::Bytes(b"x".to_vec()), nowhere, None).await.is_err());
    assert_eq!(media.list(None, None).await.unwrap().len(), 1);
}

#[tokio::test]
async fn only_files_in_the_roots_that_may_be_read_are_imported() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret.png"), fake_image()).unwrap();
    let allowed = tempfile::tempdir().unwrap();
    std::fs::write(allowed.path().join("cat.png"), fake_image()).unwrap();
    std::os::unix::fs::symlink(outside.path().join("secret.png"), allowed.path().join("link.png"))
        .unwrap();
    let settings = Settings { fs_roots: vec![allowed.path().to_owned()], ..Settings::default() };
    let bench = Bench::with(settings).await;
    let media = bench.core.media();
    let import = async |path: PathBuf| media.import(MediaInput::Path(path), None, None).await;
    assert!(import(allowed.path().join("cat.png")).await.is_ok());
    for path in [outside.path().join("secret.png"), allowed.path().join("link.png")] {
        assert_eq!(import(path).await.unwrap_err().field(), Some("path"));
    }
}

#[tokio::test]
async fn reading_has_a_limit_and_follows_no_link() {
    let bench = Bench::new().await;
    let media = bench.core.media();
    let kept = bench.import(&[7; 5000]).await;
    let error = media.read(&kept.id, 4999).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Failed);
    assert!(error.message().contains("over read limit"), "{error}");
    assert!(media.read(&kept.id, 5000).await.is_ok());
    for id in ["media-none", "../../etc/passwd", ""] {
        let error = media.read(id, 1).await.unwrap_err();
        assert_eq!((error.kind(), error.field()), (ErrorKind::Invalid, Some("artifact_id")));
    }
    // A file that was replaced by a link that leads out is not followed.
    let file = bench.artifacts().join(&kept.file);
    std::fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", &file).unwrap();
    assert_eq!(media.read(&kept.id, 1 << 20).await.unwrap_err().kind(), ErrorKind::Failed);
}

#[tokio::test]
async fn a_thumbnail_is_made_once_and_others_are_described() {
    let mut bench = Bench::new().await;
    let media = bench.core.media();
    let photo = bench.import(include_bytes!("../../../media/tests/images/photo.jpg")).await;
    bench.next().await;
    let (preview, bytes) = media.thumbnail(&photo.id).await.unwrap();
    assert_eq!(preview.strategy, Strategy::Thumbnail);
    let size = rookery_media::dimensions(bytes.as_ref().unwrap()).unwrap();
    assert_eq!((size.width, size.height), (256, 160));
    assert!(matches!(bench.next().await, MediaChange::Updated(it) if it.thumbnail.is_some()));
    assert!(matches!(bench.next().await, MediaChange::PreviewReady(_, it) if it == preview));
    assert_eq!(media.thumbnail(&photo.id).await.unwrap(), (preview, bytes));
    // One that was lost is made again.
    std::fs::remove_file(bench.artifacts().join(format!("{}.thumb.png", photo.id))).unwrap();
    assert!(media.thumbnail(&photo.id).await.unwrap().1.is_some());
    let text = bench.import(b"some words").await;
    let (preview, bytes) = media.thumbnail(&text.id).await.unwrap();
    assert_eq!((preview.strategy, preview.warning, bytes), (Strategy::MetadataOnly, None, None));
    let broken = bench.import(b"\x89PNG\r\n\x1a\nno more").await;
    let (preview, bytes) = media.thumbnail(&broken.id).await.unwrap();
    assert_eq!((preview.strategy, bytes), (Strategy::MetadataOnly, None));
    assert!(preview.warning.is_some());
    assert!(media.thumbnail("media-none").await.is_err());
}

#[tokio::test]
async fn deleting_removes_every_file_and_only_what_is_ours() {
    let mut bench = Bench::new().await;
    let media = bench.core.media();
    let kept = bench.import(&fake_image()).await;
    media.thumbnail(&kept.id).await.unwrap();
    assert_eq!(bench.files().len(), 3);
    assert!(media.delete(&kept.id).await.unwrap());
    assert!(!media.delete(&kept.id).await.unwrap());
    assert!(!media.delete("../x").await.unwrap());
    assert_eq!(bench.files(), Vec::<String>::new());
    let deleted = async {
        loop {
            if let MediaChange::Deleted(id) = bench.next().await {
                return id;
            }
        }
    };
    assert_eq!(tokio::time::timeout(PATIENCE, deleted).await.unwrap(), kept.id);
    let record = json!({
        "id": "theirs", "kind": "image", "mimeType": "image/png", "byteSize": 1, "provider": "x",
        "promptHash": "", "storePath": "/x/theirs.png", "createdAt": "2026-01-01T00:00:00Z",
    });
    std::fs::write(bench.artifacts().join("theirs.json"), record.to_string()).unwrap();
    std::fs::write(bench.artifacts().join("theirs.png"), "x").unwrap();
    let bench = bench.restarted().await;
    let error = bench.core.media().delete("theirs").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Failed);
    assert_eq!(bench.files(), ["theirs.json", "theirs.png"]);
}

#[tokio::test]
async fn damaged_records_are_left_out_and_unfinished_files_removed() {
    let bench = Bench::new().await;
    let good = bench.import(&fake_image()).await;
    let bad = bench.import(b"other").await;
    let dir = bench.artifacts();
    std::fs::write(dir.join(format!("{}.json", bad.id)), "{").unwrap();
    let orphan = format!("media-{}.png", uuid::Uuid::now_v7());
    std::fs::write(dir.join(&orphan), "half").unwrap();
    std::fs::write(dir.join("notes.txt"), "not ours").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", dir.join("linked.json")).unwrap();
    let bench = bench.restarted().await;
    let list = bench.core.media().list(None, None).await.unwrap();
    assert_eq!(list, [good]);
    let files = bench.files();
    assert!(!files.contains(&orphan), "{files:?}");
    // What cannot be read, and what is not ours, stays.
    assert!(files.contains(&bad.file) && files.contains(&"notes.txt".to_owned()), "{files:?}");
}

#[tokio::test]
async fn an_attached_image_waits_for_the_next_turn_even_over_a_restart() {
    let bench = Bench::new().await;
    let (thread, media) = (bench.thread().await, bench.core.media());
    let image = bench.import(&fake_image()).await;
    let attached = media.attach(&image.id, Some(thread)).await.unwrap();
    assert!(attached.is_image() && attached.data_url.starts_with("data:image/png;base64,"));
    media.attach(&image.id, Some(thread)).await.unwrap();
    let text = bench.import(b"words").await;
    let only = media.attach(&text.id, None).await.unwrap();
    assert!(!only.is_image() && only.data_url.starts_with("data:text/plain;base64,"));
    let error = media.attach(&text.id, Some(thread)).await.unwrap_err();
    assert_eq!(error.field(), Some("artifact_id"));
    assert!(media.attach(&image.id, Some(ThreadId::new(3))).await.is_err());
    let bench = bench.restarted().await;
    assert_eq!(bench.turn(thread, script()).await, [attached.data_url]);
    assert_eq!(bench.turn(thread, script()).await, Vec::<String>::new());
    // The image belongs to the thread from now on.
    let listed = async {
        while bench.core.media().list(Some(thread), None).await.unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, listed).await.unwrap();
    assert_eq!(bench.core.media().list(Some(thread), None).await.unwrap()[0].id, image.id);
}

#[tokio::test]
async fn an_image_that_is_gone_does_not_stop_the_turn() {
    let bench = Bench::new().await;
    let (thread, media) = (bench.thread().await, bench.core.media());
    let image = bench.import(&fake_image()).await;
    media.attach(&image.id, Some(thread)).await.unwrap();
    media.delete(&image.id).await.unwrap();
    assert_eq!(bench.turn(thread, script()).await, Vec::<String>::new());
}

#[tokio::test]
async fn too_many_images_do_not_wait() {
    let bench = Bench::new().await;
    let (thread, media) = (bench.thread().await, bench.core.media());
    for number in 0..16 {
        let mut bytes = fake_image();
        bytes.push(number);
        let image = bench.import(&bytes).await;
        media.attach(&image.id, Some(thread)).await.unwrap();
    }
    let one_more = bench.import(&fake_image()).await;
    let error = media.attach(&one_more.id, Some(thread)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Busy);
}

#[tokio::test]
async fn images_of_users_and_screenshots_are_kept_once() {
    let mut bench = Bench::new().await;
    let thread = bench.thread().await;
    let image = "data:image/png;base64,".to_owned() + &encoded(&fake_image());
    let message = Message { images: vec![image.clone(), "data:,x".into()], ..script() };
    bench.turn(thread, message.clone()).await;
    let MediaChange::Created(kept) = bench.next().await else { panic!("nothing was kept") };
    assert_eq!((kept.provider.as_str(), kept.thread), ("user", Some(thread)));
    assert!(kept.turn.is_some());
    bench.turn(thread, message).await;
    let mut other = fake_image();
    other.push(1);
    bench.core.media().keep_screenshot(&other);
    let MediaChange::Created(shot) = bench.next().await else { panic!("no screenshot") };
    assert_eq!((shot.provider.as_str(), shot.thread), ("screenshot", None));
    assert_eq!(bench.core.media().list(None, None).await.unwrap().len(), 2);
}

#[tokio::test]
async fn nothing_is_kept_by_itself_where_the_settings_say_so() {
    let mut settings = Settings::default();
    settings.media.keeps = false;
    let bench = Bench::with(settings).await;
    let thread = bench.thread().await;
    let image = "data:image/png;base64,".to_owned() + &encoded(&fake_image());
    bench.turn(thread, Message { images: vec![image], ..script() }).await;
    bench.core.media().keep_screenshot(&fake_image());
    assert!(bench.core.media().list(None, None).await.unwrap().is_empty());
}

#[tokio::test]
async fn the_fake_provider_makes_one_pixel() {
    let bench = Bench::new().await;
    let media = bench.core.media();
    assert_eq!(media.image_providers()[0].id, "fake");
    let new = NewImage { prompt: "a cat".into(), count: Some(2), ..NewImage::default() };
    let made = media.make(new).await.unwrap();
    assert_eq!((made.provider.as_str(), made.outputs.len()), ("fake", 2));
    let first = &made.outputs[0].artifact;
    let size = first.dimensions.unwrap();
    assert_eq!((size.width, size.height, first.prompt_hash.len()), (1, 1, 64));
    assert_eq!(first.generation.as_ref().unwrap().provider, "fake");
    let wrong = |new: NewImage| async { bench.core.media().make(new).await.unwrap_err() };
    let new = |prompt: &str| NewImage { prompt: prompt.into(), ..NewImage::default() };
    for bad in [
        new(" "),
        NewImage { count: Some(0), ..new("x") },
        NewImage { count: Some(11), ..new("x") },
        NewImage { action: ImageAction::Edit, ..new("x") },
        NewImage { inputs: vec![NewImageInput::Bytes(b"text".to_vec())], ..new("x") },
    ] {
        assert_eq!(wrong(bad).await.kind(), ErrorKind::Failed);
    }
    let unknown = NewImage { provider: Some("cloud".into()), ..new("x") };
    assert_eq!(wrong(unknown).await.field(), Some("provider"));
    let gone = NewImage { inputs: vec![NewImageInput::Artifact("media-0".into())], ..new("x") };
    assert_eq!(wrong(gone).await.field(), Some("artifact_id"));
    assert_eq!(media.list(None, None).await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_server_makes_images() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let body =
        json!({"data": [{"b64_json": encoded(&fake_image()), "revised_prompt": "a nice cat"},
        {"b64_json": encoded(b"no image")}], "usage": {"total_tokens": 3}})
        .to_string();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = String::new();
        while !request.contains("\"n\":2") {
            let mut piece = [0; 4096];
            let count = stream.read(&mut piece).await.unwrap();
            request += &String::from_utf8_lossy(&piece[..count]);
        }
        let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: ";
        let answer = format!("{head}{}\r\n\r\n{body}", body.len());
        stream.write_all(answer.as_bytes()).await.unwrap();
    });
    let mut settings = Settings::default();
    let painter =
        ServiceSettings { base_url: url, model: "brush".into(), ..ServiceSettings::default() };
    settings.media.providers.insert("painter".to_owned(), painter);
    let bench = Bench::with(settings).await;
    let new = NewImage { prompt: "a cat".into(), count: Some(2), ..NewImage::default() };
    let made = bench.core.media().make(new).await.unwrap();
    assert_eq!((made.provider.as_str(), made.model.as_str()), ("painter", "brush"));
    assert_eq!((made.outputs.len(), made.problems.len()), (1, 1));
    assert_eq!(made.outputs[0].revised_prompt.as_deref(), Some("a nice cat"));
}

fn encoded(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}
