//! History blocks in the ring's file: they survive the daemon and cost it no memory.

use rookery_keeper::ring::Blocks;
use rookery_term::BlockStore;

/// Slots used in turn; history keeps fewer blocks than this.
const SLOTS: u64 = rookery_term::MAX_BLOCKS as u64;

/// Sealed history blocks in the slots of a ring file.
pub(crate) struct RingBlocks(pub(crate) Blocks);

impl RingBlocks {
    fn slot(serial: u64) -> u32 {
        (serial % SLOTS) as u32
    }
}

impl BlockStore for RingBlocks {
    fn put(&mut self, serial: u64, block: &[u8]) {
        if let Err(error) = self.0.write(Self::slot(serial), serial, block) {
            tracing::warn!(%error, "cannot keep a block of scrollback");
        }
    }

    fn get(&self, serial: u64) -> Option<Vec<u8>> {
        self.0.read(Self::slot(serial), serial).ok().flatten()
    }

    fn forget(&mut self, _serial: u64) {
        // The slot is overwritten when its turn comes again.
    }
}
