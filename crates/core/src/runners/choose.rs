//! Which place the id of a destination stands for.
//!
//! A client selects a destination by an id of its own choice, and may say something else by that id later.
//! What was there keeps its session until that is deleted or idle, and threads and tasks that work there
//! stay. So what is kept has a key: the id, or `<id>#<n>` if the id was taken when it was selected. A key
//! never means another place than before.

use std::collections::BTreeSet;
use std::sync::Arc;

use rookery_model::{Error, ErrorKind, LATER_DESTINATION as LATER, Result, shown_destination};
use rookery_runners::{Location, Manifest, Provider};
use tokio::time::Instant;

use super::{
    Destination, MAX_ID, NewDestination, RunnerState, RunnerStatus, Table, bind, find, refused,
    unknown,
};
use crate::rooms::Runners;

/// How many destinations there may be besides those that were made for one thread each.
const MAX_DESTINATIONS: usize = 64;

impl Table {
    /// The destinations of an id, by their keys.
    fn of_id<'a>(&'a self, id: &'a str) -> impl Iterator<Item = (&'a String, &'a Destination)> {
        self.destinations.iter().filter(move |(key, _)| shown_destination(key) == id)
    }

    /// The one of an id that is meant: the selected one, else the newest.
    fn key_of(&self, id: &str) -> Option<String> {
        let selected = self.selected.as_ref().filter(|key| shown_destination(key) == id);
        let number = |key: &str| key.split_once(LATER).and_then(|(_, number)| number.parse().ok());
        let newest = || self.of_id(id).max_by_key(|(key, _)| number(key).unwrap_or(0_u64));
        selected.or_else(|| newest().map(|(key, _)| key)).cloned()
    }

    /// What nothing needs once another place is called by an id: places of that id, and such as were
    /// replaced before, without a session and without work.
    fn spare(&self, id: &str, used: &BTreeSet<String>) -> Vec<String> {
        let is_replaced = |key: &String| {
            shown_destination(key) == id
                || self.key_of(shown_destination(key)).as_ref() != Some(key)
        };
        let is_spare = |(key, it): &(&String, &Destination)| {
            // Whoever opens it, or is asked whether it may be opened, holds these.
            let is_wanted = Arc::strong_count(&it.gate) > 1 || Arc::strong_count(&it.asking) > 1;
            let is_open = it.session.is_some() || it.live.is_some();
            !is_open && !is_wanted && !used.contains(*key) && is_replaced(key)
        };
        self.destinations.iter().filter(is_spare).map(|(key, _)| key.clone()).collect()
    }

    /// Takes a destination in, and gives its key.
    fn take(&mut self, id: &str, fresh: Destination, used: &BTreeSet<String>) -> Result<String> {
        let same = self.of_id(id).find(|(_, it)| is_same(it, &fresh)).map(|(key, _)| key.clone());
        if let Some(key) = same {
            // Perhaps with a secret that was lost.
            if let Some(known) = self.destinations.get_mut(&key) {
                (known.config, known.missing) = (fresh.config, Vec::new());
            }
            return Ok(key);
        }
        let is_taken = self.of_id(id).next().is_some();
        if bind::is_own(id) {
            // Made for one thread, and as many as there are threads.
            if is_taken {
                return Err(Error::conflict(format!("runner destination {id} is there already")));
            }
            self.destinations.insert(id.to_owned(), fresh);
            return Ok(id.to_owned());
        }
        let spare = self.spare(id, used);
        let named = self.destinations.keys().filter(|key| !bind::is_own(key)).count();
        if named.saturating_sub(spare.len()) >= MAX_DESTINATIONS {
            let message =
                format!("there are {MAX_DESTINATIONS} runner destinations; delete one first");
            return Err(Error::new(ErrorKind::Busy, message));
        }
        for key in spare {
            self.destinations.remove(&key);
        }
        let key = match is_taken {
            true => {
                self.made += 1;
                format!("{id}{LATER}{}", self.made)
            }
            false => id.to_owned(),
        };
        self.destinations.insert(key.clone(), fresh);
        Ok(key)
    }
}

impl Runners {
    /// Selects a destination. The one before stays until it is deleted or idle.
    ///
    /// # Errors
    /// If there is no such provider, it cannot be used as it is, or a member is wrong.
    pub async fn select(&self, new: NewDestination) -> Result<RunnerStatus> {
        let provider = find(&new.provider)
            .ok_or_else(|| Error::invalid("provider_id", unknown(&new.provider)))?;
        let id = new.id.clone();
        let key = self.configure(&id, provider, new).await?;
        self.table().selected = Some(key.clone());
        self.save().await?;
        self.changed(&key);
        let status = self.table().status(&key);
        status.ok_or_else(|| Error::failed("the destination was deleted meanwhile"))
    }

    /// Checks a destination and takes it in, without a session. Gives its key.
    pub(super) async fn configure(
        &self,
        id: &str,
        provider: &'static Provider,
        new: NewDestination,
    ) -> Result<String> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | ':' | '-');
        let fits = id.starts_with(|c: char| c.is_ascii_alphanumeric())
            && id.len() <= MAX_ID
            && id.chars().all(is_plain);
        if !fits {
            let message = "destination_id must be 1 to 128 letters, digits, dots, colons, dashes and underscores";
            return Err(Error::invalid("destination_id", message));
        }
        let manifest = Manifest::read(&new.manifest).map_err(refused)?;
        provider.check(&new.config, &manifest).map_err(refused)?;
        if let Some(hint) = provider.setup_hint(self.environment(), new.config.clone()).await {
            return Err(Error::invalid("provider_id", hint));
        }
        let fresh = Destination {
            provider,
            config: new.config,
            missing: Vec::new(),
            manifest,
            cwd: new.cwd,
            state: RunnerState::Configured,
            session: None,
            snapshot: None,
            live: None,
            gate: Arc::default(),
            asking: Arc::default(),
            is_permitted: false,
            used: Instant::now(),
        };
        let used = self.used();
        self.table().take(id, fresh, &used)
    }

    /// The key of the destination that a client means by an id.
    pub(super) fn key_of(&self, id: &str) -> String {
        self.table().key_of(id).unwrap_or_else(|| id.to_owned())
    }

    /// The keys of destinations that threads are bound to, or tasks that are not over.
    fn used(&self) -> BTreeSet<String> {
        let world = self.core.look();
        let bound = world.threads.values().filter_map(|state| state.thread.runner.as_deref());
        let at_work = world.tasks.shared().filter(|task| !task.state.is_over());
        let at_work = at_work.filter_map(|task| task.spec.runner.as_ref());
        let bound = bound.map(|it| it.destination.clone());
        bound.chain(at_work.map(|it| it.destination.clone())).collect()
    }
}

/// Whether two destinations are one place: they differ in secrets at most, and in where their clients are
/// only if that does not matter.
fn is_same(known: &Destination, fresh: &Destination) -> bool {
    let without = |it: &Destination| it.provider.without_secrets(&it.config).0;
    let provider = fresh.provider;
    // Without a directory in its configuration a place of this machine is where its client is.
    let is_at_client =
        provider.whereabouts != Location::Away && provider.directory(&fresh.config).is_none();
    known.provider.id == provider.id
        && without(known) == without(fresh)
        && known.manifest == fresh.manifest
        && (!is_at_client || known.cwd == fresh.cwd)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn place(provider: &str, config: Value, cwd: &str) -> Destination {
        Destination {
            provider: find(provider).unwrap(),
            config,
            missing: Vec::new(),
            manifest: Manifest::default(),
            cwd: cwd.into(),
            state: RunnerState::Configured,
            session: None,
            snapshot: None,
            live: None,
            gate: Arc::default(),
            asking: Arc::default(),
            is_permitted: false,
            used: Instant::now(),
        }
    }

    fn open(table: &mut Table, key: &str) {
        table.destinations.get_mut(key).unwrap().session = Some((key.into(), Value::Null));
    }

    #[tokio::test]
    async fn what_an_id_stood_for_stays_while_it_is_open_or_used() {
        let (mut table, none) = (Table::default(), BTreeSet::new());
        let tree = |cwd| place("git-worktree", Value::Null, cwd);
        let take = |table: &mut Table, cwd, used: &BTreeSet<String>| {
            let key = table.take("tree", tree(cwd), used).unwrap();
            table.selected = Some(key.clone());
            key
        };
        assert_eq!(take(&mut table, "/a", &none), "tree");
        open(&mut table, "tree");
        assert_eq!(take(&mut table, "/b", &none), "tree#1");
        assert_eq!(take(&mut table, "/a", &none), "tree", "the session that is open goes on");
        assert_eq!(take(&mut table, "/b", &none), "tree#1");
        let used = ["tree#1".to_owned()].into();
        assert_eq!(take(&mut table, "/c", &used), "tree#2", "a thread is bound to the one before");
        assert_eq!(take(&mut table, "/d", &none), "tree#3", "no key means another place later");
        let keys: Vec<_> = table.destinations.keys().map(String::as_str).collect();
        assert_eq!(keys, ["tree", "tree#3"], "what nothing needs is gone");
        assert_eq!(table.key_of("tree").as_deref(), Some("tree#3"));
        assert_eq!(table.key_of("other"), None);
        assert_eq!(table.status("tree#3").unwrap().destination, "tree");
    }

    #[tokio::test]
    async fn where_a_client_is_matters_only_if_its_configuration_names_no_directory() {
        let same = |provider, config: Value| {
            is_same(&place(provider, config.clone(), "/a"), &place(provider, config, "/b"))
        };
        assert!(!same("unix-local", Value::Null));
        assert!(!same("docker", json!({"image": "x"})));
        assert!(same("unix-local", json!({"root": "/w"})));
        assert!(same("git-worktree", json!({"repo": "/w"})));
        assert!(same("ssh", json!({"host": "h", "root": "/w"})));
    }

    #[tokio::test]
    async fn destinations_are_bounded_and_what_is_spare_makes_room() {
        let (mut table, none) = (Table::default(), BTreeSet::new());
        let root = |n: usize| place("unix-local", json!({"root": format!("/{n}")}), "/");
        for n in 0..MAX_DESTINATIONS {
            let key = table.take("x", root(n), &none).unwrap();
            open(&mut table, &key);
        }
        assert_eq!(table.take("x", root(99), &none).unwrap_err().kind(), ErrorKind::Busy);
        assert!(table.take("x", root(3), &none).is_ok());
        table.destinations.get_mut("x").unwrap().session = None;
        assert!(table.take("x", root(99), &none).is_ok());
    }
}
