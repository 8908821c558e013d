//! Images made from words, and from other images.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use super::{Body, Service, json_body};

/// How long the server may be silent: images take their time.
const IDLE: Duration = Duration::from_secs(180);
/// The longest answer.
const ANSWER_LIMIT: usize = 256 << 20;

/// An image that another is made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageInput {
    pub bytes: Vec<u8>,
    /// What it is, such as `image/png`.
    pub mime_type: String,
}

/// What is wanted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImageRequest {
    /// What is to be seen.
    pub prompt: String,
    /// The model; that of the settings if none is named.
    pub model: Option<String>,
    /// How many images.
    pub count: u32,
    /// What it is made from; without any it is made from words alone.
    pub inputs: Vec<ImageInput>,
    /// Further members of the request, such as `size`, as the API calls them.
    pub options: Map<String, Value>,
}

/// What the server made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MadeImages {
    pub images: Vec<MadeImage>,
    /// The server's name for its answer.
    pub response: Option<String>,
    /// What it counted, as it calls it.
    pub usage: Map<String, Value>,
    /// What could not be used of the answer.
    pub problems: Vec<String>,
}

/// One image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MadeImage {
    pub bytes: Vec<u8>,
    /// The prompt that the server made it from in the end.
    pub revised_prompt: Option<String>,
}

/// Has images made.
///
/// # Errors
/// If the server cannot be asked, or makes none.
pub async fn make_images(service: &Service, wanted: &ImageRequest) -> Result<MadeImages, String> {
    let mut members = wanted.options.clone();
    // A name stands in the head of a part, where nothing else may.
    members.retain(|name, _| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'));
    let model = wanted.model.clone().unwrap_or_else(|| service.settings.model.clone());
    members.insert("model".to_owned(), model.into());
    members.insert("prompt".to_owned(), wanted.prompt.clone().into());
    members.insert("n".to_owned(), wanted.count.into());
    let (path, body) = match wanted.inputs.is_empty() {
        true => ("/images/generations", json_body(&Value::Object(members))),
        false => ("/images/edits", form(&members, &wanted.inputs)),
    };
    let answer = service.ask(path, body, ANSWER_LIMIT, IDLE).await?;
    read(&answer)
}

fn read(answer: &Value) -> Result<MadeImages, String> {
    let data = answer["data"].as_array().ok_or("its answer has no images")?;
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let mut made = MadeImages {
        response: text(&answer["id"]),
        usage: answer["usage"].as_object().cloned().unwrap_or_default(),
        ..MadeImages::default()
    };
    for entry in data {
        match entry["b64_json"].as_str().map(|text| STANDARD.decode(text)) {
            Some(Ok(bytes)) if !bytes.is_empty() => {
                let revised_prompt = text(&entry["revised_prompt"]);
                made.images.push(MadeImage { bytes, revised_prompt });
            }
            Some(_) => made.problems.push("an image is not base64".to_owned()),
            None => made.problems.push("an image did not come with the answer".to_owned()),
        }
    }
    match made.images.is_empty() {
        true => Err(made.problems.pop().unwrap_or_else(|| "it made no image".to_owned())),
        false => Ok(made),
    }
}

/// A form of members and files, as servers take files.
fn form(members: &Map<String, Value>, inputs: &[ImageInput]) -> Body {
    let boundary = boundary(inputs);
    let mut bytes = Vec::new();
    for (name, value) in members {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        // Names are ours, and a value ends where the next boundary begins, which it does not have.
        let part = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n"
        );
        bytes.extend_from_slice(part.as_bytes());
    }
    for (number, input) in inputs.iter().enumerate() {
        let name = if inputs.len() == 1 { "image" } else { "image[]" };
        let ending = input.mime_type.strip_prefix("image/").unwrap_or("bin");
        let head = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"; \
             filename=\"{number}.{ending}\"\r\nContent-Type: {}\r\n\r\n",
            input.mime_type
        );
        bytes.extend_from_slice(head.as_bytes());
        bytes.extend_from_slice(&input.bytes);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    Body { content_type: format!("multipart/form-data; boundary={boundary}"), bytes: bytes.into() }
}

/// A boundary that none of the files has: drawn anew for each request, so that no file can know it.
fn boundary(inputs: &[ImageInput]) -> String {
    let has = |mark: &[u8]| {
        inputs.iter().any(|input| input.bytes.windows(mark.len()).any(|part| part == mark))
    };
    loop {
        let mark = format!("rookery-{}", uuid::Uuid::new_v4().simple());
        if !has(mark.as_bytes()) {
            return mark;
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_is_read_and_what_is_no_image_is_reported() {
        let answer = json!({
            "id": "r1",
            "data": [{"b64_json": "aGk=", "revised_prompt": "better"}, {"url": "http://x"}, {"b64_json": "?"}],
            "usage": {"input_tokens": 3},
        });
        let made = read(&answer).unwrap();
        assert_eq!(made.images[0].bytes, b"hi");
        assert_eq!(made.images[0].revised_prompt.as_deref(), Some("better"));
        assert_eq!((made.response.as_deref(), made.problems.len()), (Some("r1"), 2));
        assert_eq!(made.usage["input_tokens"], 3);
        for none in [json!({}), json!({"data": []}), json!({"data": [{"url": "http://x"}]})] {
            assert!(read(&none).is_err(), "{none}");
        }
    }

    #[test]
    fn a_form_has_members_and_files() {
        let input = ImageInput { bytes: b"PNG".to_vec(), mime_type: "image/png".to_owned() };
        let members = json!({"prompt": "a \"cat\"", "n": 2}).as_object().cloned().unwrap();
        let text = String::from_utf8(form(&members, &[input]).bytes.to_vec()).unwrap();
        assert!(text.contains("name=\"prompt\"\r\n\r\na \"cat\"\r\n"), "{text}");
        assert!(text.contains("name=\"n\"\r\n\r\n2\r\n"), "{text}");
        assert!(text.contains("filename=\"0.png\"\r\nContent-Type: image/png\r\n\r\nPNG\r\n"));
        assert!(text.ends_with("--\r\n"));
    }
}
