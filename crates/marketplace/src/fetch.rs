//! Marketplaces as they are now: a folder, a repository or a file is read, and its catalog with it. Nothing but
//! [`Fetcher::fetch`] talks to other machines.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rookery_host::git::checkout::{Wanted, check_out};
use rookery_host::tree::{TreeLimits, hex};
use rookery_host::{Beneath, EntryKind, files, http};
use sha2::{Digest as _, Sha256};

use crate::catalog::{self, CODEX_MANIFEST, Catalog, LARGEST_CATALOG, MOST_ENTRIES, Owner};
use crate::components::Content as _;
use crate::plugin_source::{PluginSource, clean};
use crate::source::{MarketSource, github_repo};
use crate::types::{Kind, Marketplace, MarketplaceError, Places};

/// How long a server may take for a catalog.
const LIMIT: Duration = Duration::from_secs(60);
/// How large the checkout of a marketplace may be.
const CHECKOUT: TreeLimits = TreeLimits { files: 50_000, bytes: 500 << 20 };
/// Where plugins of Codex are, unless it is said.
const CODEX_PLUGINS: &str = "plugins";

/// What a marketplace has now.
#[derive(Clone, Debug, PartialEq)]
pub struct Fetched {
    pub catalog: Catalog,
    /// Whose format that has.
    pub kind: Kind,
    /// SHA-256 of it.
    pub content_hash: String,
}

/// Gets marketplaces.
#[derive(Clone, Debug)]
pub struct Fetcher {
    client: http::Client,
    places: Option<Places>,
}

impl Fetcher {
    /// One that keeps checkouts in these places; without any it knows none.
    pub fn new(places: Option<Places>) -> Self {
        Self { client: http::Client::new(), places }
    }

    /// Gets a marketplace from where it is.
    ///
    /// # Errors
    /// If it cannot be reached, or has no catalog that can be read.
    pub async fn fetch(&self, market: &Marketplace) -> Result<Fetched, MarketplaceError> {
        market.source.check()?;
        if let Some(read) = self.read_local(market).await {
            return read;
        }
        if let MarketSource::HttpJson { url } = &market.source {
            let bytes = self.download(url).await?;
            return list_alone(market, &bytes);
        }
        let Some(url) = market.source.repository() else {
            return Err(MarketplaceError::InvalidSource(market.source.shown().to_owned()));
        };
        let places = self.places.as_ref().ok_or_else(no_places)?;
        let directory = checkout_dir(places, &market.id);
        let reference = market.source.ref_name().map(str::to_owned);
        let wanted = Wanted { url: url.clone(), reference, commit: None };
        let done = check_out(&directory, &wanted, CHECKOUT).await;
        done.map_err(|error| MarketplaceError::Fetch { what: url, why: error.to_string() })?;
        read_folder_of(market, directory).await
    }

    /// Reads a marketplace that is on this machine; none if it is elsewhere.
    pub async fn read_local(
        &self,
        market: &Marketplace,
    ) -> Option<Result<Fetched, MarketplaceError>> {
        if let MarketSource::HttpJson { url } = &market.source {
            let path = file_path(url)?;
            let read = tokio::task::spawn_blocking(move || read_file(&path)).await;
            let read = read.unwrap_or_else(|error| Err(MarketplaceError::Files(error.to_string())));
            return Some(read.and_then(|bytes| list_alone(market, &bytes)));
        }
        let root = local_root(&market.source, self.places.as_ref())?;
        Some(read_folder_of(market, root).await)
    }

    async fn download(&self, url: &str) -> Result<Vec<u8>, MarketplaceError> {
        let failed = |why: String| MarketplaceError::Fetch { what: url.to_owned(), why };
        let headers = vec![("accept".to_owned(), "application/json".to_owned())];
        let request =
            http::Request { url: url.to_owned(), headers, idle: LIMIT, ..http::Request::default() };
        let work = async {
            let mut answer = self.client.send(request).await.map_err(|error| error.to_string())?;
            match answer.status() {
                200 => {}
                status @ 300..400 => {
                    return Err(format!("the server redirects ({status}); use the final address"));
                }
                status => {
                    let words = http::reason(status).unwrap_or_default();
                    return Err(format!("the server answers {status} {words}"));
                }
            }
            let bytes =
                answer.bytes(LARGEST_CATALOG + 1).await.map_err(|error| error.to_string())?;
            match bytes.len() > LARGEST_CATALOG {
                true => Err(format!("it has more than {} MiB", LARGEST_CATALOG >> 20)),
                false => Ok(bytes),
            }
        };
        match tokio::time::timeout(LIMIT, work).await {
            Ok(read) => read.map_err(failed),
            Err(_) => Err(failed(format!("it took more than {} seconds", LIMIT.as_secs()))),
        }
    }
}

/// The folder of a marketplace that is on this machine already.
pub fn local_root(source: &MarketSource, places: Option<&Places>) -> Option<PathBuf> {
    match source {
        MarketSource::LocalPath { path } => Some(PathBuf::from(path)),
        MarketSource::Github { repo, .. } => github_folder(repo, places),
        MarketSource::Git { url, .. } => github_folder(github_repo(url)?, places),
        MarketSource::HttpJson { .. } => None,
    }
}

/// The folder that stands for a repository of GitHub.
pub(crate) fn github_folder(repo: &str, places: Option<&Places>) -> Option<PathBuf> {
    let folder = places?.github_folders.as_ref()?.join(repo);
    Beneath::new(&folder).is_ok().then_some(folder)
}

/// The folder of a marketplace, wherever it is from; it need not be there.
pub(crate) fn root(market: &Marketplace, places: &Places) -> Option<PathBuf> {
    let local = local_root(&market.source, Some(places));
    let checkout = || market.source.repository().map(|_| checkout_dir(places, &market.id));
    local.or_else(checkout)
}

fn checkout_dir(places: &Places, marketplace: &str) -> PathBuf {
    places.sources.join(marketplace).join("git")
}

fn no_places() -> MarketplaceError {
    MarketplaceError::Files("this server keeps no files; use the daemon".to_owned())
}

/// The path of an address of this machine.
fn file_path(url: &str) -> Option<PathBuf> {
    let text = url.strip_prefix("file://")?;
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((first, more)) = rest.split_first() {
        let code = (*first == b'%').then(|| more.get(..2)).flatten();
        let code = code.and_then(|code| u8::from_str_radix(str::from_utf8(code).ok()?, 16).ok());
        match code {
            Some(byte) => {
                bytes.push(byte);
                rest = &more[2..];
            }
            None => {
                bytes.push(*first);
                rest = more;
            }
        }
    }
    String::from_utf8(bytes).ok().map(PathBuf::from)
}

fn read_file(path: &Path) -> Result<Vec<u8>, MarketplaceError> {
    let read = files::read_range(path, 0, None, LARGEST_CATALOG as u64);
    read.map_err(|error| {
        let why = match error {
            files::ReadError::Io(error) => error.to_string(),
            files::ReadError::TooLarge { limit } => format!("it has more than {limit} bytes"),
        };
        MarketplaceError::Fetch { what: path.display().to_string(), why }
    })
}

fn owner<'a>(market: &'a Marketplace, kind: Kind, own: Option<&'a str>) -> Owner<'a> {
    Owner {
        marketplace: &market.id,
        kind,
        repository: own,
        plugin_root: market.source.plugin_root(),
        has_folder: !matches!(market.source, MarketSource::HttpJson { .. }),
    }
}

/// A catalog that is a file alone.
fn list_alone(market: &Marketplace, bytes: &[u8]) -> Result<Fetched, MarketplaceError> {
    let owner = owner(market, market.kind, None);
    let read = catalog::read(&owner, bytes, &|_| None);
    let catalog = read.map_err(|why| no_catalog(market.source.shown(), &why))?;
    Ok(Fetched { catalog, kind: market.kind, content_hash: digest(bytes) })
}

async fn read_folder_of(market: &Marketplace, root: PathBuf) -> Result<Fetched, MarketplaceError> {
    let market = market.clone();
    let read = tokio::task::spawn_blocking(move || read_folder(&market, &root)).await;
    read.unwrap_or_else(|error| Err(MarketplaceError::Files(error.to_string())))
}

/// Reads the catalog of a folder. Blocks.
fn read_folder(market: &Marketplace, root: &Path) -> Result<Fetched, MarketplaceError> {
    let folder =
        Beneath::new(root).map_err(|error| no_catalog(&root.display().to_string(), &error))?;
    let plugins = market.source.plugin_root().unwrap_or(CODEX_PLUGINS);
    let catalog_path = market.source.catalog_path();
    let is_open = market.is_kind_guessed || market.kind == Kind::Custom;
    let has_codex_plugins = || !codex_plugins(&folder, plugins, 1).is_empty();
    let found = match catalog_path {
        // Files say more than words, by which the kind was guessed before anything could be looked at.
        None if is_open => catalog::infer_kind(&folder, has_codex_plugins),
        _ => None,
    };
    let kind = found.unwrap_or(market.kind);
    let own = market.source.repository();
    let owner = owner(market, kind, own.as_deref());
    let Some(path) = catalog_path.or_else(|| catalog::catalog_file(kind)) else {
        let found = codex_plugins(&folder, plugins, MOST_ENTRIES);
        if found.is_empty() && !folder.is_dir(plugins) {
            return Err(no_catalog(
                &format!("{}/{plugins}", root.display()),
                &"no folder of plugins",
            ));
        }
        let mut hash = Sha256::new();
        for (path, manifest, _) in &found {
            hash.update(path.as_bytes());
            hash.update([0]);
            hash.update(digest(manifest));
        }
        let catalog = catalog::read_folders(&owner, &found);
        return Ok(Fetched { catalog, kind, content_hash: hex(&hash.finalize()) });
    };
    let shown = format!("{}/{path}", root.display());
    let bytes = folder.read_start(Path::new(path), LARGEST_CATALOG + 1);
    let bytes = bytes.map_err(|error| no_catalog(&shown, &error))?;
    let open = |source: &PluginSource| match source {
        PluginSource::MarketplacePath { path, .. } => folder.below(Path::new(path)).ok(),
        _ => None,
    };
    let catalog = catalog::read(&owner, &bytes, &open).map_err(|why| no_catalog(&shown, &why))?;
    Ok(Fetched { catalog, kind, content_hash: digest(&bytes) })
}

fn no_catalog(path: &str, why: &dyn std::fmt::Display) -> MarketplaceError {
    MarketplaceError::Catalog(format!("no catalog in {path}: {why}"))
}

/// Folders of plugins that describe themselves, in the order of their names: path, manifest, files.
fn codex_plugins(
    folder: &Beneath,
    plugins: &str,
    most: usize,
) -> Vec<(String, Vec<u8>, Option<Beneath>)> {
    let plugins = clean(plugins);
    let listed = folder.list(Path::new(&plugins), MOST_ENTRIES).unwrap_or_default();
    let names = listed.into_iter().filter(|(_, kind)| *kind != EntryKind::File);
    let mut names: Vec<String> = names.filter_map(|(name, _)| name.into_string().ok()).collect();
    names.sort();
    let read = |name: String| {
        let path = clean(&format!("{plugins}/{name}"));
        let inner = folder.below(Path::new(&path)).ok()?;
        let manifest = inner.read(CODEX_MANIFEST)?.ok()?;
        Some((path, manifest, Some(inner)))
    };
    names.into_iter().filter_map(read).take(most).collect()
}

/// SHA-256 in hexadecimal digits.
pub(crate) fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_say_of_what_kind_a_marketplace_is_and_words_only_without_them() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("claude-things");
        let market = |is_kind_guessed| Marketplace {
            source: MarketSource::LocalPath { path: root.display().to_string() },
            kind: Kind::Claude,
            is_kind_guessed,
            ..crate::default_marketplaces().remove(0)
        };
        let kind = |is_guessed| read_folder(&market(is_guessed), &root).map(|read| read.kind);
        let write = |path: &str, text: &str| {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("README.md", "");
        let error = kind(true).unwrap_err().to_string();
        assert!(error.contains(".claude-plugin/marketplace.json"), "{error}");
        for (path, text, expected) in [
            (".roder-plugin/marketplace.json", r#"{"plugins": []}"#, Kind::Roder),
            ("plugins/p/.codex-plugin/plugin.json", r#"{"name": "p"}"#, Kind::Codex),
            (".cursor-plugin/marketplace.json", r#"{"plugins": []}"#, Kind::Cursor),
        ] {
            write(path, text);
            assert_eq!(kind(true).unwrap(), expected);
            // What a person said is not corrected.
            assert!(kind(false).is_err());
        }
    }

    #[test]
    fn addresses_of_this_machine_are_paths() {
        assert_eq!(file_path("file:///a%20b/c"), Some("/a b/c".into()));
        assert_eq!(file_path("file:///a%zz%4"), Some("/a%zz%4".into()));
        assert_eq!(file_path("https://a"), None);
    }
}
