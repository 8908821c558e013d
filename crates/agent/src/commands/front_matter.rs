//! The head of a command file: a fixed set of keys.
//!
//! Pure. It knows the spelling of the keys and nothing of what they mean.

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, Visitor};

/// The keys of a head.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct FrontMatter {
    pub(super) name: Option<String>,
    pub(super) description: Option<String>,
    pub(super) argument_hint: Option<Hint>,
    pub(super) allowed_tools: Option<Vec<String>>,
    pub(super) model: Option<String>,
    pub(super) agent: Option<String>,
    pub(super) include: Option<Includes>,
}

/// What the arguments look like. `[file]` without quotes is a list to YAML, and meant as it stands.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Hint {
    Text(String),
    List(Vec<String>),
}

impl Hint {
    pub(super) fn into_text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::List(words) => format!("[{}]", words.join(", ")),
        }
    }
}

/// What is included.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Includes {
    #[serde(default)]
    pub(super) files: Vec<FileInclude>,
    #[serde(default)]
    pub(super) shell: Vec<ShellInclude>,
    #[serde(default)]
    pub(super) urls: Vec<UrlInclude>,
}

/// A file, as a path alone or with more to say.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FileInclude {
    pub(super) id: Option<String>,
    pub(super) path: String,
    pub(super) optional: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileFields {
    id: Option<String>,
    path: String,
    #[serde(default)]
    optional: bool,
}

impl<'de> Deserialize<'de> for FileInclude {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PathOrFields;
        impl<'de> Visitor<'de> for PathOrFields {
            type Value = FileInclude;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a path or a map with a path")
            }

            fn visit_str<E: serde::de::Error>(self, path: &str) -> Result<FileInclude, E> {
                Ok(FileInclude { id: None, path: path.to_owned(), optional: false })
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<FileInclude, A::Error> {
                let FileFields { id, path, optional } =
                    FileFields::deserialize(MapAccessDeserializer::new(map))?;
                Ok(FileInclude { id, path, optional })
            }
        }
        deserializer.deserialize_any(PathOrFields)
    }
}

/// A command line for the shell.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ShellInclude {
    pub(super) id: Option<String>,
    pub(super) command: String,
    pub(super) timeout_seconds: Option<u64>,
}

/// A page.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UrlInclude {
    pub(super) id: Option<String>,
    pub(super) url: String,
    #[serde(default)]
    pub(super) optional: bool,
}

/// The keys of a head as others write it, who put more into it than we know.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct PlainFrontMatter {
    pub(super) description: Option<String>,
    pub(super) argument_hint: Option<Hint>,
    pub(super) mode: Option<String>,
}
