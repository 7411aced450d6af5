//! What depends on a rank alone, such as its clock: the first one's counts for all, so that all do the same.
//!
//! # Design
//!
//! Ranks must make the same calls in the same order. Clocks and files differ between ranks, so the first rank decides
//! everything that depends on one and sends its decision to the others.

use anyhow::Context;

use program::ranks;

/// The first rank's number.
///
/// # Errors
/// When a rank fails.
pub fn first(number: u64) -> anyhow::Result<u64> {
    Ok(all(number)?[0])
}

/// The largest of all ranks' numbers.
///
/// # Errors
/// When a rank fails.
pub fn most(number: u64) -> anyhow::Result<u64> {
    Ok(all(number)?.into_iter().max().unwrap_or(number))
}

fn all(number: u64) -> anyhow::Result<Vec<u64>> {
    let ranks = ranks::communicator();
    if ranks.size() == 1 {
        return Ok(vec![number]);
    }
    let of_ranks = ranks.all_gather(&number.to_le_bytes())?;
    let number = |bytes: Vec<u8>| Some(u64::from_le_bytes(bytes.try_into().ok()?));
    of_ranks.into_iter().map(number).collect::<Option<_>>().context("the ranks do not do the same work")
}

/// The text that the first rank makes; the others do not make one.
///
/// # Errors
/// When a rank fails, and those of `make`.
pub fn text(make: impl FnOnce() -> anyhow::Result<String>) -> anyhow::Result<String> {
    let ranks = ranks::communicator();
    let made = if ranks.rank() == 0 { make()? } else { String::new() };
    if ranks.size() == 1 {
        return Ok(made);
    }
    let first = ranks.all_gather(made.as_bytes())?.into_iter().next().unwrap_or_default();
    String::from_utf8(first).context("the ranks do not do the same work")
}
