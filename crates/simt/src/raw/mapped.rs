//! Tests if an address is mapped.

use std::cell::Cell;

/// A lower bound of the page size in bytes.
const PAGE: usize = 4096;
/// The size of a cache of mapped pages. The lowest bits of a page's number are its index in the cache.
const RECENT: usize = 64;

thread_local! {
    static RECENT_PAGES: [Cell<usize>; RECENT] = const { [const { Cell::new(usize::MAX) }; RECENT] };
}

/// Returns true if the process may read all of the `bytes` bytes at `address`. Also returns true on systems other than
/// Linux, where this is unknown.
pub(super) fn is_mapped(address: usize, bytes: usize) -> bool {
    let last = address.saturating_add(bytes - 1);
    (address / PAGE..=last / PAGE).all(|page| {
        RECENT_PAGES.with(|recent| {
            let slot = &recent[page % RECENT];
            let is_known = slot.get() == page;
            // The system call ignores a null pointer, so `is_readable` cannot test page 0.
            if page == 0 || (!is_known && !is_readable(page * PAGE)) {
                return false;
            }
            slot.set(page);
            true
        })
    })
}

/// Returns true if the 8 bytes at `address`, a multiple of 8, can be read. Passes the address to a system call that
/// always fails, with the error `EFAULT` if the address cannot be read.
#[cfg(target_os = "linux")]
fn is_readable(address: usize) -> bool {
    let no_such_operation: libc::c_int = !0;
    // SAFETY: the system checks the address. It changes nothing, because the first argument is no valid operation on a
    // signal mask.
    let result = unsafe { libc::syscall(libc::SYS_rt_sigprocmask, no_such_operation, address, 0_usize, 8_usize) };
    result == 0 || std::io::Error::last_os_error().raw_os_error() != Some(libc::EFAULT)
}

#[cfg(not(target_os = "linux"))]
fn is_readable(_address: usize) -> bool {
    true
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::is_mapped;

    #[test]
    fn memory_of_the_process_is_mapped() {
        let local = 1_u64;
        assert!(is_mapped((&raw const local).addr(), 8));
        assert!(is_mapped(vec![0_u8; 100].as_ptr().addr(), 100));
        for nowhere in [8, 0x5000_0000_0000_1230, usize::MAX - 7] {
            assert!(!is_mapped(nowhere, 4), "{nowhere:#x}");
        }
    }
}
