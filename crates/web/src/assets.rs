//! The files of the page, and the mark that is part of their addresses.

use std::borrow::Cow;
use std::collections::BTreeMap;

use sha2::{Digest as _, Sha256};

/// The files as they were when the program was built.
const FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// What stands for the mark in files that name others.
const PLACEHOLDER: &str = "__BUILD__";
/// What stands in the page for links by which all modules are loaded ahead.
const AHEAD: &str = "__AHEAD__";
/// What stands in the worker for the names of the files that it keeps.
const KEPT: &str = "\"__KEPT__\"";
/// The files in which it does. They are not kept by browsers, so that they can change.
const MARKED: &[&str] = &["index.html", "manifest.webmanifest", "sw.js"];

/// Blanks of one level of indentation.
const INDENT: usize = 2;

/// One file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asset {
    /// Its type, as the header `Content-Type` says it.
    pub kind: &'static str,
    /// What is in it.
    pub bytes: Cow<'static, [u8]>,
}

/// All files of the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assets {
    build: String,
    files: BTreeMap<Cow<'static, str>, Asset>,
}

impl Assets {
    /// The files that are part of this program.
    #[must_use]
    pub fn embedded() -> Self {
        Self::of(FILES.iter().map(|(name, bytes)| (Cow::Borrowed(*name), Cow::Borrowed(*bytes))))
    }

    /// These files instead.
    #[must_use]
    pub fn of(files: impl IntoIterator<Item = (Cow<'static, str>, Cow<'static, [u8]>)>) -> Self {
        let files: BTreeMap<_, _> = files.into_iter().collect();
        let build = mark(&files);
        let named = named(&files);
        let files = files.into_iter().filter_map(|(name, bytes)| {
            let kind = kind(&name)?;
            let bytes = match MARKED.contains(&&*name) {
                true => filled(&bytes, &build, &named),
                false => bytes,
            };
            let bytes = match name.ends_with(".js") || name.ends_with(".css") {
                true => slimmed(&bytes),
                false => bytes,
            };
            Some((name, Asset { kind, bytes }))
        });
        let files = files.collect();
        Self { build, files }
    }

    /// The mark: it changes with any file.
    #[must_use]
    pub fn build(&self) -> &str {
        &self.build
    }

    /// The file of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Asset> {
        self.files.get(name)
    }

    /// The names of all files.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(|name| &**name)
    }
}

/// A hash over names and contents, short enough for an address.
fn mark(files: &BTreeMap<Cow<'static, str>, Cow<'static, [u8]>>) -> String {
    let mut hash = Sha256::new();
    for (name, bytes) in files {
        for part in [name.as_bytes(), bytes] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
    }
    hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// Links to all modules, and the names of everything whose address has the mark.
fn named(files: &BTreeMap<Cow<'static, str>, Cow<'static, [u8]>>) -> (String, String) {
    let names = || files.keys().filter(|name| kind(name).is_some() && !MARKED.contains(&&***name));
    let link = |name| format!("<link rel=\"modulepreload\" href=\"/a/{PLACEHOLDER}/{name}\">");
    let ahead: Vec<_> = names().filter(|name| name.ends_with(".js")).map(link).collect();
    let kept: Vec<_> = names().map(|name| format!("\"{name}\"")).collect();
    (ahead.join("\n"), kept.join(", "))
}

fn filled(bytes: &[u8], build: &str, (ahead, kept): &(String, String)) -> Cow<'static, [u8]> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.replace(AHEAD, ahead).replace(KEPT, kept);
    Cow::Owned(text.replace(PLACEHOLDER, build).into_bytes())
}

/// The text without lines that are nothing but comments, and with a tab for each level of indentation: browsers have
/// no use for the rest, which is more than a tenth of all bytes. Lines that are left off stay as empty ones, so that a
/// line in a report of a browser is that of the source.
fn slimmed(bytes: &[u8]) -> Cow<'static, [u8]> {
    let text = String::from_utf8_lossy(bytes);
    let mut kept = String::with_capacity(text.len());
    let mut is_inside = false;
    for line in text.lines() {
        let mut rest = line.trim_end();
        if is_inside || rest.trim_start().starts_with("/*") {
            let end = rest.split_once("*/");
            is_inside = end.is_none();
            rest = end.map_or("", |(_, after)| after);
        }
        let code = rest.trim_start_matches(' ');
        if !code.starts_with("//") {
            let indented = rest.len() - code.len();
            kept.extend(std::iter::repeat_n('\t', indented / INDENT));
            kept.push_str(&rest[indented - indented % INDENT..]);
        }
        kept.push('\n');
    }
    Cow::Owned(kept.into_bytes())
}

/// The type of a file by its name; none for what a page has no use for.
fn kind(name: &str) -> Option<&'static str> {
    Some(match name.rsplit_once('.')?.1 {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "webmanifest" => "application/manifest+json; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What all files together may weigh.
    const MOST: usize = 400 * 1024;

    fn files(page: &'static str, code: &'static str) -> Assets {
        let files = [("index.html", page), ("app.js", code), ("notes.txt", "x")];
        Assets::of(files.map(|(name, text)| (name.into(), text.as_bytes().into())))
    }

    #[test]
    fn the_mark_changes_with_any_file_and_stands_in_the_page() {
        let (one, two) =
            (files("<a __BUILD__>", "1 __BUILD__"), files("<a __BUILD__>", "2 __BUILD__"));
        assert_ne!(one.build(), two.build());
        assert_eq!(one, files("<a __BUILD__>", "1 __BUILD__"));
        let page = format!("<a {}>", one.build());
        assert_eq!(one.get("index.html").unwrap().bytes, page.as_bytes());
        assert_eq!(&*one.get("app.js").unwrap().bytes, b"1 __BUILD__\n");
        assert_eq!(one.get("notes.txt"), None);
    }

    #[test]
    fn comments_are_left_off_tabs_indent_and_lines_keep_their_numbers() {
        let code =
            "// a\nlet b = \"// c\"; // d\n  /** e */\n/* f\n * g\n */ h();\ni *\n  j;\n     k;\n";
        let served = "\nlet b = \"// c\"; // d\n\n\n\n h();\ni *\n\tj;\n\t\t k;\n";
        let assets = files("<!-- // -->\n// k", code);
        assert_eq!(assets.get("app.js").unwrap().bytes, served.as_bytes());
        assert_eq!(&*assets.get("index.html").unwrap().bytes, b"<!-- // -->\n// k");
    }

    #[test]
    fn modules_are_loaded_ahead_and_the_worker_keeps_everything() {
        let files = [
            ("index.html", "__AHEAD__"),
            ("sw.js", "[\"__KEPT__\"]"),
            ("pages/a.js", ""),
            ("style.css", ""),
        ];
        let assets = Assets::of(files.map(|(name, text)| (name.into(), text.as_bytes().into())));
        let text = |name| String::from_utf8(assets.get(name).unwrap().bytes.to_vec()).unwrap();
        let link =
            format!("<link rel=\"modulepreload\" href=\"/a/{}/pages/a.js\">", assets.build());
        assert_eq!(text("index.html"), link);
        assert_eq!(text("sw.js"), "[\"pages/a.js\", \"style.css\"]\n");
    }

    #[test]
    fn no_literal_spans_lines_so_that_none_looks_like_a_comment() {
        for (name, bytes) in FILES.iter().filter(|(name, _)| name.ends_with(".js")) {
            for line in String::from_utf8_lossy(bytes).lines() {
                let ticks = line.replace("\"`\"", "").matches('`').count();
                assert!(ticks % 2 == 0, "{name}: {line}");
            }
        }
    }

    #[test]
    fn the_page_is_small_and_has_nothing_inline() {
        let assets = Assets::embedded();
        let all: usize = assets.files.values().map(|asset| asset.bytes.len()).sum();
        assert!(all <= MOST, "{all} bytes");
        let Some(page) = assets.get("index.html") else { return };
        let page = String::from_utf8(page.bytes.to_vec()).unwrap();
        assert!(!page.contains(PLACEHOLDER));
        for inline in ["<style", " style=", " onclick=", "javascript:"] {
            assert!(!page.contains(inline), "{inline}");
        }
    }
}
