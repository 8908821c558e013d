//! The memory of this process.

/// Gives memory that was freed back to the system.
///
/// The allocator keeps freed blocks that lie between others for later use, so a process that held a
/// thousand terminals once would keep their memory for ever. May take some milliseconds.
pub fn release_freed() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        #[expect(unsafe_code, reason = "the C library offers it as a function only")]
        // SAFETY: it takes no pointer, touches only free blocks, and locks the allocator itself.
        unsafe {
            libc::malloc_trim(0);
        }
    }
}
