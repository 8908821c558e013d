//! What is given on the command line and sent as Roo Code wants it: settings and images.

use std::path::Path;

use base64::Engine as _;
use serde_json::{Map, Value};

use crate::failure::{Failure, Outcome};

/// A JSON object from the command line, or from a file behind `@`.
pub(super) fn object(given: &str) -> Outcome<Map<String, Value>> {
    let text = match given.strip_prefix('@') {
        Some(path) => {
            std::fs::read_to_string(path).map_err(Failure::doing(format!("cannot read {path}")))?
        }
        None => given.to_owned(),
    };
    match serde_json::from_str(&text) {
        Ok(Value::Object(members)) => Ok(members),
        Ok(_) => Err(wrong("settings must be a JSON object")),
        Err(error) => Err(wrong(format!("settings are not valid JSON: {error}"))),
    }
}

fn wrong(message: impl Into<String>) -> Failure {
    let hint = r#"write them as '{"apiProvider": "openai"}', or name a file with @FILE"#;
    Failure::new(message).hint(hint).code(2)
}

/// A picture as a `data:` address.
pub(super) fn image(path: &Path) -> Outcome<String> {
    let bytes =
        std::fs::read(path).map_err(Failure::doing(format!("cannot read {}", path.display())))?;
    let media = match bytes.as_slice() {
        [0x89, b'P', b'N', b'G', ..] => "image/png",
        [0xff, 0xd8, ..] => "image/jpeg",
        [b'G', b'I', b'F', ..] => "image/gif",
        [b'R', b'I', b'F', b'F', ..] => "image/webp",
        _ => {
            let message = format!("{} is not a PNG, JPEG, GIF or WebP image", path.display());
            return Err(Failure::new(message).code(2));
        }
    };
    let encoded = base64::engine::general_purpose::STANDARD.encode(&bytes);
    Ok(format!("data:{media};base64,{encoded}"))
}
