//! What came of a call, as the result of a tool. Pure.

use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::Value;

use crate::tool::ToolOutput;

/// How much text is kept.
const MAX_TEXT: usize = 1 << 20;

/// How many images are kept, and how much all of them may be.
const MAX_IMAGES: usize = 16;
const MAX_IMAGE_BYTES: usize = 8 << 20;

/// What a server answered.
pub(super) fn output(result: CallToolResult) -> ToolOutput {
    let mut parts: Vec<String> = Vec::new();
    let mut images = Images::default();
    for block in result.content {
        match block {
            ContentBlock::Text(text) => parts.push(text.text),
            ContentBlock::Image(image) => parts.extend(images.add(&image.mime_type, &image.data)),
            ContentBlock::Audio(audio) => parts.push(format!("[audio, {}]", audio.mime_type)),
            ContentBlock::ResourceLink(link) => {
                parts.push(format!("[{}]({})", link.name, link.uri))
            }
            ContentBlock::Resource(embedded) => match embedded.resource {
                ResourceContents::TextResourceContents { text, .. } => parts.push(text),
                ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
                    match mime_type.filter(|kind| kind.starts_with("image/")) {
                        Some(kind) => parts.extend(images.add(&kind, &blob)),
                        None => parts.push(format!("[{uri}]")),
                    }
                }
                _ => {}
            },
            _ => {}
        }
    }
    let data = result.structured_content.unwrap_or_default();
    let written = if data.is_null() { String::new() } else { data.to_string() };
    let text = match parts.is_empty() && images.kept.is_empty() {
        true => written.clone(),
        false => parts.join("\n"),
    };
    // Details that are too long are in the text, as far as they fit.
    let data = if written.len() > MAX_TEXT { Value::Null } else { data };
    ToolOutput {
        text: cut(text),
        data,
        is_error: result.is_error.unwrap_or(false),
        images: images.kept,
        ..ToolOutput::default()
    }
}

#[derive(Default)]
struct Images {
    kept: Vec<String>,
    size: usize,
}

impl Images {
    /// Keeps an image, or says that it does not.
    fn add(&mut self, kind: &str, data: &str) -> Option<String> {
        let size = self.size.saturating_add(data.len());
        if self.kept.len() >= MAX_IMAGES || size > MAX_IMAGE_BYTES {
            return Some(format!("[image, {kind}, left out]"));
        }
        self.size = size;
        self.kept.push(format!("data:{kind};base64,{data}"));
        None
    }
}

fn cut(mut text: String) -> String {
    if text.len() > MAX_TEXT {
        let whole = text.len();
        text.truncate(text.floor_char_boundary(MAX_TEXT));
        text.push_str(&format!("\n[cut at 1 MiB of {whole} bytes]"));
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(result: Value) -> ToolOutput {
        output(serde_json::from_value(result).unwrap())
    }

    #[test]
    fn texts_are_joined_and_images_become_addresses() {
        let told = of(json!({ "content": [
            { "type": "text", "text": "a" },
            { "type": "image", "data": "QQ==", "mimeType": "image/png" },
            { "type": "text", "text": "b" },
            { "type": "resource", "resource": { "uri": "file:///x", "text": "c" } },
            { "type": "resource", "resource": { "uri": "x:y", "mimeType": "image/gif", "blob": "Qg==" } },
            { "type": "resource", "resource": { "uri": "x:z", "blob": "Qg==" } },
            { "type": "resource_link", "uri": "u:v", "name": "n" },
        ] }));
        assert_eq!(told.text, "a\nb\nc\n[x:z]\n[n](u:v)");
        assert_eq!(told.images, ["data:image/png;base64,QQ==", "data:image/gif;base64,Qg=="]);
        assert!(!told.is_error);
    }

    #[test]
    fn details_are_kept_and_stand_in_for_a_text() {
        let told = of(json!({ "content": [], "structuredContent": { "n": 1 }, "isError": true }));
        assert_eq!((told.text.as_str(), told.is_error), ("{\"n\":1}", true));
        assert_eq!(told.data, json!({ "n": 1 }));
        let told =
            of(json!({ "content": [{ "type": "text", "text": "t" }], "structuredContent": [1] }));
        assert_eq!((told.text.as_str(), told.data), ("t", json!([1])));
    }

    #[test]
    fn everything_has_a_bound() {
        let long = "ä".repeat(MAX_TEXT);
        let told = of(json!({ "content": [{ "type": "text", "text": long }] }));
        assert!(told.text.len() < MAX_TEXT + 100);
        assert!(told.text.ends_with("[cut at 1 MiB of 2097152 bytes]"));
        let image = json!({ "type": "image", "data": "QQ==", "mimeType": "image/png" });
        let told = of(json!({ "content": vec![image; 20] }));
        assert_eq!(told.images.len(), MAX_IMAGES);
        assert_eq!(told.text.lines().count(), 4);
        let told = of(json!({ "content": [], "structuredContent": "x".repeat(MAX_TEXT) }));
        assert!(told.data.is_null() && told.text.len() < MAX_TEXT + 100);
    }
}
