//! What an artifact is, and how it is shown.

use rookery_model::{ThreadId, Timestamp, TurnId};

/// Types of images that clients show as they are.
const SHOWN: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/// The longest id that may name a file, in bytes.
const LONGEST_ID: usize = 128;

/// What sort of media it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A picture.
    Image,
    /// Moving pictures.
    Video,
    /// Sounds.
    Audio,
    /// Anything else.
    Other,
}

impl Kind {
    pub fn word(self) -> &'static str {
        match self {
            Kind::Image => "image",
            Kind::Video => "video",
            Kind::Audio => "audio",
            Kind::Other => "other",
        }
    }

    /// The kind of a word.
    pub fn from_word(word: &str) -> Option<Self> {
        [Kind::Image, Kind::Video, Kind::Audio, Kind::Other]
            .into_iter()
            .find(|kind| kind.word() == word)
    }
}

/// How large an image is, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimensions {
    /// From left to right.
    pub width: u32,
    /// From top to bottom.
    pub height: u32,
}

/// What a provider said of an image that it made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Generation {
    pub provider: String,
    pub model: Option<String>,
    /// The prompt that was used in the end.
    pub revised_prompt: Option<String>,
    /// How it is marked as made.
    pub watermark: Option<String>,
    /// What the provider says of its harmlessness.
    pub safety: Option<String>,
    /// The provider's name for its answer.
    pub response: Option<String>,
}

/// A file that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// Its id, by which its files are called.
    pub id: String,
    /// What sort of media it is.
    pub kind: Kind,
    /// What it is, by its bytes.
    pub mime_type: String,
    /// How large an image is, if it can be determined.
    pub dimensions: Option<Dimensions>,
    /// How long it takes, if that is known.
    pub duration_millis: Option<u64>,
    /// How many bytes it has.
    pub byte_size: u64,
    /// Where it comes from.
    pub provider: String,
    /// SHA-256 of the prompt that it was made from; empty if it was made from none.
    pub prompt_hash: String,
    /// The name of its file.
    pub file: String,
    /// The name of the file with its thumbnail, once it has one.
    pub thumbnail: Option<String>,
    /// What its provider said of it.
    pub generation: Option<Generation>,
    /// When it was kept.
    pub created_at: Timestamp,
    /// Whether it is ours to delete.
    pub is_owned: bool,
    /// The thread it belongs to.
    pub thread: Option<ThreadId>,
    /// The turn it belongs to.
    pub turn: Option<TurnId>,
    /// What it is called.
    pub title: Option<String>,
    /// SHA-256 of its bytes; empty if it was kept by a program that did not say.
    pub sha256: String,
}

/// How an artifact can be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// As it is.
    InlineImage,
    Thumbnail,
    /// By what is known of it.
    MetadataOnly,
}

/// How an artifact is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview {
    pub artifact: String,
    /// How.
    pub strategy: Strategy,
    /// The name of the file with its thumbnail.
    pub thumbnail: Option<String>,
    /// What is shown where no picture can be.
    pub label: String,
    /// Why there is no picture, if there should be one.
    pub warning: Option<String>,
}

impl Artifact {
    /// What is shown of it where no picture can be.
    pub fn label(&self) -> String {
        format!("{} {} ({} bytes)", self.provider, self.mime_type, self.byte_size)
    }

    /// How it is shown; `warning` says why it has no thumbnail, if it should have one.
    pub fn preview(&self, warning: Option<String>) -> Preview {
        let is_shown = SHOWN.contains(&self.mime_type.as_str()) && warning.is_none();
        let strategy = match &self.thumbnail {
            Some(_) => Strategy::Thumbnail,
            None if is_shown => Strategy::InlineImage,
            None => Strategy::MetadataOnly,
        };
        Preview {
            artifact: self.id.clone(),
            strategy,
            thumbnail: self.thumbnail.clone(),
            label: self.label(),
            warning,
        }
    }
}

/// Whether a text may be an id: nothing else ever becomes part of a path.
pub fn is_id(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._:-".contains(&byte);
    let begins_well = text.as_bytes().first().is_some_and(u8::is_ascii_alphanumeric);
    begins_well && text.len() <= LONGEST_ID && text.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_names_are_ids() {
        for id in ["media-1", "a", "A.b:c-e", &"x".repeat(128)] {
            assert!(is_id(id), "{id}");
        }
        for text in ["", ".hidden", "-x", "../x", "a/b", "a b", "ä", "a\0", &"x".repeat(129)] {
            assert!(!is_id(text), "{text}");
        }
    }

    #[test]
    fn kinds_are_read_as_they_are_written() {
        for kind in [Kind::Image, Kind::Video, Kind::Audio, Kind::Other] {
            assert_eq!(Kind::from_word(kind.word()), Some(kind));
        }
        assert_eq!(Kind::from_word("picture"), None);
    }
}
