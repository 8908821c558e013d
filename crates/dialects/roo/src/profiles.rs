//! Profiles and what holds for tasks to come: kept without secrets, whose providers are kept elsewhere.

use rookery_core::Core;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::sync::Mutex;

use crate::errors::{Code, Failure};
use crate::wire::{CustomMode, Settings};

/// Under which name they are kept.
const KEPT: &str = "roo.profiles";
/// What the first profile is called.
pub(crate) const FIRST: &str = "default";
/// How many profiles there can be.
const MAX_PROFILES: usize = 256;

/// All profiles.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Book {
    profiles: Vec<Profile>,
    /// The id of the active one.
    active: String,
    /// Settings that hold unless a profile has its own.
    defaults: Map<String, Value>,
    /// The provider that they describe, with its key.
    #[serde(default)]
    provider: Option<String>,
}

/// A named bundle of settings of a provider.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Profile {
    id: String,
    name: String,
    settings: Map<String, Value>,
    /// The provider that they describe, with its key.
    provider: Option<String>,
}

impl Default for Book {
    fn default() -> Self {
        let first = Profile { id: new_id(), name: FIRST.to_owned(), ..Profile::default() };
        Book {
            active: first.id.clone(),
            profiles: vec![first],
            defaults: Map::new(),
            provider: None,
        }
    }
}

fn new_id() -> String {
    uuid::Uuid::now_v7().simple().to_string()
}

impl Book {
    fn named(&self, name: &str) -> Result<&Profile, Failure> {
        self.profiles.iter().find(|profile| profile.name == name).ok_or_else(|| unknown(name))
    }

    fn named_mut(&mut self, name: &str) -> Option<&mut Profile> {
        self.profiles.iter_mut().find(|profile| profile.name == name)
    }

    fn active(&self) -> Option<&Profile> {
        self.profiles.iter().find(|profile| profile.id == self.active)
    }

    fn add(&mut self, name: &str) -> Result<&mut Profile, Failure> {
        if self.profiles.len() >= MAX_PROFILES {
            let message = format!("there are {MAX_PROFILES} profiles already: delete one first");
            return Err(Failure::new(Code::InvalidParameter, message));
        }
        self.profiles.push(Profile { id: new_id(), name: name.to_owned(), ..Profile::default() });
        self.profiles.last_mut().ok_or_else(|| unknown(name))
    }
}

fn unknown(name: &str) -> Failure {
    Failure::new(Code::ProfileNotFound, format!("there is no profile {name}"))
}

/// What a profile gives to a task.
#[derive(Debug, Default)]
pub(crate) struct Base {
    /// Settings without secrets.
    pub(crate) settings: Settings,
    /// The provider with its key.
    pub(crate) provider: Option<String>,
}

/// A profile as it is shown.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Shown {
    id: String,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    api_provider: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model_id: Option<String>,
    settings: Value,
    is_active: bool,
}

/// The profiles of one daemon.
pub(crate) struct Profiles {
    core: Core,
    /// Read once; held while it is changed, so that changes follow one another.
    book: Mutex<Option<Book>>,
}

impl Profiles {
    pub(crate) fn new(core: Core) -> Profiles {
        Profiles { core, book: Mutex::new(None) }
    }

    async fn read(&self) -> Result<Book, Failure> {
        let text = self.core.remembered(KEPT).await?;
        // What cannot be read is as good as not there: it holds nothing that cannot be set again.
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
    }

    async fn look<T>(&self, look: impl FnOnce(&Book) -> T) -> Result<T, Failure> {
        let mut book = self.book.lock().await;
        if book.is_none() {
            *book = Some(self.read().await?);
        }
        Ok(look(book.get_or_insert_with(Book::default)))
    }

    /// Changes the profiles, durably or not at all.
    async fn change<T>(
        &self,
        change: impl FnOnce(&mut Book) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let mut book = self.book.lock().await;
        let mut changed = match &*book {
            Some(book) => book.clone(),
            None => self.read().await?,
        };
        let value = change(&mut changed)?;
        let text = serde_json::to_string(&changed);
        let text = text.map_err(|error| Failure::new(Code::InternalError, error.to_string()))?;
        self.core.remember(KEPT, Some(text)).await?;
        *book = Some(changed);
        Ok(value)
    }

    /// What a task starts from: the profile that it names, else the active one.
    pub(crate) async fn for_task(&self, configuration: &Settings) -> Result<Base, Failure> {
        let wanted = configuration.text("currentApiConfigName").map(str::to_owned);
        self.look(|book| {
            let profile = match &wanted {
                Some(name) => Some(book.named(name)?),
                None => book.active(),
            };
            let defaults = Settings::from_kept(book.defaults.clone());
            let Some(profile) = profile else {
                return Ok(Base { settings: defaults, provider: book.provider.clone() });
            };
            let own = Settings::from_kept(profile.settings.clone());
            let is_silent = profile.provider.is_none() && !own.has("apiProvider");
            let provider = if is_silent { &book.provider } else { &profile.provider };
            Ok(Base { settings: defaults.with(&own), provider: provider.clone() })
        })
        .await?
    }

    /// What a profile holds; nothing if there is none of this name.
    pub(crate) async fn of(&self, name: &str) -> Result<Base, Failure> {
        self.look(|book| {
            let Ok(profile) = book.named(name) else { return Base::default() };
            let settings = Settings::from_kept(profile.settings.clone());
            Base { settings, provider: profile.provider.clone() }
        })
        .await
    }

    /// The providers that profiles keep.
    pub(crate) async fn providers(&self) -> Result<Vec<String>, Failure> {
        let kept =
            |book: &Book| book.profiles.iter().filter_map(|it| it.provider.clone()).collect();
        self.look(kept).await
    }

    /// Modes of the client's own that hold for all tasks to come.
    pub(crate) async fn modes(&self) -> Result<Vec<CustomMode>, Failure> {
        self.look(|book| Settings::from_kept(book.defaults.clone()).modes()).await
    }

    /// All settings, without secrets.
    pub(crate) async fn configuration(&self) -> Result<Value, Failure> {
        self.look(|book| {
            let mut all = book.defaults.clone();
            if let Some(active) = book.active() {
                all.extend(active.settings.clone());
                all.insert("currentApiConfigName".into(), active.name.clone().into());
            }
            Value::Object(all)
        })
        .await
    }

    /// Sets what holds for tasks to come; what describes a provider is kept in a profile as well.
    pub(crate) async fn configure(
        &self,
        name: &str,
        settings: &Settings,
        provider: Option<String>,
    ) -> Result<(), Failure> {
        let is_named = settings.has("currentApiConfigName");
        let plain = settings.without_secrets();
        let own = plain.of_profile();
        self.change(|book| {
            if let Value::Object(members) = plain.to_value() {
                book.defaults.extend(members);
                book.defaults.remove("currentApiConfigName");
            }
            if provider.is_some() {
                book.provider.clone_from(&provider);
            }
            if own.is_empty() && provider.is_none() && !is_named {
                return Ok(());
            }
            let profile = match book.profiles.iter().position(|profile| profile.name == name) {
                Some(at) => &mut book.profiles[at],
                None => book.add(name)?,
            };
            merge(profile, &own, provider);
            let id = profile.id.clone();
            if is_named {
                book.active = id;
            }
            Ok(())
        })
        .await
    }

    /// Makes a profile, or changes one if settings for it are given.
    pub(crate) async fn create(
        &self,
        name: &str,
        holds: Option<(Settings, Option<String>)>,
        activate: bool,
    ) -> Result<String, Failure> {
        self.change(|book| {
            let is_there = book.named_mut(name).is_some();
            if is_there && holds.is_none() {
                let message = format!("there is a profile {name} already");
                return Err(Failure::new(Code::ProfileExists, message));
            }
            if !is_there {
                book.add(name)?;
            }
            let Some(profile) = book.named_mut(name) else { return Err(unknown(name)) };
            if let Some((settings, provider)) = holds {
                merge(profile, &settings.without_secrets(), provider);
            }
            let id = profile.id.clone();
            if activate {
                book.active.clone_from(&id);
            }
            Ok(id)
        })
        .await
    }

    pub(crate) async fn activate(&self, name: &str) -> Result<(), Failure> {
        self.change(|book| {
            let id = book.named(name)?.id.clone();
            book.active = id;
            Ok(())
        })
        .await
    }

    pub(crate) async fn delete(&self, name: &str) -> Result<(), Failure> {
        self.change(|book| {
            let id = book.named(name)?.id.clone();
            if book.profiles.len() == 1 {
                let message = format!("{name} is the last profile, and one is always needed");
                return Err(Failure::new(Code::LastProfile, message));
            }
            book.profiles.retain(|profile| profile.id != id);
            if book.active == id
                && let Some(first) = book.profiles.first()
            {
                book.active = first.id.clone();
            }
            Ok(())
        })
        .await
    }

    pub(crate) async fn names(&self) -> Result<Vec<String>, Failure> {
        self.look(|book| book.profiles.iter().map(|profile| profile.name.clone()).collect()).await
    }

    pub(crate) async fn active(&self) -> Result<Option<String>, Failure> {
        self.look(|book| book.active().map(|profile| profile.name.clone())).await
    }

    pub(crate) async fn get(&self, name: &str) -> Result<Shown, Failure> {
        self.look(|book| {
            let profile = book.named(name)?;
            let settings = Settings::from_kept(profile.settings.clone());
            Ok(Shown {
                id: profile.id.clone(),
                name: profile.name.clone(),
                api_provider: settings.text("apiProvider").map(str::to_owned),
                model_id: crate::provider::model(&settings).map(str::to_owned),
                settings: settings.to_value(),
                is_active: profile.id == book.active,
            })
        })
        .await?
    }
}

fn merge(profile: &mut Profile, settings: &Settings, provider: Option<String>) {
    if let Value::Object(members) = settings.to_value() {
        profile.settings.extend(members);
    }
    if provider.is_some() {
        profile.provider = provider;
    }
}
