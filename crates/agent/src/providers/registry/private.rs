//! Providers that tasks brought with them: an address and a key of their own. They are used like any
//! other, and are in no list.

use std::sync::Arc;

use parking_lot::RwLock;
use sha2::{Digest as _, Sha256};

use super::{Registered, Registry};
use crate::providers::settings::{Kind, Settings};

/// How many bytes of the hash are in an id.
const ID_BYTES: usize = 6;

/// Those there are, the one that was asked for last at the end.
#[derive(Default)]
pub(super) struct Private(RwLock<Vec<Entry>>);

struct Entry {
    settings: Settings,
    registered: Arc<Registered>,
}

impl Private {
    pub(super) fn get(&self, id: &str) -> Option<Arc<Registered>> {
        let entries = self.0.read();
        let found = entries.iter().find(|entry| entry.settings.id == id);
        found.map(|entry| Arc::clone(&entry.registered))
    }

    pub(super) fn all(&self) -> Vec<Arc<Registered>> {
        self.0.read().iter().map(|entry| Arc::clone(&entry.registered)).collect()
    }
}

impl Registry {
    /// Adds a provider for those who know its id, which is returned. The same settings have the same id,
    /// whatever id they come with. Its key is kept out of texts as other keys are.
    pub fn add_private(&self, settings: Settings) -> String {
        let id = id_of(&settings);
        let settings = Settings { id: id.clone(), is_private: true, ..settings };
        let mut entries = self.private.0.write();
        if let Some(at) = entries.iter().position(|entry| entry.settings.id == id) {
            let entry = entries.remove(at);
            entries.push(entry);
            return id;
        }
        if let Some(key) = &settings.api_key {
            self.keys.write().insert(id.clone(), key.clone());
        }
        let registered = Registered::new(settings.clone(), &self.keys, &self.options);
        entries.push(Entry { settings, registered: Arc::new(registered) });
        id
    }

    /// Forgets a private provider with its key.
    pub fn remove_private(&self, id: &str) {
        self.private.0.write().retain(|entry| entry.settings.id != id);
        self.keys.write().remove(id);
    }

    /// Whether a task brought this provider.
    pub fn is_private(&self, id: &str) -> bool {
        self.private.get(id).is_some()
    }

    /// What private providers were added with, the one that was asked for last at the end.
    pub fn private_settings(&self) -> Vec<Settings> {
        self.private.0.read().iter().map(|entry| entry.settings.clone()).collect()
    }

    /// Forgets private providers that are not used until no more than `most` are left, each time the one
    /// that was asked for longest ago.
    pub fn prune_private(&self, most: usize, is_used: impl Fn(&str) -> bool) {
        let mut entries = self.private.0.write();
        while entries.len() > most {
            let unused = entries.iter().position(|entry| !is_used(&entry.settings.id));
            let Some(unused) = unused else { return };
            let gone = entries.remove(unused);
            self.keys.write().remove(&gone.settings.id);
        }
    }
}

/// The id of what a task brought: the beginning of a hash of all that tells it from others.
fn id_of(settings: &Settings) -> String {
    let mut hash = Sha256::new();
    let mut add = |text: &str| {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text.as_bytes());
    };
    add(settings.kind.map_or("", Kind::name));
    add(settings.base_url.as_deref().unwrap_or(""));
    add(settings.api_key.as_ref().map_or("", |key| key.expose()));
    add(&format!("{:?} {:?}", settings.max_tokens, settings.temperature));
    add(&format!("{:?} {:?}", settings.name, settings.models));
    add(&format!("{:?} {:?}", settings.http_referer, settings.app_title));
    for (name, value) in &settings.headers {
        add(name);
        add(value);
    }
    let digest = hash.finalize();
    let hex: String = digest[..ID_BYTES].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("task-{hex}")
}
