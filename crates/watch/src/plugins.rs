//! The plugins that adapters can be started from: those that come with the program, and those that
//! were loaded.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use parking_lot::{Mutex, RwLock};
use rookery_plugins::{
    Instance, Limits, LoadError, Manifest, Plugin, PredicateInput, Verdict, shipped,
};

/// A plugin as it was at some time. A plugin that is loaded anew has another number.
#[derive(Clone)]
pub struct Version {
    pub plugin: Plugin,
    /// How often it was loaded anew.
    pub number: u64,
}

struct Registered {
    version: Version,
    /// The manifest it was loaded from; none if it came with the program.
    path: Option<PathBuf>,
    /// Judges predicates, apart from every adapter. Started when first needed.
    judge: Arc<Mutex<Option<Instance>>>,
}

/// All plugins by name.
pub struct Plugins(RwLock<BTreeMap<String, Registered>>);

impl Default for Plugins {
    fn default() -> Self {
        let registered = shipped().into_iter().map(|plugin| {
            let name = plugin.manifest().name.clone();
            (name, Registered::new(plugin, 0, None))
        });
        Self(RwLock::new(registered.collect()))
    }
}

impl Registered {
    fn new(plugin: Plugin, number: u64, path: Option<PathBuf>) -> Self {
        Self { version: Version { plugin, number }, path, judge: Arc::default() }
    }
}

impl Plugins {
    /// The plugin of this name as it is now.
    pub fn get(&self, name: &str) -> Option<Version> {
        self.0.read().get(name).map(|registered| registered.version.clone())
    }

    /// The manifests of all plugins, by name.
    pub fn manifests(&self) -> Vec<Manifest> {
        let plugins = self.0.read();
        plugins.values().map(|known| known.version.plugin.manifest().clone()).collect()
    }

    /// The manifests of those that come with the program.
    pub fn shipped(&self) -> Vec<Manifest> {
        let plugins = self.0.read();
        let shipped = plugins.values().filter(|known| known.path.is_none());
        shipped.map(|known| known.version.plugin.manifest().clone()).collect()
    }

    /// Where the plugins that were loaded came from.
    pub fn loaded_from(&self) -> Vec<PathBuf> {
        self.0.read().values().filter_map(|known| known.path.clone()).collect()
    }

    /// Loads a plugin, or loads one anew whose files have changed. Reads files and runs Lua, so it
    /// may block.
    ///
    /// # Errors
    /// If manifest or code are not what they must be.
    pub fn load(&self, manifest_path: &Path) -> Result<String, LoadError> {
        let plugin = Plugin::load(manifest_path)?;
        let path = std::fs::canonicalize(manifest_path)
            .map_err(|error| LoadError::Config(error.to_string()))?;
        let name = plugin.manifest().name.clone();
        let mut plugins = self.0.write();
        let number = match plugins.get(&name) {
            None => 0,
            Some(known)
                if known.path.as_ref() == Some(&path)
                    && !known.version.plugin.is_same_as(&plugin) =>
            {
                known.version.number + 1
            }
            Some(_) => {
                return Err(LoadError::Config(format!("plugin {name} is already registered")));
            }
        };
        plugins.insert(name.clone(), Registered::new(plugin, number, Some(path)));
        Ok(name)
    }

    /// Forgets a plugin that was loaded. False if it came with the program.
    pub fn unload(&self, name: &str) -> bool {
        let mut plugins = self.0.write();
        let was_loaded = plugins.get(name).is_some_and(|known| known.path.is_some());
        if was_loaded {
            plugins.remove(name);
        }
        was_loaded
    }

    /// Asks a predicate, unless its caller has gone when its turn comes. One that does not
    /// exist or fails does not hold. Runs Lua, so it may block.
    pub fn judge(
        &self,
        plugin: &str,
        predicate: &str,
        input: &PredicateInput,
        is_wanted: &dyn Fn() -> bool,
    ) -> Verdict {
        let found = self
            .0
            .read()
            .get(plugin)
            .map(|known| (known.version.plugin.clone(), Arc::clone(&known.judge)));
        let Some((plugin, judge)) = found else { return Verdict::default() };
        let mut judge = judge.lock();
        if !is_wanted() {
            return Verdict::default();
        }
        let instance = match &mut *judge {
            Some(instance) => instance,
            empty => match Instance::start(&plugin, Limits::default()) {
                Ok(instance) => empty.insert(instance),
                Err(error) => return failed(&error),
            },
        };
        instance.predicate(predicate, input).unwrap_or_else(|error| failed(&error))
    }
}

fn failed(error: &rookery_plugins::PluginError) -> Verdict {
    tracing::debug!(%error, "a predicate failed");
    Verdict::default()
}
