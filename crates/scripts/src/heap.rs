//! The memory of a script. When its time is over, nothing large is to be had any more: the engine looks at the
//! clock once in ten thousand steps, and each of them may work on megabytes.

use std::ptr;
use std::sync::Arc;

use rquickjs::allocator::{Allocator, RustAllocator};

use crate::sandbox::Watchdog;

/// What counts as large: enough that work on it takes time.
const LARGE: usize = 1 << 10;

/// Memory for one script, within its time.
pub(crate) struct Heap {
    real: RustAllocator,
    watchdog: Arc<Watchdog>,
}

impl Heap {
    pub(crate) fn new(watchdog: Arc<Watchdog>) -> Heap {
        Heap { real: RustAllocator, watchdog }
    }

    fn refuses(&self, size: usize) -> bool {
        size >= LARGE && self.watchdog.is_over()
    }
}

// SAFETY: every region is the inner allocator's and goes back to it; a null pointer is a refusal that the engine
// turns into an error, and leaves what was to be resized as it is.
#[expect(
    unsafe_code,
    reason = "the engine takes memory by a trait that promises what a compiler cannot check"
)]
unsafe impl Allocator for Heap {
    fn alloc(&mut self, size: usize) -> *mut u8 {
        match self.refuses(size) {
            true => ptr::null_mut(),
            false => self.real.alloc(size),
        }
    }

    fn calloc(&mut self, count: usize, size: usize) -> *mut u8 {
        match count.checked_mul(size).is_none_or(|size| self.refuses(size)) {
            true => ptr::null_mut(),
            false => self.real.calloc(count, size),
        }
    }

    unsafe fn dealloc(&mut self, region: *mut u8) {
        // SAFETY: the caller's promise is the same.
        unsafe { self.real.dealloc(region) }
    }

    unsafe fn realloc(&mut self, region: *mut u8, size: usize) -> *mut u8 {
        match self.refuses(size) {
            true => ptr::null_mut(),
            // SAFETY: the caller's promise is the same.
            false => unsafe { self.real.realloc(region, size) },
        }
    }

    unsafe fn usable_size(region: *mut u8) -> usize {
        // SAFETY: the caller's promise is the same.
        unsafe { RustAllocator::usable_size(region) }
    }
}
