//! The ring file's header and byte area as mapped memory. The only unsafe part of the ring; every access is bounds-checked.

use std::os::fd::BorrowedFd;
use std::ptr::{self, NonNull};
use std::sync::atomic::AtomicU64;

use rustix::io;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// Bytes in front of the ring itself.
pub(super) const HEADER_BYTES: usize = 4096;

/// A shared mapping of the first `HEADER_BYTES + capacity` bytes of a ring file.
pub(super) struct Mapping {
    base: NonNull<u8>,
    capacity: usize,
}

// SAFETY: the mapping is owned by this value alone and not tied to a thread; shared access goes through atomics or `&self`.
#[expect(unsafe_code, reason = "a raw pointer to process-wide memory may move between threads")]
unsafe impl Send for Mapping {}

#[expect(unsafe_code, reason = "memory shared with the next daemon generation")]
impl Mapping {
    /// Maps the file, which must be sealed against shrinking and at least this long: else later access faults.
    pub(super) fn new(file: BorrowedFd<'_>, capacity: usize) -> io::Result<Self> {
        // SAFETY: a fresh shared mapping at an address of the kernel's choice aliases no Rust object.
        let base = unsafe {
            mmap(
                ptr::null_mut(),
                HEADER_BYTES + capacity,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
                file,
                0,
            )?
        };
        let base = NonNull::new(base.cast()).ok_or(io::Errno::NOMEM)?;
        Ok(Self { base, capacity })
    }

    /// One 64-bit word of the header.
    pub(super) fn word(&self, index: usize) -> &AtomicU64 {
        assert!(index < HEADER_BYTES / 8, "header word out of range");
        // SAFETY: inside the page-aligned header, so valid and aligned; the header is only ever accessed as atomics.
        unsafe { AtomicU64::from_ptr(self.base.as_ptr().add(index * 8).cast()) }
    }

    /// Part of the ring.
    pub(super) fn bytes(&self, at: usize, len: usize) -> &[u8] {
        // SAFETY: `place` checked the bounds; writers need `&mut self`, and there is a single writing process.
        unsafe { std::slice::from_raw_parts(self.place(at, len), len) }
    }

    /// Part of the ring, to be written.
    pub(super) fn bytes_mut(&mut self, at: usize, len: usize) -> &mut [u8] {
        // SAFETY: `place` checked the bounds; `&mut self` makes this the only slice into the mapping.
        unsafe { std::slice::from_raw_parts_mut(self.place(at, len), len) }
    }

    fn place(&self, at: usize, len: usize) -> *mut u8 {
        assert!(at <= self.capacity && len <= self.capacity - at, "ring range out of bounds");
        // SAFETY: `at` is at most the capacity, so the result stays inside or one past the mapping.
        unsafe { self.base.as_ptr().add(HEADER_BYTES + at) }
    }
}

impl Drop for Mapping {
    #[expect(unsafe_code, reason = "ends the mapping made in `new`")]
    fn drop(&mut self) {
        // SAFETY: base and length are those of `new`, and every borrow of the mapping ended with `self`.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), HEADER_BYTES + self.capacity) };
    }
}
