//! What is known of marketplaces and installed plugins: the state file and cached catalogs, read when they are
//! first needed. What a killed daemon left half-done is undone then.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use rookery_host::files::{self, ReadError};
use rookery_host::journal;
use rookery_marketplace::{
    Catalog, Entry, Fetcher, LARGEST_STATE, Marketplace, Places, Staging, State,
};
use rookery_model::{Error, Result};
use tokio::sync::OnceCell;

use crate::clock;
use crate::core::blocking;
use crate::rooms::Marketplaces;

/// The largest cached catalog: what is kept of one is at most a few times as large.
const LARGEST_CACHED: u64 = 64 << 20;

/// Where files of marketplaces lie.
#[derive(Clone, Debug)]
pub struct MarketplaceDirs {
    pub state_file: PathBuf,
    /// Checkouts and cached catalogs.
    pub sources: PathBuf,
    /// Contents of plugins.
    pub plugins: PathBuf,
    /// Folders that stand for repositories of GitHub, by owner and name.
    pub github_folders: Option<PathBuf>,
}

/// Marketplaces and plugins.
pub(crate) struct Room {
    pub(super) places: Option<Places>,
    pub(super) fetcher: Fetcher,
    registry: OnceCell<Arc<Registry>>,
    /// Held while the state changes.
    pub(super) order: tokio::sync::Mutex<()>,
    /// Held while something is fetched, which may take a minute; nothing else waits for it.
    pub(super) fetches: tokio::sync::Mutex<()>,
}

impl Room {
    pub(crate) fn new(dirs: Option<MarketplaceDirs>) -> Room {
        let places = dirs.map(|dirs| Places {
            state_file: dirs.state_file,
            sources: dirs.sources,
            plugins: dirs.plugins,
            github_folders: dirs.github_folders,
        });
        Room {
            fetcher: Fetcher::new(places.clone()),
            places,
            registry: OnceCell::new(),
            order: tokio::sync::Mutex::default(),
            fetches: tokio::sync::Mutex::default(),
        }
    }

    /// What was read already.
    pub(super) fn loaded(&self) -> Option<Arc<Registry>> {
        self.registry.get().cloned()
    }
}

/// The state, and the catalogs of its marketplaces.
#[derive(Default)]
pub(super) struct Registry {
    state: Mutex<Arc<State>>,
    catalogs: Mutex<HashMap<String, Arc<Catalog>>>,
}

impl Registry {
    pub(super) fn state(&self) -> Arc<State> {
        Arc::clone(&self.state.lock())
    }

    pub(super) fn catalog(&self, marketplace: &str) -> Option<Arc<Catalog>> {
        self.catalogs.lock().get(marketplace).cloned()
    }

    pub(super) fn forget_catalog(&self, marketplace: &str) {
        self.catalogs.lock().remove(marketplace);
    }

    /// The catalogs of all marketplaces that are shown.
    pub(super) fn shown(&self) -> Vec<Arc<Catalog>> {
        let state = self.state();
        let shown = state.marketplaces.iter().filter(|market| market.is_shown());
        shown.filter_map(|market| self.catalog(&market.id)).collect()
    }

    /// A plugin of a marketplace that is shown.
    pub(super) fn plugin(&self, marketplace: &str, plugin: &str) -> Option<Entry> {
        let state = self.state();
        state.market(marketplace).filter(|market| market.is_shown())?;
        self.catalog(marketplace)?.plugin(plugin).cloned()
    }
}

impl Marketplaces {
    pub(super) fn room(&self) -> &Room {
        &self.core.inner.marketplaces
    }

    pub(super) fn staging(&self) -> Result<Staging> {
        let places = self.room().places.clone().ok_or_else(|| {
            Error::failed("this server keeps no files; install plugins with the daemon")
        })?;
        Ok(Staging::new(places))
    }

    /// What is known, once it was read.
    pub(super) async fn registry(&self) -> Result<Arc<Registry>> {
        let room = self.room();
        let registry = room.registry.get_or_try_init(async || {
            let Some(places) = room.places.clone() else { return Ok(Arc::default()) };
            let (registry, damage) = blocking(move || load(&places)).await??;
            if let Some(damage) = damage {
                self.core.say_damage("The file of marketplaces was damaged", damage);
            }
            Ok::<_, Error>(Arc::new(registry))
        });
        registry.await.cloned()
    }

    /// Writes another state, and shows it once it is on disk. The caller holds the order.
    pub(super) async fn write(&self, registry: &Registry, state: State) -> Result<()> {
        if let Some(places) = &self.room().places {
            let (file, written) = (places.state_file.clone(), state.clone());
            let done = blocking(move || {
                let bytes = written.write()?;
                files::replace(&file, &bytes).map_err(|error| error.to_string())
            });
            let unwritten = |why| Error::failed(format!("marketplaces cannot be kept: {why}"));
            done.await?.map_err(unwritten)?;
        }
        *registry.state.lock() = Arc::new(state);
        Ok(())
    }

    /// Keeps the catalog of a marketplace.
    pub(super) async fn keep_catalog(
        &self,
        registry: &Registry,
        id: &str,
        catalog: Catalog,
    ) -> Result<()> {
        let catalog = Arc::new(catalog);
        if let Some(places) = &self.room().places {
            let (file, written) = (cache_file(places, id), Arc::clone(&catalog));
            let done = blocking(move || {
                let bytes = serde_json::to_vec(&*written).map_err(|error| error.to_string())?;
                files::replace(&file, &bytes).map_err(|error| error.to_string())
            });
            let unwritten = |why| Error::failed(format!("the catalog cannot be kept: {why}"));
            done.await?.map_err(unwritten)?;
        }
        registry.catalogs.lock().insert(id.to_owned(), catalog);
        Ok(())
    }
}

fn cache_file(places: &Places, marketplace: &str) -> PathBuf {
    places.sources.join(marketplace).join("catalog.json")
}

/// Reads everything, and undoes what was left half-done; the second part says what was put aside. Blocks.
fn load(places: &Places) -> Result<(Registry, Option<String>)> {
    let (state, damage) = load_state(&places.state_file)?;
    Staging::new(places.clone()).sweep(&state);
    let cached = |market: &Marketplace| {
        let file = cache_file(places, &market.id);
        let bytes = files::read_range(&file, 0, None, LARGEST_CACHED).ok()?;
        match serde_json::from_slice::<Catalog>(&bytes) {
            Ok(catalog) => Some((market.id.clone(), Arc::new(catalog))),
            Err(error) => {
                tracing::warn!(%error, file = %file.display(), "a cached catalog is left out");
                None
            }
        }
    };
    let catalogs = state.marketplaces.iter().filter_map(cached).collect();
    Ok((Registry { state: Mutex::new(Arc::new(state)), catalogs: Mutex::new(catalogs) }, damage))
}

/// The state file; one that is damaged is put aside, as the second part says.
fn load_state(file: &Path) -> Result<(State, Option<String>)> {
    let bytes = match files::read_range(file, 0, None, LARGEST_STATE) {
        Ok(bytes) => bytes,
        Err(ReadError::Io(error)) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok((State::default(), None));
        }
        Err(ReadError::Io(error)) => {
            return Err(Error::failed(format!("{}: {error}", file.display())));
        }
        Err(ReadError::TooLarge { limit }) => {
            let damage = set_aside(file, &format!("it has more than {limit} bytes"))?;
            return Ok((State::default(), Some(damage)));
        }
    };
    match State::read(&bytes) {
        Ok(state) => Ok((state, None)),
        Err(why) => Ok((State::default(), Some(set_aside(file, &why)?))),
    }
}

fn set_aside(file: &Path, why: &str) -> Result<String> {
    let aside = journal::set_aside(file, clock::wall().as_micros() / 1000);
    let aside = aside.map_err(|error| Error::failed(format!("{}: {error}", file.display())))?;
    tracing::warn!(why, aside = %aside.display(), "the file of marketplaces is damaged and was put aside");
    Ok(format!("marketplaces could not be read ({why}): see {}", aside.display()))
}
