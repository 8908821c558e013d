//! Images made from words: by a server that the settings name, or by the one that needs none and always
//! makes the same pixel.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use rookery_agent::services::{self, ImageInput, ImageRequest, MadeImages};
use rookery_media::{Artifact, Generation, Kind, Preview, fake_image, sniff};
use rookery_model::{Error, Result, ThreadId};
use serde_json::{Map, Value};

use super::{LARGEST, NewArtifact, digest};
use crate::rooms::Media;
use crate::secrets;

/// The provider that needs no server.
const FAKE: &str = "fake";
const FAKE_MODEL: &str = "fake-image";
/// The most images that are made at once.
const MOST: u32 = 10;
/// The longest prompt, in bytes.
const LONGEST_PROMPT: usize = 32 << 10;
/// The most images that one is made from.
const MOST_INPUTS: usize = 16;

/// What is done to make an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ImageAction {
    /// Others are changed if there are some.
    #[default]
    Auto,
    /// It is made from words.
    Generate,
    /// Others are changed.
    Edit,
}

/// An image that another is made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NewImageInput {
    /// One that is kept, by its id.
    Artifact(String),
    Bytes(Vec<u8>),
}

/// Images to be made.
#[derive(Clone, Debug, Default)]
pub struct NewImage {
    /// What is to be seen.
    pub prompt: String,
    /// Who makes it; the usual provider if none is named.
    pub provider: Option<String>,
    /// The model; the provider's own if none is named.
    pub model: Option<String>,
    /// What is done.
    pub action: ImageAction,
    /// What it is made from.
    pub inputs: Vec<NewImageInput>,
    /// How many; one if it is not said.
    pub count: Option<u32>,
    /// Further members of the request, such as `size`, as the API calls them.
    pub options: Map<String, Value>,
    /// The thread they belong to.
    pub thread: Option<ThreadId>,
}

/// Images that were made, and kept.
#[derive(Clone, Debug)]
pub struct MadeArtifacts {
    /// Who made them.
    pub provider: String,
    pub model: String,
    /// The images.
    pub outputs: Vec<MadeArtifact>,
    /// The provider's name for its answer.
    pub response: Option<String>,
    /// What it counted, as it calls it.
    pub usage: Map<String, Value>,
    /// What went wrong with images that are not among them.
    pub problems: Vec<String>,
}

/// One of them.
#[derive(Clone, Debug)]
pub struct MadeArtifact {
    /// The image.
    pub artifact: Arc<Artifact>,
    /// How it is shown.
    pub preview: Preview,
    /// The prompt that was used in the end.
    pub revised_prompt: Option<String>,
}

/// A provider as it is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageProvider {
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// Whether it has what it needs.
    pub is_usable: bool,
    pub model: ImageModel,
}

/// A model of a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageModel {
    /// Its name.
    pub id: String,
    /// Whether it changes images.
    pub edits: bool,
}

impl Media {
    /// All providers; the usual one first.
    pub fn image_providers(&self) -> Vec<ImageProvider> {
        let agents = &self.core.inner.agents;
        let settings = agents.settings();
        let served = settings.media.providers.iter().map(|(id, set)| ImageProvider {
            id: id.clone(),
            name: format!("{id} (OpenAI-compatible)"),
            is_usable: agents.service(set).is_usable(),
            model: ImageModel { id: set.model.clone(), edits: true },
        });
        let fake = ImageProvider {
            id: FAKE.to_owned(),
            name: "Fake (offline, one pixel)".to_owned(),
            is_usable: true,
            model: ImageModel { id: FAKE_MODEL.to_owned(), edits: true },
        };
        served.chain([fake]).collect()
    }

    /// Makes images and keeps them.
    ///
    /// # Errors
    /// If a part of the request is wrong, the provider makes none, or they cannot be kept.
    pub fn make(&self, new: NewImage) -> BoxFuture<'_, Result<MadeArtifacts>> {
        Box::pin(self.make_inner(new))
    }

    async fn make_inner(&self, new: NewImage) -> Result<MadeArtifacts> {
        let provider = self.chosen_provider(new.provider.as_deref())?;
        let (count, edits) = checked(&new)?;
        if let Some(thread) = new.thread {
            self.core.threads().get(thread).ok_or_else(|| crate::world::no_thread(thread))?;
        }
        let inputs = self.inputs(new.inputs, edits).await?;
        let model = new.model.unwrap_or_else(|| provider.model.id.clone());
        let request = ImageRequest {
            prompt: new.prompt.clone(),
            model: Some(model.clone()),
            count,
            inputs,
            options: new.options,
        };
        let made = self.ask(&provider, &request).await?;
        let mut all = MadeArtifacts {
            provider: provider.id,
            model,
            outputs: Vec::new(),
            response: made.response,
            usage: made.usage,
            problems: made.problems,
        };
        let hash = digest(new.prompt.as_bytes());
        for image in made.images {
            let revised_prompt =
                image.revised_prompt.map(|text| secrets::hidden(&text).into_owned());
            if sniff(&image.bytes).kind != Kind::Image {
                all.problems.push("the provider's result is not an image".to_owned());
                continue;
            }
            let artifact = self
                .keep(NewArtifact {
                    bytes: image.bytes,
                    provider: all.provider.clone(),
                    thread: new.thread,
                    prompt_hash: hash.clone(),
                    generation: Some(Generation {
                        provider: all.provider.clone(),
                        model: Some(all.model.clone()),
                        revised_prompt: revised_prompt.clone(),
                        response: all.response.clone(),
                        ..Generation::default()
                    }),
                    ..NewArtifact::default()
                })
                .await?;
            let preview = artifact.preview(None);
            all.outputs.push(MadeArtifact { artifact, preview, revised_prompt });
        }
        match all.outputs.is_empty() {
            true => Err(Error::failed(all.problems.pop().unwrap_or_default())),
            false => Ok(all),
        }
    }

    fn chosen_provider(&self, id: Option<&str>) -> Result<ImageProvider> {
        let mut providers = self.image_providers().into_iter();
        let found = match id {
            None => providers.next(),
            Some(id) => providers.find(|provider| provider.id == id),
        };
        found.ok_or_else(|| {
            let shown: String = id.unwrap_or_default().chars().take(64).collect();
            let ids: Vec<String> = self.image_providers().into_iter().map(|it| it.id).collect();
            let message = format!("unknown provider: {shown}; there is {}", ids.join(", "));
            Error::invalid("provider", message)
        })
    }

    async fn inputs(&self, inputs: Vec<NewImageInput>, edits: bool) -> Result<Vec<ImageInput>> {
        let mut found = Vec::new();
        for input in inputs {
            let bytes = match input {
                NewImageInput::Bytes(bytes) => bytes,
                NewImageInput::Artifact(id) => self.read(&id, LARGEST).await?.1,
            };
            let known = sniff(&bytes);
            if known.kind != Kind::Image {
                return Err(Error::failed("images can only be made from images"));
            }
            found.push(ImageInput { bytes, mime_type: known.mime_type.to_owned() });
        }
        Ok(if edits { found } else { Vec::new() })
    }

    async fn ask(&self, provider: &ImageProvider, request: &ImageRequest) -> Result<MadeImages> {
        if provider.id == FAKE {
            let image = || services::MadeImage { bytes: fake_image(), revised_prompt: None };
            let images = (0..request.count).map(|_| image()).collect();
            return Ok(MadeImages { images, ..MadeImages::default() });
        }
        let agents = &self.core.inner.agents;
        let settings = agents.settings();
        let set = settings.media.providers.get(&provider.id);
        let set = set.ok_or_else(|| Error::failed("the provider is gone from the settings"))?;
        let permit = self.room().makers.acquire().await;
        let _permit = permit.map_err(|error| Error::failed(error.to_string()))?;
        let made = services::make_images(&agents.service(set), request).await;
        made.map_err(|why| Error::failed(format!("{} makes no image: {why}", provider.id)))
    }
}

/// How many images are wanted, and whether others are changed.
fn checked(new: &NewImage) -> Result<(u32, bool)> {
    if new.prompt.trim().is_empty() {
        return Err(Error::failed("prompt must not be empty"));
    }
    if new.prompt.len() > LONGEST_PROMPT {
        return Err(Error::failed(format!("prompt must have at most {LONGEST_PROMPT} bytes")));
    }
    let count = new.count.unwrap_or(1);
    if !(1..=MOST).contains(&count) {
        return Err(Error::failed(format!("count must be from 1 to {MOST}")));
    }
    if new.inputs.len() > MOST_INPUTS {
        return Err(Error::failed(format!("at most {MOST_INPUTS} images can be given")));
    }
    let edits = match new.action {
        ImageAction::Edit if new.inputs.is_empty() => {
            return Err(Error::failed("an edit needs an image: name input artifacts or images"));
        }
        ImageAction::Edit => true,
        ImageAction::Auto => !new.inputs.is_empty(),
        ImageAction::Generate => false,
    };
    Ok((count, edits))
}
