//! The settings file and the themes beside it: read, watched, and written back in place.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use rookery_host::{Watch, Watched};
use rookery_model::{Error, Result};
use rookery_view::settings::{self, Settings, edit};
use rookery_view::theme::{self, Theme, Themes};

use super::{PLATFORM, Room, State};
use crate::core::Core;
use crate::log::Shows;
use crate::rooms::Seats;

/// What was read from the disk.
pub(super) struct Loaded {
    pub(super) settings: Settings,
    pub(super) themes: Themes,
}

/// Reads settings and themes; what cannot be read is as if it were not there. Blocking.
pub(super) fn load(file: Option<&Path>) -> Loaded {
    let text = file.and_then(|file| read_some(file, settings::MOST_BYTES)).unwrap_or_default();
    let (parsed, warnings) = Settings::parse(&text, PLATFORM);
    for warning in warnings {
        tracing::warn!(line = warning.line, "settings: {}", warning.message);
    }
    let user = file.and_then(theme_dir).map(|dir| user_themes(&dir)).unwrap_or_default();
    let pairs = user.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    Loaded { settings: parsed, themes: Themes::new(pairs) }
}

/// Where a user's own themes lie.
fn theme_dir(settings: &Path) -> Option<PathBuf> {
    Some(settings.parent()?.join("themes"))
}

/// Where a user's own providers lie.
pub(super) fn provider_dir(settings: &Path) -> Option<PathBuf> {
    Some(settings.parent()?.join("providers"))
}

fn user_themes(dir: &Path) -> Vec<(String, String)> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    let themes = paths.into_iter().take(theme::MOST_USER_THEMES).filter_map(|path| {
        let name = match path.extension() {
            Some(end) if end == "conf" || end == "theme" => path.file_stem(),
            _ => path.file_name(),
        };
        let name = name?.to_str().filter(|name| !name.starts_with('.'))?.to_owned();
        Some((name, read_some(&path, theme::MOST_BYTES)?))
    });
    themes.collect()
}

/// The text of a regular file that is not too long.
fn read_some(path: &Path, most: usize) -> Option<String> {
    let file = std::fs::File::open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(most as u64 + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() <= most).then(|| String::from_utf8_lossy(&bytes).into_owned())
}

impl Room {
    /// Takes what was read; a preview that is open stays.
    fn take(&self, loaded: Loaded) {
        let mut state = self.state.lock();
        let is_preview = state.theme != state.settings.theme;
        if !is_preview {
            loaded.settings.theme.clone_into(&mut state.theme);
        }
        if state.font == state.settings.font_family {
            state.font = loaded.settings.font_family.clone();
        }
        if state.font_size == state.settings.font_size {
            state.font_size = loaded.settings.font_size;
        }
        if state.settings.show_sidebar_agents != loaded.settings.show_sidebar_agents {
            let are_visible = loaded.settings.show_sidebar_agents;
            let State { headless, seats, .. } = &mut *state;
            for seat in seats.values_mut().chain([headless]) {
                seat.sidebar.are_agents_visible = are_visible;
            }
        }
        state.settings = loaded.settings;
        state.themes = loaded.themes;
    }
}

impl Seats {
    /// The settings as they hold now, and the theme that is shown.
    pub fn settings(&self) -> (Settings, Theme) {
        let state = self.core.inner.seats.state.lock();
        (state.settings.clone(), state.themes.get(&state.theme))
    }

    /// Reads settings and themes anew, and shows what changed.
    pub(super) async fn reload_settings(&self) {
        let file = self.core.inner.seats.config.settings.clone();
        let Ok(loaded) = tokio::task::spawn_blocking(move || load(file.as_deref())).await else {
            return;
        };
        let before = self.core.inner.seats.state.lock().font_size;
        self.core.inner.seats.take(loaded);
        self.show_colors();
        let is_other = self.core.inner.seats.state.lock().font_size != before;
        if is_other {
            self.fit_shown().await;
        }
    }

    /// Follows the settings file and the themes beside it until the core is gone.
    pub(crate) fn follow_settings(&self) {
        let Some(file) = self.core.inner.seats.config.settings.clone() else { return };
        let watched = [Some(Watched::File(file.clone())), theme_dir(&file).map(Watched::Directory)];
        for what in watched.into_iter().flatten() {
            let core = std::sync::Arc::downgrade(&self.core.inner);
            self.core.inner.runtime.spawn(async move {
                let mut watch = match Watch::start(what).await {
                    Ok(watch) => watch,
                    Err(error) => {
                        tracing::warn!(%error, "settings are not followed");
                        return;
                    }
                };
                while watch.changed().await {
                    let Some(inner) = core.upgrade() else { return };
                    Core::unbound(inner).seats().reload_settings().await;
                }
            });
        }
    }

    /// Gives every terminal the colors of the theme shown.
    pub(super) fn show_colors(&self) {
        let colors = self.core.inner.seats.colors();
        for live in self.core.terminals().all_live() {
            live.set_palette(&colors);
        }
        // Who looked meanwhile saw the colors of before.
        self.core.inner.signals.raise(Shows::Seats);
    }

    /// Writes one setting into the file, leaving everything else in it as it is.
    pub(super) async fn write_setting(&self, key: &'static str, value: String) -> Result<()> {
        self.edit_settings(move |text| edit::set(text, key, &value)).await
    }

    /// Writes a setting that a face may write, and shows what it changes.
    ///
    /// # Errors
    /// If it is no such setting, its value cannot be read, or the file cannot be written.
    pub async fn choose(&self, key: &str, value: &str) -> Result<()> {
        let key = settings::writable(key, value).map_err(|why| Error::invalid("value", why))?;
        self.write_setting(key, value.to_owned()).await?;
        self.reload_settings().await;
        Ok(())
    }

    /// Gives a chord, as a `keybind` line has it, to an action, to none (`unbind`), or back to its
    /// default.
    ///
    /// # Errors
    /// If chord or action cannot be read, or the file cannot be written.
    pub async fn choose_key(&self, chord: &str, action: Option<&str>) -> Result<()> {
        // Read before anything is written, so that a bad chord is reported as one.
        edit::bind("", chord, action).map_err(|why| Error::invalid("bind", why.to_string()))?;
        let (chord, action) = (chord.to_owned(), action.map(str::to_owned));
        let edit = move |text: &str| {
            edit::bind(text, &chord, action.as_deref()).unwrap_or_else(|_| text.to_owned())
        };
        self.edit_settings(edit).await?;
        self.reload_settings().await;
        Ok(())
    }

    async fn edit_settings(
        &self,
        change: impl FnOnce(&str) -> String + Send + 'static,
    ) -> Result<()> {
        let Some(file) = self.core.inner.seats.config.settings.clone() else { return Ok(()) };
        // One writer at a time, or one of two would be lost.
        let _writing = self.core.inner.seats.settings_writer.lock().await;
        let written = tokio::task::spawn_blocking(move || {
            let text = match std::fs::read(&file) {
                Ok(bytes) => String::from_utf8(bytes).map_err(std::io::Error::other)?,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
                Err(error) => return Err(error),
            };
            let edited = change(&text);
            // A file that says so already is not touched, so that whoever watches it is not woken.
            if edited == text { Ok(()) } else { replace_file(&file, &edited) }
        })
        .await
        .map_err(|error| Error::failed(error.to_string()))?;
        written.map_err(|error| Error::failed(format!("cannot write the settings: {error}")))
    }
}

/// Puts a file in the place of another, so that no reader ever sees half of it.
fn replace_file(path: &Path, text: &str) -> std::io::Result<()> {
    // A settings file is often a link into a user's own collection; what it points at is written.
    let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let fresh = path.with_file_name(name);
    let written = std::fs::write(&fresh, text).and_then(|()| {
        if let Ok(old) = std::fs::metadata(&path) {
            std::fs::set_permissions(&fresh, old.permissions())?;
        }
        std::fs::rename(&fresh, &path)
    });
    if written.is_err() {
        let _ = std::fs::remove_file(&fresh);
    }
    written
}
