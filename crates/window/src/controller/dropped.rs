//! What is dropped on the window, and what is pasted.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use rookery_face::app::{App, Ask};
use rookery_face::driver::cx;
use rookery_face::pages::attach::Attached;
use rookery_host::ClipboardTarget;
use rookery_view::link::{Image, Page, bound};

use super::Controller;
use crate::Event;

/// For how long typing waits for a clipboard, and how much of it; reading one gives up before.
const HOLD: Duration = Duration::from_secs(5);
const MOST_HELD: usize = 1024;

/// Bytes of an image; in base64 three of them become four letters.
const MOST: u64 = (bound::IMAGE_BYTES / 4 * 3) as u64;

impl Controller {
    /// A file was dropped: an image goes with the message of a thread that is shown, of all else the path
    /// is typed as a shell reads it.
    pub(super) fn dropped(&mut self, path: &std::path::Path) {
        if let Some(mime) = mime(path).filter(|_| self.writes_message()) {
            return self.attach(path, mime);
        }
        let Some(path) = path.to_str() else {
            return self.driver.app.warn("the name of this file is not text");
        };
        self.driver.with(|app, cx| app.paste(cx, format!("{} ", quoted(path)), false));
    }

    /// Text of a clipboard; where a message to an agent is written, an image if there is no text.
    pub(super) fn begin_paste(&mut self, is_selection: bool) {
        let clipboards = self.options.clipboards.clone();
        let (texts, images) = (self.pastes.0.clone(), self.images.0.clone());
        let takes_image = !is_selection && self.writes_message();
        let target =
            if is_selection { ClipboardTarget::Selection } else { ClipboardTarget::System };
        let ends = texts.clone();
        let read = async move {
            if let Some(text) = clipboards.read(target).await.filter(|text| !text.is_empty()) {
                return texts.send(Some(text)).await.map_err(|error| error.to_string());
            }
            if !takes_image {
                return Err("the clipboard has no text".to_owned());
            }
            let png = clipboards.read_image(MOST).await;
            let png =
                png.ok_or_else(|| "the clipboard has neither text nor an image".to_owned())?;
            let image = Image { mime: "image/png".to_owned(), data: BASE64_STANDARD.encode(png) };
            let image = Attached { image, name: "pasted image".to_owned() };
            images.send(image).await.map_err(|error| error.to_string())
        };
        let job = Box::pin(async move {
            let done = read.await;
            // Nothing is held back any more, whatever came of it.
            let _ = ends.send(None).await;
            done
        });
        self.held_until = Some(Instant::now() + HOLD);
        self.driver.calls.job(job, Ask::Quiet);
    }

    /// The text of a clipboard came. Nothing that was typed before answers a question that it leads to.
    pub(super) fn pasted(&mut self, text: String) {
        let was_asked = self.driver.app.question.is_some();
        self.driver.with(|app, cx| app.paste(cx, text, false));
        if !was_asked && self.driver.app.question.is_some() {
            self.held.clear();
        }
    }

    /// Whether this waits for a paste before it: what is typed behind one arrives behind it.
    pub(super) fn holds(&self, event: &Event) -> bool {
        let is_typed = matches!(event, Event::Key(_) | Event::Commit(_));
        is_typed && self.held_until.is_some() && self.held.len() < MOST_HELD
    }

    /// The next of what was typed behind a paste that is done.
    pub(super) fn next_held(&mut self) -> Option<Event> {
        if self.held_until.is_some() {
            return None;
        }
        self.held.pop_front()
    }

    /// Whether images can go with what is being written.
    fn writes_message(&self) -> bool {
        let cx = cx(&self.driver.face, self.driver.now());
        let is_thread = matches!(App::page(&cx), Page::Thread { .. });
        is_thread && !self.driver.app.pages.new_thread.is_open
    }

    /// Reads an image for the message that is being written.
    fn attach(&mut self, path: &Path, mime: &'static str) {
        let (sender, read, path) =
            (self.images.0.clone(), Arc::clone(&self.options.read), path.to_owned());
        let job = Box::pin(async move {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let read = tokio::task::spawn_blocking(move || read(&path, MOST)).await;
            let bytes = read.unwrap_or_else(|error| Err(error.to_string()))?;
            let data = BASE64_STANDARD.encode(bytes);
            let image = Attached { image: Image { mime: mime.to_owned(), data }, name };
            sender.send(image).await.map_err(|error| error.to_string())
        });
        self.driver.calls.job(job, Ask::Quiet);
    }
}

/// What kind of image a file is, by its name; none if models take no such images.
fn mime(path: &Path) -> Option<&'static str> {
    let suffix = path.extension()?.to_str()?.to_ascii_lowercase();
    Some(match suffix.as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        _ => return None,
    })
}

/// A path as one word for a shell.
fn quoted(path: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./+:@%,=".contains(c);
    if !path.is_empty() && path.chars().all(is_plain) {
        return path.to_owned();
    }
    format!("'{}'", path.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_word_for_a_shell() {
        assert_eq!(quoted("/home/ada/a.txt"), "/home/ada/a.txt");
        assert_eq!(quoted("/tmp/two words"), "'/tmp/two words'");
        assert_eq!(quoted("/tmp/it's"), r"'/tmp/it'\''s'");
        assert_eq!(quoted("/tmp/$(rm -rf ~)"), "'/tmp/$(rm -rf ~)'");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn images_are_known_by_their_names() {
        assert_eq!(mime(Path::new("/a/b.PNG")), Some("image/png"));
        assert_eq!(mime(Path::new("/a/b.jpeg")), Some("image/jpeg"));
        assert_eq!(mime(Path::new("/a/png")), None);
        assert_eq!(mime(Path::new("/a/b.svg")), None);
    }
}
