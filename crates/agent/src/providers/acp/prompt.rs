//! What is sent to an agent that keeps the conversation itself: only what it does not have. Pure.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use agent_client_protocol::v1::schema::{ContentBlock, ImageContent, ResourceLink, TextContent};
use serde_json::{Value, json};

use crate::provider::{Entry, EntryBody};

/// How much of an earlier conversation is sent to an agent that cannot resume it.
const MAX_PREFACE: usize = 64 << 10;

/// How much of one piece of it.
const MAX_PIECE: usize = 8 << 10;

/// What is sent to an agent without a word from the user, which is when a turn goes on by itself.
const GO_ON: &str = "Continue.";

/// Where a session stands: whose it is, and what it heard last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    /// The session, as the agent calls it.
    pub(super) session: String,
    /// The user's last words that were sent.
    pub(super) last: String,
}

impl Mark {
    /// The newest mark in a conversation that belongs to this thread. A fork has the marks of the
    /// thread it came from, whose session is not its own.
    pub(super) fn newest(entries: &[Entry], thread: &str) -> Option<Self> {
        entries.iter().rev().filter_map(|entry| entry.opaque.as_ref()).find_map(|opaque| {
            let text = |key: &str| opaque.get(key).and_then(Value::as_str).map(str::to_owned);
            let is_ours = text("thread").as_deref() == Some(thread);
            is_ours.then(|| Some(Self { session: text("session")?, last: text("last")? }))?
        })
    }

    /// The mark as it is kept in the conversation.
    pub(super) fn opaque(&self, thread: &str) -> Value {
        json!({ "session": self.session, "last": self.last, "thread": thread })
    }
}

/// A fingerprint of the user's last words; empty if there are none.
pub(super) fn last_words(entries: &[Entry]) -> String {
    entries.iter().rev().find_map(print).unwrap_or_default()
}

fn print(entry: &Entry) -> Option<String> {
    let EntryBody::User { text, images } = &entry.body else { return None };
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    images.hash(&mut hasher);
    Some(format!("{:016x}", hasher.finish()))
}

/// What the user said after the words that a session heard last; those again if there is nothing
/// newer. None if the session heard what is not in the conversation: it was changed since.
pub(super) fn news<'a>(entries: &'a [Entry], last: &str) -> Option<Vec<&'a Entry>> {
    let place = entries.iter().rposition(|entry| print(entry).as_deref() == Some(last))?;
    let is_user = |entry: &&Entry| matches!(entry.body, EntryBody::User { .. });
    let newer: Vec<&Entry> = entries[place + 1..].iter().filter(is_user).collect();
    let is_over = entries[place + 1..].iter().any(|entry| !is_user(&entry));
    match newer.is_empty() {
        // It was answered, so the turn goes on by itself.
        true if is_over => Some(Vec::new()),
        true => Some(vec![&entries[place]]),
        false => Some(newer),
    }
}

/// What the user said last, for a session that has heard nothing, and all that went before.
pub(super) fn split(entries: &[Entry]) -> (&[Entry], Vec<&Entry>) {
    let is_user = |entry: &Entry| matches!(entry.body, EntryBody::User { .. });
    let place = entries.iter().rposition(|entry| !is_user(entry)).map_or(0, |place| place + 1);
    (&entries[..place], entries[place..].iter().collect())
}

/// Whether any of this has images.
pub(super) fn has_images(entries: &[&Entry]) -> bool {
    entries.iter().any(|entry| match &entry.body {
        EntryBody::User { images, .. } => images.iter().any(|image| data_url(image).is_some()),
        _ => false,
    })
}

/// The user's words as an agent takes them, after the conversation that it did not hear.
pub(super) fn blocks(before: &[Entry], news: &[&Entry]) -> Vec<ContentBlock> {
    let mut blocks = Vec::new();
    let text = |text: String| ContentBlock::Text(TextContent::new(text));
    if let Some(preface) = preface(before) {
        blocks.push(text(preface));
    }
    for entry in news {
        let EntryBody::User { text: words, images } = &entry.body else { continue };
        if !words.is_empty() {
            blocks.push(text(words.clone()));
        }
        blocks.extend(images.iter().map(|image| match data_url(image) {
            Some((kind, data)) => ContentBlock::Image(ImageContent::new(data, kind)),
            None => ContentBlock::ResourceLink(ResourceLink::new("image", image.as_str())),
        }));
    }
    if news.is_empty() {
        blocks.push(text(GO_ON.to_owned()));
    }
    blocks
}

/// Type and data of a `data:` address in base64.
fn data_url(url: &str) -> Option<(&str, &str)> {
    let (head, data) = url.strip_prefix("data:")?.split_once(',')?;
    Some((head.strip_suffix(";base64")?, data))
}

/// An earlier conversation in words, its end if it is long.
fn preface(before: &[Entry]) -> Option<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut room = MAX_PREFACE;
    for entry in before.iter().rev() {
        let piece = match &entry.body {
            EntryBody::User { text, .. } => format!("User: {}", cut(text)),
            EntryBody::Agent { text } => format!("You: {}", cut(text)),
            EntryBody::ToolCall { name, arguments, .. } => {
                format!("You called {name}: {}", cut(arguments))
            }
            EntryBody::ToolResult { text, .. } => format!("It came to: {}", cut(text)),
            EntryBody::Reasoning { .. } => continue,
        };
        let Some(left) = room.checked_sub(piece.len()) else {
            pieces.push("[what came before is left out]".to_owned());
            break;
        };
        room = left;
        pieces.push(piece);
    }
    pieces.reverse();
    (!pieces.is_empty()).then(|| {
        let history = pieces.join("\n\n");
        format!("This conversation began earlier. So far:\n\n{history}\n\nNow it goes on.")
    })
}

fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_PIECE)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn user(text: &str) -> Entry {
        let body = EntryBody::User { text: text.into(), images: Vec::new() };
        Entry { step: 0, body, opaque: None }
    }

    fn agent(text: &str) -> Entry {
        Entry { step: 0, body: EntryBody::Agent { text: text.into() }, opaque: None }
    }

    fn texts(news: Option<Vec<&Entry>>) -> Option<Vec<String>> {
        let text = |entry: &&Entry| match &entry.body {
            EntryBody::User { text, .. } => text.clone(),
            other => panic!("{other:?}"),
        };
        news.map(|news| news.iter().map(text).collect())
    }

    #[test]
    fn only_what_is_new_is_reported() {
        let talk = [user("a"), agent("A"), user("b"), agent("B"), user("c")];
        let heard = last_words(&talk[..3]);
        assert_eq!(texts(news(&talk, &heard)), Some(vec!["c".into()]));
        assert_eq!(texts(news(&talk[..3], &heard)), Some(vec!["b".into()]), "asked again");
        assert_eq!(texts(news(&talk[..4], &heard)), Some(vec![]), "it goes on by itself");
        let steered = [user("b"), user("c"), user("d")];
        assert_eq!(texts(news(&steered, &heard)), Some(vec!["c".into(), "d".into()]));
        assert_eq!(news(&[user("a"), agent("A"), user("x")], &heard), None, "rolled back");
    }

    #[test]
    fn a_mark_is_found_again_but_not_in_a_fork() {
        let mark = Mark { session: "s1".into(), last: "ff".into() };
        let mut entry = agent("A");
        entry.opaque = Some(mark.opaque("t"));
        let talk = [user("a"), entry, user("b")];
        assert_eq!(Mark::newest(&talk, "t"), Some(mark));
        assert_eq!(Mark::newest(&talk, "other"), None);
        assert_eq!(Mark::newest(&talk[..1], "t"), None);
    }

    #[test]
    fn images_go_as_the_protocol_wants_them() {
        let images = vec!["data:image/png;base64,QUJD".into(), "http://x/y.png".into()];
        let entry =
            Entry { step: 0, body: EntryBody::User { text: "see".into(), images }, opaque: None };
        assert!(has_images(&[&entry]));
        let blocks = blocks(&[], &[&entry]);
        assert!(matches!(&blocks[0], ContentBlock::Text(text) if text.text == "see"));
        assert!(matches!(&blocks[1], ContentBlock::Image(image)
            if image.data == "QUJD" && image.mime_type == "image/png"));
        assert!(
            matches!(&blocks[2], ContentBlock::ResourceLink(link) if link.uri == "http://x/y.png")
        );
    }

    #[test]
    fn a_session_that_knows_nothing_is_told_what_went_before() {
        let talk = [user("a"), agent("A"), user("b")];
        let (before, new) = split(&talk);
        let blocks = blocks(before, &new);
        let ContentBlock::Text(preface) = &blocks[0] else { panic!("{blocks:?}") };
        assert!(preface.text.contains("User: a\n\nYou: A"), "{}", preface.text);
        assert!(matches!(&blocks[1], ContentBlock::Text(text) if text.text == "b"));
        assert_eq!(super::blocks(&[], &new).len(), 1);
    }

    proptest! {
        #[test]
        fn a_preface_has_a_bound(lengths in proptest::collection::vec(0..6000_usize, 0..30)) {
            let talk: Vec<Entry> = lengths.iter().map(|&length| agent(&"ä".repeat(length))).collect();
            let told = preface(&talk).unwrap_or_default();
            prop_assert!(told.len() < MAX_PREFACE + 64 * 40);
        }

        #[test]
        fn any_address_is_looked_at(url in "(data:)?[a-z/;,]{0,20}(;base64,)?\\PC{0,10}") {
            let _ = data_url(&url);
        }
    }
}
