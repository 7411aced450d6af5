//! Whether there is any memory at an address.

use std::cell::Cell;

/// Bytes of a page, or less.
const PAGE: usize = 4096;
/// Pages that need not be asked for again, by the lowest bits of their numbers.
const RECENT: usize = 64;

thread_local! {
    static RECENT_PAGES: [Cell<usize>; RECENT] = const { [const { Cell::new(usize::MAX) }; RECENT] };
}

/// Whether the process may read all of the `bytes` bytes at `address`. Where the system does not tell, it may.
pub(super) fn is_mapped(address: usize, bytes: usize) -> bool {
    let last = address.saturating_add(bytes - 1);
    (address / PAGE..=last / PAGE).all(|page| {
        RECENT_PAGES.with(|recent| {
            let slot = &recent[page % RECENT];
            let is_known = slot.get() == page;
            // Of an address 0 the system takes no notice.
            if page == 0 || (!is_known && !is_readable(page * PAGE)) {
                return false;
            }
            slot.set(page);
            true
        })
    })
}

/// Has the system read 8 bytes at `address`, a multiple of 8, as an argument of a call that fails either way, by
/// another error where there is nothing to read.
#[cfg(target_os = "linux")]
fn is_readable(address: usize) -> bool {
    let no_such_way: libc::c_int = !0;
    // SAFETY: the system checks the address, and changes nothing, as there is no such way of changing a signal mask.
    let result = unsafe { libc::syscall(libc::SYS_rt_sigprocmask, no_such_way, address, 0_usize, 8_usize) };
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
    fn what_the_process_has_is_mapped() {
        let local = 1_u64;
        assert!(is_mapped((&raw const local).addr(), 8));
        assert!(is_mapped(vec![0_u8; 100].as_ptr().addr(), 100));
        for nowhere in [8, 0x5000_0000_0000_1230, usize::MAX - 7] {
            assert!(!is_mapped(nowhere, 4), "{nowhere:#x}");
        }
    }
}
