//! Lists of truth tables for the `lop3_given` calls in kernels.

use std::collections::HashSet;
use std::sync::{LazyLock, Mutex, PoisonError};

/// The lists that [`tables`] has returned.
static LISTS: LazyLock<Mutex<HashSet<&'static [u8]>>> = LazyLock::new(Mutex::default);

/// Returns a static copy of `tables` for [`LaunchConfig::tables`](crate::LaunchConfig::tables). Equal lists get the
/// same slice.
///
/// The slice is kept until the program ends, and kernels that are compiled for it are kept until their device is
/// closed. Use this function only for lists that are used again.
pub fn tables(tables: &[u8]) -> &'static [u8] {
    let mut lists = LISTS.lock().unwrap_or_else(PoisonError::into_inner);
    match lists.get(tables) {
        Some(list) => list,
        None => {
            let list: &'static [u8] = Box::leak(tables.into());
            lists.insert(list);
            list
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_list_is_the_same_each_time() {
        let [first, again, other] = [&[1, 2][..], &[1, 2], &[1, 2, 3]].map(super::tables);
        assert!(std::ptr::eq(first, again) && !std::ptr::eq(first, &other[..2]));
    }
}
