//! What a user says, as core takes it: words joined, images checked, files named.

use std::path::Path;

use rookery_agent::tools::read_image;
use rookery_agent::turn::Message;

use crate::errors::Error;
use crate::wire::input::InputItem;

/// Reads what was said; none if it is blank.
pub(crate) async fn message(
    prompt: Option<String>,
    input: Vec<InputItem>,
) -> Result<Option<Message>, Error> {
    let mut message = Message::default();
    let mut words = Vec::new();
    for item in input {
        match item {
            InputItem::Text(text) => words.push(text),
            InputItem::Image(url) => message.images.push(checked_url(url)?),
            InputItem::LocalImage(path) => message.images.push(local_image(path).await?),
            InputItem::File(path) => {
                let path = absolute(&path)?;
                message.context.push(format!("The user refers to the file {}", path.display()));
            }
        }
    }
    message.text = words.join("\n");
    if message.text.trim().is_empty() {
        message.text = prompt.unwrap_or_default();
    }
    let is_blank =
        message.text.trim().is_empty() && message.images.is_empty() && message.context.is_empty();
    Ok((!is_blank).then_some(message))
}

fn checked_url(url: String) -> Result<String, Error> {
    let is_known = ["data:", "http://", "https://"].iter().any(|scheme| url.starts_with(scheme));
    match is_known {
        true => Ok(url),
        false => Err(Error::invalid("imageUrl must be a data: or http address")),
    }
}

fn absolute(path: &str) -> Result<&Path, Error> {
    let path = Path::new(path);
    match path.is_absolute() {
        true => Ok(path),
        false => Err(Error::invalid("path must be absolute")),
    }
}

async fn local_image(path: String) -> Result<String, Error> {
    absolute(&path)?;
    let read = tokio::task::spawn_blocking(move || read_image(Path::new(&path)));
    let read = read.await.map_err(|error| Error::runtime(error.to_string()))?;
    read.map_err(Error::invalid)
}
