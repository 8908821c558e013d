//! `view_image`: shows an image file to the model.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rookery_model::ToolKind;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{arguments, paths};
use crate::tool::{Tool, ToolContext, ToolOutput};

/// How large an image may be, in bytes.
const MAX_IMAGE: u64 = 10 << 20;

pub(super) const VIEW_IMAGE: Tool = Tool {
    name: "view_image",
    kind: ToolKind::Read,
    description: "Look at an image file: png, jpeg, gif or webp of at most 10 MiB.",
    needs_turn: false,
    needs_assignment: false,
    parameters: arguments::schema::<Args>,
    check: arguments::check::<Args>,
    run: |context, value| arguments::run_blocking(context, value, run),
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    path: String,
}

fn run(context: &ToolContext, args: Args) -> Result<ToolOutput, String> {
    let place = paths::resolve(context, &args.path)?;
    let bytes = paths::read(context, &place, MAX_IMAGE)?;
    let Some(media_type) = media_type(&bytes) else {
        return Err(format!("{} is not a png, jpeg, gif or webp image", place.shown));
    };
    let text = format!("attached image {} ({media_type}, {} bytes)", place.shown, bytes.len());
    let data = json!({"path": place.shown, "media_type": media_type, "bytes": bytes.len()});
    let image = format!("data:{media_type};base64,{}", STANDARD.encode(&bytes));
    Ok(ToolOutput { images: vec![image], ..ToolOutput::new(text, data) })
}

/// An image file of the user as a `data:` address. Blocks while it is read.
///
/// # Errors
/// If it cannot be read, is too large, or is no image.
pub fn read_image(path: &Path) -> Result<String, String> {
    let unreadable = |_| format!("image cannot be read, or is too large: {}", path.display());
    let bytes = rookery_host::files::read_range(path, 0, None, MAX_IMAGE).map_err(unreadable)?;
    address(&bytes).ok_or_else(|| "image must be png, jpeg, gif or webp".to_owned())
}

fn address(bytes: &[u8]) -> Option<String> {
    media_type(bytes).map(|kind| format!("data:{kind};base64,{}", STANDARD.encode(bytes)))
}

/// What an image is by its first bytes; names lie.
fn media_type(bytes: &[u8]) -> Option<&'static str> {
    let begins = |magic: &[u8]| bytes.starts_with(magic);
    if begins(b"\x89PNG\r\n\x1a\n") {
        Some("image/png")
    } else if begins(b"\xff\xd8\xff") {
        Some("image/jpeg")
    } else if begins(b"GIF87a") || begins(b"GIF89a") {
        Some("image/gif")
    } else if begins(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        Some("image/webp")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_world::Bench;
    use super::*;

    #[tokio::test]
    async fn images_are_known_by_their_first_bytes() {
        let bench = Bench::new();
        for (name, bytes, expected) in [
            ("a", &b"\x89PNG\r\n\x1a\nrest"[..], "image/png"),
            ("b.txt", b"\xff\xd8\xff\xe0", "image/jpeg"),
            ("c", b"GIF89a..", "image/gif"),
            ("d", b"RIFF\x01\x02\x03\x04WEBPVP8 ", "image/webp"),
        ] {
            std::fs::write(bench.root().join(name), bytes).unwrap();
            let output = bench.run("view_image", json!({"path": name})).await;
            assert!(!output.is_error, "{}", output.text);
            let address = format!("data:{expected};base64,{}", STANDARD.encode(bytes));
            assert_eq!(output.images, [address]);
            assert_eq!(output.data["media_type"], expected);
        }
    }

    #[tokio::test]
    async fn other_files_are_refused() {
        let bench = Bench::new();
        bench.file("a.png", "no image");
        let mut large = b"\x89PNG\r\n\x1a\n".to_vec();
        large.resize((10 << 20) + 1, 0);
        std::fs::write(bench.root().join("large.png"), large).unwrap();
        for (path, why) in [
            ("a.png", "a.png is not a png, jpeg, gif or webp image"),
            ("large.png", "large.png is larger than 10485760 bytes"),
            ("/etc/passwd", "path is outside workspace: /etc/passwd"),
        ] {
            let output = bench.run("view_image", json!({"path": path})).await;
            assert_eq!((output.is_error, output.text.as_str()), (true, why));
            assert!(output.images.is_empty());
        }
    }
}
