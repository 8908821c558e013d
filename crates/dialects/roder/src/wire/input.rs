//! What a user says: text, images and files.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

/// One piece of what a user says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "AnyInput", into = "AnyInput")]
pub enum InputItem {
    /// Words.
    Text(String),
    /// An image by its `data:` or `http` address.
    Image(String),
    /// An image in a file; the path has to be absolute.
    LocalImage(String),
    /// A file that is spoken of; the path has to be absolute.
    File(String),
}

/// The same with every member that any kind has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AnyInput {
    /// `text`, `image`, `input_image`, `localImage`, `file` or `mention`.
    r#type: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    image_url: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path: Option<String>,
}

impl TryFrom<AnyInput> for InputItem {
    type Error = String;

    fn try_from(input: AnyInput) -> Result<Self, String> {
        let AnyInput { r#type, text, image_url, path } = input;
        let missing = |member: &str| format!("input of type `{}` has no `{member}`", r#type);
        match r#type.as_str() {
            "text" => text.map(Self::Text).ok_or_else(|| missing("text")),
            "image" | "input_image" | "inputImage" if image_url.is_some() => {
                image_url.map(Self::Image).ok_or_else(|| missing("imageUrl"))
            }
            "image" | "localImage" | "local_image" => {
                path.map(Self::LocalImage).ok_or_else(|| missing("path"))
            }
            "input_image" | "inputImage" => Err(missing("imageUrl")),
            "file" | "mention" => path.map(Self::File).ok_or_else(|| missing("path")),
            other => {
                Err(format!("unknown input type `{}`", other.chars().take(64).collect::<String>()))
            }
        }
    }
}

impl From<InputItem> for AnyInput {
    fn from(item: InputItem) -> Self {
        let empty = Self { r#type: String::new(), text: None, image_url: None, path: None };
        match item {
            InputItem::Text(text) => Self { r#type: "text".into(), text: Some(text), ..empty },
            InputItem::Image(url) => Self { r#type: "image".into(), image_url: Some(url), ..empty },
            InputItem::LocalImage(path) => {
                Self { r#type: "localImage".into(), path: Some(path), ..empty }
            }
            InputItem::File(path) => Self { r#type: "file".into(), path: Some(path), ..empty },
        }
    }
}

impl JsonSchema for InputItem {
    fn schema_name() -> Cow<'static, str> {
        "InputItem".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        AnyInput::json_schema(generator)
    }
}
