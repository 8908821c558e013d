//! Media: listed, read, shown, deleted, brought, attached and made.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rookery_core as core;
use rookery_wire::rpc::NoParams;
use serde_json::{Map, Value};

use crate::context::Cx;
use crate::errors::Error;
use crate::wire::media::{
    ImageAction, ImageGenerateParams, ImageGenerateResult, ImageGeneration, ImageModel,
    ImageOutput, ImageProvider, ImageProvidersListResult, ImageUsage, InputImage,
    MediaAttachToTurnParams, MediaAttachToTurnResult, MediaAttachment, MediaDeleteResult,
    MediaIdParams, MediaImportParams, MediaImportResult, MediaListParams, MediaListResult,
    MediaReadParams, MediaReadResult, MediaThumbnailResult,
};
use crate::{ids, media};

/// The most bytes of an artifact that are read, unless it is said.
const USUAL_READ: u64 = 10 << 20;

fn artifact_id(text: &str) -> Result<&str, Error> {
    ids::file_name("artifactId", text)
}

pub(crate) async fn list(cx: Cx, params: MediaListParams) -> Result<MediaListResult, Error> {
    // A thread that is not known has none.
    let thread = match params.thread_id.as_deref().map(str::parse) {
        None => None,
        Some(Ok(thread)) => Some(thread),
        Some(Err(_)) => return Ok(MediaListResult { artifacts: Vec::new() }),
    };
    let found = cx.core.media().list(thread, params.kind.map(media::read_kind)).await?;
    Ok(MediaListResult { artifacts: found.iter().map(|it| media::artifact(&cx, it)).collect() })
}

pub(crate) async fn read(cx: Cx, params: MediaReadParams) -> Result<MediaReadResult, Error> {
    let most = params.max_bytes.unwrap_or(USUAL_READ);
    let (artifact, bytes) = cx.core.media().read(artifact_id(&params.artifact_id)?, most).await?;
    let artifact = media::artifact(&cx, &artifact);
    Ok(MediaReadResult { artifact, bytes_base64: STANDARD.encode(bytes) })
}

pub(crate) async fn thumbnail(
    cx: Cx,
    params: MediaIdParams,
) -> Result<MediaThumbnailResult, Error> {
    let (preview, bytes) = cx.core.media().thumbnail(artifact_id(&params.artifact_id)?).await?;
    cx.flush().await;
    Ok(MediaThumbnailResult {
        preview: media::preview(&cx, &preview),
        bytes_base64: bytes.map(|bytes| STANDARD.encode(bytes)),
    })
}

pub(crate) async fn delete(cx: Cx, params: MediaIdParams) -> Result<MediaDeleteResult, Error> {
    let deleted = cx.core.media().delete(artifact_id(&params.artifact_id)?).await?;
    cx.flush().await;
    Ok(MediaDeleteResult { deleted })
}

pub(crate) async fn attach(
    cx: Cx,
    params: MediaAttachToTurnParams,
) -> Result<MediaAttachToTurnResult, Error> {
    let thread = params.thread_id.as_deref().map(ids::thread).transpose()?;
    let attached = cx.core.media().attach(artifact_id(&params.artifact_id)?, thread).await?;
    let image = attached.is_image().then(|| InputImage { image_url: attached.data_url.clone() });
    let attachment = MediaAttachment {
        artifact_id: attached.artifact.id.clone(),
        mime_type: attached.artifact.mime_type.clone(),
        data_url: attached.data_url,
    };
    Ok(MediaAttachToTurnResult { attachment, image })
}

pub(crate) async fn import(cx: Cx, params: MediaImportParams) -> Result<MediaImportResult, Error> {
    let thread = params.thread_id.as_deref().map(ids::thread).transpose()?;
    let brought = match (params.path, params.bytes_base64) {
        (Some(path), None) => core::MediaInput::Path(path.into()),
        (None, Some(text)) => core::MediaInput::Bytes(decoded("bytesBase64", &text)?),
        _ => return Err(Error::invalid("either path or bytesBase64 is needed, and not both")),
    };
    let artifact = cx.core.media().import(brought, thread, params.title).await?;
    cx.flush().await;
    Ok(MediaImportResult { artifact: media::artifact(&cx, &artifact) })
}

pub(crate) async fn image_providers(
    cx: Cx,
    _: NoParams,
) -> Result<ImageProvidersListResult, Error> {
    let provider = |it: core::ImageProvider| ImageProvider {
        display_name: it.name,
        supports_images: true,
        supports_videos: false,
        configured: it.is_usable,
        default_model: it.model.id.clone(),
        image_models: vec![ImageModel {
            display_name: it.model.id.clone(),
            id: it.model.id,
            provider: it.id.clone(),
            is_default: true,
            legacy: false,
            supports_edit: it.model.edits,
            supports_multiple_outputs: true,
            supports_transparent_background: false,
            supports_partial_images: false,
        }],
        id: it.id,
    };
    let providers: Vec<ImageProvider> =
        cx.core.media().image_providers().into_iter().map(provider).collect();
    let default_provider = providers.first().map(|first| first.id.clone()).unwrap_or_default();
    Ok(ImageProvidersListResult { default_provider, providers })
}

pub(crate) async fn generate(
    cx: Cx,
    params: ImageGenerateParams,
) -> Result<ImageGenerateResult, Error> {
    cx.client.check_not_drained()?;
    let made = cx.core.media().make(wanted(params)?).await?;
    cx.flush().await;
    let count = |name: &str| made.usage.get(name).and_then(Value::as_u64);
    let usage = (!made.usage.is_empty()).then(|| ImageUsage {
        input_tokens: count("input_tokens"),
        output_tokens: count("output_tokens"),
        total_tokens: count("total_tokens"),
    });
    let output = |it: &core::MadeArtifact| ImageOutput {
        artifact: media::artifact(&cx, &it.artifact),
        preview: media::preview(&cx, &it.preview),
        revised_prompt: it.revised_prompt.clone(),
    };
    Ok(ImageGenerateResult {
        response: ImageGeneration {
            outputs: made.outputs.iter().map(output).collect(),
            provider: made.provider,
            model: made.model,
            provider_response_id: made.response,
            usage,
            output_errors: made.problems,
        },
    })
}

fn wanted(params: ImageGenerateParams) -> Result<core::NewImage, Error> {
    let thread = params.thread_id.as_deref().map(ids::thread).transpose()?;
    let mut inputs: Vec<core::NewImageInput> =
        params.input_artifacts.into_iter().map(core::NewImageInput::Artifact).collect();
    for image in &params.input_images {
        let bytes = decoded("inputImages.bytesBase64", &image.bytes_base64)?;
        inputs.push(core::NewImageInput::Bytes(bytes));
    }
    let mut options: Map<String, Value> = params.provider_options;
    let texts = [
        ("aspect_ratio", params.aspect_ratio),
        ("size", params.size),
        ("image_size", params.image_size),
        ("quality", params.quality),
        ("output_format", params.output_format),
        ("background", params.background),
        ("moderation", params.moderation),
    ];
    options.extend(texts.into_iter().filter_map(|(name, text)| Some((name.into(), text?.into()))));
    options.extend(params.output_compression.map(|it| ("output_compression".into(), it.into())));
    Ok(core::NewImage {
        prompt: params.prompt,
        provider: params.provider,
        model: params.model,
        action: match params.action {
            None | Some(ImageAction::Auto) => core::ImageAction::Auto,
            Some(ImageAction::Generate) => core::ImageAction::Generate,
            Some(ImageAction::Edit) => core::ImageAction::Edit,
        },
        inputs,
        // What is negative is out of range as well.
        count: params.count.map(|count| u32::try_from(count).unwrap_or(0)),
        options,
        thread,
    })
}

fn decoded(member: &str, text: &str) -> Result<Vec<u8>, Error> {
    STANDARD.decode(text).map_err(|_| Error::invalid(format!("{member} is not padded base64")))
}
