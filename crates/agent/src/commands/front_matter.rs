//! The head of a command file: YAML between two lines of dashes, with a fixed set of keys.
//!
//! Pure. It knows the spelling of the file and nothing of what the keys mean.

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, Deserializer, MapAccess, Visitor};

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

/// Splits a file into its head and its body. A file without a head is all body.
pub(super) fn split<Head: DeserializeOwned + Default>(
    text: &str,
) -> Result<(Head, String), String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| is_fence(line)) else {
        return Ok((Head::default(), text));
    };
    let mut end = first.len();
    for line in lines {
        if is_fence(line) {
            let head = read(&text[first.len()..end])?;
            return Ok((head, text[end + line.len()..].to_owned()));
        }
        end += line.len();
    }
    Err("its front matter has no closing --- line".into())
}

fn is_fence(line: &str) -> bool {
    line.trim_end() == "---"
}

fn read<Head: DeserializeOwned + Default>(yaml: &str) -> Result<Head, String> {
    if yaml.trim().is_empty() {
        return Ok(Head::default());
    }
    let options = serde_saphyr::options! { with_snippet: false };
    serde_saphyr::from_str_with_options::<Option<Head>>(yaml, options)
        .map(Option::unwrap_or_default)
        .map_err(|error| {
            let text = error.to_string();
            format!("its front matter is wrong: {}", text.lines().next().unwrap_or_default())
        })
}
