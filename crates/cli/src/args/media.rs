//! Arguments of `rookery media`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum, ValueHint};

/// Manage images and other files that threads use
#[derive(Debug, Args)]
pub(crate) struct Media {
    #[command(subcommand)]
    pub(crate) action: MediaAction,
}

/// What to do with artifacts.
#[derive(Debug, Subcommand)]
pub(crate) enum MediaAction {
    /// List artifacts, newest first
    #[command(visible_alias = "list")]
    Ls(MediaLs),
    /// Show an artifact's metadata
    Show(MediaShow),
    /// Keep a copy of a file and print its id
    Import(MediaImport),
    /// Write an artifact to a file
    Export(MediaExport),
    /// Write the thumbnail of an image to a file, as PNG
    Thumbnail(MediaThumbnail),
    /// Give an image to a thread's next turn
    Attach(MediaAttach),
    /// Generate images and print their ids
    Generate(MediaGenerate),
    /// Delete artifacts
    Rm(MediaRm),
}

/// Arguments of `rookery media thumbnail`.
#[derive(Debug, Args)]
pub(crate) struct MediaThumbnail {
    /// The artifact's id
    pub(crate) artifact: String,
    /// The file; - writes to stdout
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// Replace the file if it exists
    #[arg(short, long)]
    pub(crate) force: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `rookery media attach`.
#[derive(Debug, Args)]
pub(crate) struct MediaAttach {
    /// The artifact's id
    pub(crate) artifact: String,
    /// The thread
    #[arg(short, long)]
    pub(crate) thread: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `rookery media generate`.
#[derive(Debug, Args)]
pub(crate) struct MediaGenerate {
    /// Description of the image
    #[arg(required = true)]
    pub(crate) prompt: Vec<String>,
    /// Provider that generates it, such as `fake` [default: the first that is set up]
    #[arg(short, long, value_name = "NAME")]
    pub(crate) provider: Option<String>,
    /// Model of the provider [default: the provider's own choice]
    #[arg(short, long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Number of images [default: 1]
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) count: Option<u32>,
    /// Artifact to start from, an image; may be repeated
    #[arg(long, value_name = "ARTIFACT")]
    pub(crate) from: Vec<String>,
    /// Assign the images to this thread
    #[arg(short, long)]
    pub(crate) thread: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// A kind of media.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum MediaKind {
    Image,
    Video,
    Audio,
    Other,
}

/// Arguments of `rookery media ls`.
#[derive(Debug, Args)]
pub(crate) struct MediaLs {
    /// List those of this thread
    #[arg(short, long)]
    pub(crate) thread: Option<String>,
    /// List those of this kind
    #[arg(short, long)]
    pub(crate) kind: Option<MediaKind>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `rookery media show`.
#[derive(Debug, Args)]
pub(crate) struct MediaShow {
    /// The artifact's id
    pub(crate) artifact: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `rookery media import`.
#[derive(Debug, Args)]
pub(crate) struct MediaImport {
    /// The file
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// Assign it to this thread
    #[arg(short, long)]
    pub(crate) thread: Option<String>,
    /// Title [default: the name of the file]
    #[arg(long)]
    pub(crate) title: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `rookery media export`.
#[derive(Debug, Args)]
pub(crate) struct MediaExport {
    /// The artifact's id
    pub(crate) artifact: String,
    /// Write it to this file; - writes to stdout
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// Replace the file if it exists
    #[arg(short, long)]
    pub(crate) force: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `rookery media rm`.
#[derive(Debug, Args)]
pub(crate) struct MediaRm {
    /// The ids of artifacts
    #[arg(required = true)]
    pub(crate) artifacts: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
