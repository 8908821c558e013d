//! What bytes are, by how they begin. Names and what callers say are not looked at.

use crate::artifact::Kind;

/// What bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sniffed {
    /// The sort of media.
    pub kind: Kind,
    /// The type by its usual name.
    pub mime_type: &'static str,
    /// What files of the type end with.
    pub ending: &'static str,
}

const fn of(kind: Kind, mime_type: &'static str, ending: &'static str) -> Sniffed {
    Sniffed { kind, mime_type, ending }
}

/// How types begin: an offset and the bytes that stand there.
const BEGINNINGS: &[(usize, &[u8], Sniffed)] = &[
    (0, b"\x89PNG\r\n\x1a\n", of(Kind::Image, "image/png", "png")),
    (0, b"\xff\xd8\xff", of(Kind::Image, "image/jpeg", "jpg")),
    (0, b"GIF87a", of(Kind::Image, "image/gif", "gif")),
    (0, b"GIF89a", of(Kind::Image, "image/gif", "gif")),
    (8, b"WEBPVP8", of(Kind::Image, "image/webp", "webp")),
    (4, b"ftypavif", of(Kind::Image, "image/avif", "avif")),
    (4, b"ftypheic", of(Kind::Image, "image/heic", "heic")),
    (0, b"BM", of(Kind::Image, "image/bmp", "bmp")),
    (0, b"II*\0", of(Kind::Image, "image/tiff", "tiff")),
    (0, b"MM\0*", of(Kind::Image, "image/tiff", "tiff")),
    (4, b"ftypqt", of(Kind::Video, "video/quicktime", "mov")),
    (4, b"ftypM4A", of(Kind::Audio, "audio/mp4", "m4a")),
    (4, b"ftyp", of(Kind::Video, "video/mp4", "mp4")),
    (0, b"\x1aE\xdf\xa3", of(Kind::Video, "video/webm", "webm")),
    (8, b"AVI LIST", of(Kind::Video, "video/x-msvideo", "avi")),
    (8, b"WAVE", of(Kind::Audio, "audio/wav", "wav")),
    (0, b"ID3", of(Kind::Audio, "audio/mpeg", "mp3")),
    (0, b"\xff\xfb", of(Kind::Audio, "audio/mpeg", "mp3")),
    (0, b"OggS", of(Kind::Audio, "audio/ogg", "ogg")),
    (0, b"fLaC", of(Kind::Audio, "audio/flac", "flac")),
    (0, b"%PDF-", of(Kind::Other, "application/pdf", "pdf")),
    (0, b"PK\x03\x04", of(Kind::Other, "application/zip", "zip")),
];

/// What is not known and is no text.
const UNKNOWN: Sniffed = of(Kind::Other, "application/octet-stream", "bin");
const TEXT: Sniffed = of(Kind::Other, "text/plain", "txt");
/// How much is looked at to find out whether it is a text.
const LOOKED_AT: usize = 4096;

/// What bytes are.
pub fn sniff(bytes: &[u8]) -> Sniffed {
    let begins = |(offset, magic, _): &&(usize, &[u8], Sniffed)| {
        bytes.get(*offset..).is_some_and(|rest| rest.starts_with(magic))
    };
    let riff = |known: &&(usize, &[u8], Sniffed)| known.0 != 8 || bytes.starts_with(b"RIFF");
    if let Some((_, _, known)) = BEGINNINGS.iter().filter(riff).find(begins) {
        return *known;
    }
    let start = &bytes[..bytes.len().min(LOOKED_AT)];
    let is_text = match std::str::from_utf8(start) {
        Ok(_) => true,
        // A character that is cut off at the end.
        Err(error) => error.error_len().is_none() && start.len() == LOOKED_AT,
    };
    if is_text && !start.contains(&0) { TEXT } else { UNKNOWN }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_what_they_begin_with() {
        for (bytes, mime_type) in [
            (&b"\x89PNG\r\n\x1a\nrest"[..], "image/png"),
            (b"\xff\xd8\xff\xe0", "image/jpeg"),
            (b"GIF89a", "image/gif"),
            (b"RIFF\0\0\0\0WEBPVP8L", "image/webp"),
            (b"JUNK\0\0\0\0WEBPVP8L", "application/octet-stream"),
            (b"RIFF\0\0\0\0WAVEfmt ", "audio/wav"),
            (b"\0\0\0\x18ftypavif", "image/avif"),
            (b"\0\0\0\x18ftypisom", "video/mp4"),
            (b"%PDF-1.7", "application/pdf"),
            ("wörter".as_bytes(), "text/plain"),
            (b"", "text/plain"),
            (b"\xff\xfe\0", "application/octet-stream"),
        ] {
            assert_eq!(sniff(bytes).mime_type, mime_type, "{bytes:?}");
        }
        let long = "ä".repeat(4096);
        assert_eq!(sniff(&long.as_bytes()[1..]).mime_type, "application/octet-stream");
        assert_eq!(sniff(format!("x{long}").as_bytes()).mime_type, "text/plain");
    }
}
