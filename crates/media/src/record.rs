//! An artifact as its file has it: JSON with members in camelCase, which other programs read as well. A
//! record that is not about its own file is no record.

use std::path::Path;

use rookery_model::Timestamp;
use serde::{Deserialize, Serialize};

use crate::artifact::{Artifact, Dimensions, Generation, Kind, is_id};

/// The largest file that is read.
pub const LARGEST_RECORD: u64 = 256 << 10;

/// The bytes of an artifact's record, whose files lie in this directory.
///
/// # Errors
/// If they cannot be made, which no artifact of ours does.
pub fn write_record(artifact: &Artifact, dir: &Path) -> Result<Vec<u8>, String> {
    let record = record(artifact, dir);
    let mut bytes = serde_json::to_vec_pretty(&record).map_err(|error| error.to_string())?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// The artifact that a record of this id describes.
///
/// # Errors
/// If it describes none, with the reason.
pub fn read_record(id: &str, bytes: &[u8]) -> Result<Artifact, String> {
    let record: Record = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    if record.id != id || !is_id(id) {
        return Err("it is about another artifact".to_owned());
    }
    let own = |path: &str| own_name(id, path);
    let file = own(&record.store_path).ok_or("its file is not named by its id")?;
    let thumbnail = record.thumbnail_path.as_deref().and_then(own);
    let created_at: jiff::Timestamp =
        record.created_at.parse().map_err(|_| "its time is none".to_owned())?;
    Ok(Artifact {
        kind: Kind::from_word(&record.kind).ok_or("its kind is not known")?,
        mime_type: record.mime_type,
        dimensions: record.dimensions,
        duration_millis: record.duration_millis,
        byte_size: record.byte_size,
        provider: record.provider,
        prompt_hash: record.prompt_hash,
        thumbnail: thumbnail.filter(|name| *name != file),
        file,
        generation: record.generation,
        created_at: Timestamp::from_micros(created_at.as_microsecond()),
        is_owned: record.roder_owned,
        thread: record.thread_id.and_then(|id| id.parse().ok()),
        turn: record.turn_id.and_then(|id| id.parse().ok()),
        title: record.title,
        sha256: record.sha256,
        id: record.id,
    })
}

/// The name of a file, if it is named by the id: whatever directories a record names are not believed.
fn own_name(id: &str, path: &str) -> Option<String> {
    let name = Path::new(path).file_name()?.to_str()?;
    let ending = name.strip_prefix(id)?.strip_prefix('.')?;
    (is_id(ending) && ending != "json").then(|| name.to_owned())
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    id: String,
    kind: String,
    mime_type: String,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "dimensions")]
    dimensions: Option<Dimensions>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    duration_millis: Option<u64>,
    byte_size: u64,
    provider: String,
    #[serde(default)]
    prompt_hash: String,
    store_path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    thumbnail_path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "generation")]
    generation: Option<Generation>,
    created_at: String,
    #[serde(default)]
    roder_owned: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    thread_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    turn_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    sha256: String,
}

fn record(artifact: &Artifact, dir: &Path) -> Record {
    let path = |name: &String| dir.join(name).to_string_lossy().into_owned();
    Record {
        id: artifact.id.clone(),
        kind: artifact.kind.word().to_owned(),
        mime_type: artifact.mime_type.clone(),
        dimensions: artifact.dimensions,
        duration_millis: artifact.duration_millis,
        byte_size: artifact.byte_size,
        provider: artifact.provider.clone(),
        prompt_hash: artifact.prompt_hash.clone(),
        store_path: path(&artifact.file),
        thumbnail_path: artifact.thumbnail.as_ref().map(path),
        generation: artifact.generation.clone(),
        created_at: artifact.created_at.to_string(),
        roder_owned: artifact.is_owned,
        thread_id: artifact.thread.map(|thread| thread.to_string()),
        turn_id: artifact.turn.map(|turn| turn.to_string()),
        title: artifact.title.clone(),
        sha256: artifact.sha256.clone(),
    }
}

/// Twins of the domain's types, which know no serde.
macro_rules! twin {
    ($module:ident: $Type:ident { $($(#[$option:meta])* $field:ident: $of:ty),+ $(,)? }) => {
        mod $module {
            use serde::{Deserialize, Deserializer, Serialize, Serializer};

            use super::$Type;

            #[derive(Serialize, Deserialize)]
            #[serde(rename_all = "camelCase")]
            struct Twin {
                $($(#[$option])* $field: $of),+
            }

            pub(super) fn serialize<S: Serializer>(
                value: &Option<$Type>,
                serializer: S,
            ) -> Result<S::Ok, S::Error> {
                let twin = value.clone().map(|value| Twin { $($field: value.$field),+ });
                twin.serialize(serializer)
            }

            pub(super) fn deserialize<'de, D: Deserializer<'de>>(
                deserializer: D,
            ) -> Result<Option<$Type>, D::Error> {
                let twin = Option::<Twin>::deserialize(deserializer)?;
                Ok(twin.map(|twin| $Type { $($field: twin.$field),+ }))
            }
        }
    };
}

twin!(dimensions: Dimensions { width: u32, height: u32 });
twin!(generation: Generation {
    provider: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    revised_prompt: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    watermark: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    safety: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "providerResponseId")]
    response: Option<String>,
});

#[cfg(test)]
mod tests {
    use rookery_model::{ThreadId, TurnId};
    use serde_json::{Value, json};

    use super::*;

    fn artifact() -> Artifact {
        Artifact {
            id: "media-1".into(),
            kind: Kind::Image,
            mime_type: "image/png".into(),
            dimensions: Some(Dimensions { width: 3, height: 4 }),
            duration_millis: None,
            byte_size: 5,
            provider: "import".into(),
            prompt_hash: String::new(),
            file: "media-1.png".into(),
            thumbnail: Some("media-1.thumb.png".into()),
            generation: Some(Generation {
                provider: "fake".into(),
                response: Some("r".into()),
                ..Generation::default()
            }),
            created_at: Timestamp::from_micros(1_000_000),
            is_owned: true,
            thread: Some(ThreadId::new(7)),
            turn: Some(TurnId::new(8)),
            title: Some("t".into()),
            sha256: "00".into(),
        }
    }

    #[test]
    fn a_record_is_read_as_it_is_written() {
        let bytes = write_record(&artifact(), Path::new("/data/artifacts")).unwrap();
        assert_eq!(read_record("media-1", &bytes), Ok(artifact()));
        let value: Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(value["storePath"], "/data/artifacts/media-1.png");
        assert_eq!(value["dimensions"], json!({"width": 3, "height": 4}));
        assert_eq!(value["generation"], json!({"provider": "fake", "providerResponseId": "r"}));
    }

    #[test]
    fn a_record_of_a_program_that_says_less_is_read_too() {
        let record = json!({
            "id": "media-2", "kind": "image", "mimeType": "image/png", "byteSize": 1,
            "provider": "fake", "promptHash": "h", "storePath": "/elsewhere/media-2.png",
            "thumbnailPath": "/elsewhere/media-2.png", "createdAt": "2026-01-01T00:00:00Z",
            "roderOwned": true,
        });
        let read = read_record("media-2", record.to_string().as_bytes()).unwrap();
        assert_eq!((read.file.as_str(), read.thumbnail, read.thread), ("media-2.png", None, None));
    }

    #[test]
    fn a_record_that_leads_elsewhere_is_none() {
        let good: Value =
            serde_json::from_slice(&write_record(&artifact(), Path::new("/d")).unwrap()).unwrap();
        for (member, value) in [
            ("id", json!("media-2")),
            ("storePath", json!("/etc/passwd")),
            ("storePath", json!("/d/media-1.json")),
            ("storePath", json!("/d/media-1./../x")),
            ("storePath", json!("media-1.")),
            ("storePath", json!("..")),
            ("kind", json!("planet")),
            ("createdAt", json!("yesterday")),
            ("byteSize", json!(-1)),
        ] {
            let mut bad = good.clone();
            bad[member] = value;
            assert!(read_record("media-1", bad.to_string().as_bytes()).is_err(), "{bad}");
        }
        assert!(read_record("media-1", b"{").is_err());
        assert!(read_record("../media-1", b"{}").is_err());
    }
}
