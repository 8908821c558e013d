//! Reads the settings of memories and media.

use std::collections::BTreeMap;

use super::Section;
use crate::settings::{MediaSettings, MemorySettings, ServiceSettings};

/// The most numbers that a vector may have.
const MOST_DIMENSIONS: u64 = 16_384;
/// The longest name of a provider, in bytes.
const LONGEST_NAME: usize = 64;

pub(super) fn memory(section: &Section<'_>) -> MemorySettings {
    let default = MemorySettings::default();
    MemorySettings {
        recalls: section.flag("recall").unwrap_or(default.recalls),
        // Named by what needs no server.
        providers: services(&section.section("providers"), "local"),
    }
}

pub(super) fn media(section: &Section<'_>) -> MediaSettings {
    let default = MediaSettings::default();
    MediaSettings {
        keeps: section.flag("keep").unwrap_or(default.keeps),
        providers: services(&section.section("providers"), "fake"),
    }
}

/// Servers by their names, without those that cannot be asked.
fn services(section: &Section<'_>, taken: &str) -> BTreeMap<String, ServiceSettings> {
    let names = section.table.iter().flat_map(|table| table.iter()).map(|(name, _)| name);
    let names: Vec<&str> = names.collect();
    let is_plain = |name: &str| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        name.len() <= LONGEST_NAME && name.bytes().all(is_plain)
    };
    let mut found = BTreeMap::new();
    for name in names {
        let read = service(&section.section(name));
        if name == taken || !is_plain(name) {
            section.warn(name, "named by letters, digits, - and _, and not as a built-in one");
        } else if let Some(service) = read {
            found.insert(name.to_owned(), service);
        }
    }
    found
}

fn service(section: &Section<'_>) -> Option<ServiceSettings> {
    let base_url = section.get("base_url", "an address that begins with http", |item| {
        let text = item.as_str()?.trim().trim_end_matches('/');
        let is_web = text.starts_with("http://") || text.starts_with("https://");
        is_web.then(|| text.to_owned())
    });
    let api_key_env = section.text("api_key_env");
    let model = section.text("model");
    let dimensions = section.get("dimensions", "a whole number from 1 to 16384", |item| {
        let number = u64::try_from(item.as_integer()?).ok()?;
        let is_fit = (1..=MOST_DIMENSIONS).contains(&number);
        u32::try_from(number).ok().filter(|_| is_fit)
    });
    for (key, is_there) in [("base_url", base_url.is_some()), ("model", model.is_some())] {
        if !is_there && section.table.is_some_and(|table| !table.contains_key(key)) {
            section.warn(key, "set");
        }
    }
    Some(ServiceSettings { base_url: base_url?, api_key_env, model: model?, dimensions })
}
