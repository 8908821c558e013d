//! Artifacts: images and other files that are kept. What bytes are, how large an image is, a small picture
//! of it, and the record of an artifact as its file has it.
//!
//! Pure: bytes go in, values come out. It knows neither core nor where files lie; whatever comes from
//! outside gives an error and never a panic.

mod artifact;
mod decode;
mod fake;
mod record;
mod sniff;
mod thumbnail;

pub use artifact::{Artifact, Dimensions, Generation, Kind, Preview, Strategy, is_id};
pub use decode::dimensions;
pub use fake::fake_image;
pub use record::{LARGEST_RECORD, read_record, write_record};
pub use sniff::{Sniffed, sniff};
pub use thumbnail::{LONGEST_SIDE, thumbnail};
