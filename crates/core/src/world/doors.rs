//! The only ways to the world: look at it as it stands, hold it still, or change a copy of it.

use std::ops::Deref;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard, RwLock};

use super::World;
use crate::core::Core;
use crate::log::Signals;

/// The world behind its doors. What it is cannot be changed from here but by replacing all of it.
pub(crate) struct Doors {
    /// Locked for as long as it takes to copy or to replace a pointer.
    current: RwLock<Arc<World>>,
    /// Held by the one who changes it.
    changing: Mutex<()>,
    /// Raised for what changed.
    signals: Signals,
}

/// The world while nothing changes it.
pub(crate) struct Held<'a> {
    world: Arc<World>,
    doors: &'a Doors,
    _changing: MutexGuard<'a, ()>,
}

impl Doors {
    pub(crate) fn new(world: World, signals: Signals) -> Self {
        Doors { current: RwLock::new(Arc::new(world)), changing: Mutex::new(()), signals }
    }

    fn look(&self) -> Arc<World> {
        Arc::clone(&self.current.read())
    }

    pub(super) fn hold(&self) -> Held<'_> {
        let changing = self.changing.lock();
        Held { world: self.look(), doors: self, _changing: changing }
    }
}

impl Held<'_> {
    /// Every reader sees this world from now on.
    pub(super) fn replace(&self, world: World) {
        let changed = world.changed_since(&self.world);
        let before = std::mem::replace(&mut *self.doors.current.write(), Arc::new(world));
        changed.into_iter().for_each(|shows| self.doors.signals.raise(shows));
        // Dropped after the lock is free: it may be the last of it.
        drop(before);
    }
}

impl Deref for Held<'_> {
    type Target = World;

    fn deref(&self) -> &World {
        &self.world
    }
}

impl Core {
    /// The world as the last transaction left it. Waits for none, and none waits for it.
    pub(crate) fn look(&self) -> Arc<World> {
        self.inner.world.look()
    }

    /// The world while no transaction can begin: for what lies beside it and has to agree with it.
    pub(crate) fn hold(&self) -> Held<'_> {
        self.inner.world.hold()
    }
}
