//! The lock around the world: it is read as it stands, held still, or replaced by a changed copy.

use std::ops::Deref;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard, RwLock};

use super::World;
use crate::core::Core;
use crate::log::Signals;

/// The current world. It cannot be changed in place, only replaced as a whole.
pub(crate) struct SharedWorld {
    /// Locked for as long as it takes to copy or to replace a pointer.
    current: RwLock<Arc<World>>,
    /// Held by whoever changes it.
    changing: Mutex<()>,
    /// Raised for the parts that changed.
    signals: Signals,
}

/// The world while nothing changes it.
pub(crate) struct WorldGuard<'a> {
    world: Arc<World>,
    shared: &'a SharedWorld,
    _changing: MutexGuard<'a, ()>,
}

impl SharedWorld {
    pub(crate) fn new(world: World, signals: Signals) -> Self {
        SharedWorld { current: RwLock::new(Arc::new(world)), changing: Mutex::new(()), signals }
    }

    fn look(&self) -> Arc<World> {
        Arc::clone(&self.current.read())
    }

    pub(super) fn hold(&self) -> WorldGuard<'_> {
        let changing = self.changing.lock();
        WorldGuard { world: self.look(), shared: self, _changing: changing }
    }
}

impl WorldGuard<'_> {
    /// Every reader sees this world from now on.
    pub(super) fn replace(&self, world: World) {
        let changed = world.changed_since(&self.world);
        let before = std::mem::replace(&mut *self.shared.current.write(), Arc::new(world));
        changed.into_iter().for_each(|shows| self.shared.signals.raise(shows));
        // Dropped after the lock is free: it may be the last of it.
        drop(before);
    }
}

impl Deref for WorldGuard<'_> {
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
    pub(crate) fn hold(&self) -> WorldGuard<'_> {
        self.inner.world.hold()
    }
}
