//! The orders in which blocks, warps and lanes run.
//!
//! # Design
//!
//! The checker finds a race under any order in which both accesses are made. Other errors show only under a particular
//! order. In such an order, for example, a look-back finds an aggregate, a lock is taken, or an unusual block finishes
//! last. The checks therefore run under the eight orders of `Schedule::HOSTILE`. In these orders, for example, one warp
//! runs far ahead or far behind, threads switch before every access, or several blocks take turns. Blocks that update
//! one value without an atomic update, or lock two locks in opposite orders, fail only if another block runs between
//! two accesses of a block, hence `BlocksInTurn`. In the orders in which one warp is ahead or behind, atomic reads may
//! also return older values. `search.rs` derives further orders from the trace of atomic accesses that `director.rs`
//! records.

use std::fmt;
use std::str::FromStr;

use crate::choices::Deviations;
use crate::holds::{Hold, Holds};

/// The order in which blocks, warps and lanes run. The name and seed of a schedule determine the order completely.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Schedule {
    /// Blocks, warps and lanes run in their natural order, each until it must wait.
    Natural,
    /// Blocks, warps and lanes run in a pseudo-random order.
    Random(u64),
    /// Blocks, warps and lanes run in reverse order.
    LastFirst,
    /// One warp of each block, and one lane of each warp, runs as far ahead of all others as it can.
    OneAhead(u64),
    /// One warp of each block, and one lane of each warp, runs only when no other can run.
    OneBehind(u64),
    /// Another thread of the block runs before each access. Launches run on the OS thread that launches them.
    EveryAccess(u64),
    /// Several blocks take turns: another thread or another block may continue before any access. Launches run on the
    /// OS thread that launches them, and end with the fault that occurs first.
    Interleaved(u64),
    /// Several blocks take turns: the next block continues before each atomic or volatile access, and sometimes a
    /// random one. Launches run on the OS thread that launches them, and end with the fault that occurs first.
    BlocksInTurn(u64),
    /// The order is natural for seed 0, reversed for seed 1 and otherwise pseudo-random. Some threads wait before one
    /// of their atomic accesses until no other thread can continue. Launches run on the OS thread that launches them.
    Held(u64, Holds),
    /// The order is natural. Checked launches explore weak memory by given choices: which value an atomic read returns,
    /// where a store enters the coherence order, and which threads wait. Launches run on the OS thread that launches
    /// them.
    Chosen(Deviations),
}

impl Schedule {
    /// Eight schedules for tests. Each makes a different kind of error likely to show.
    pub const HOSTILE: [Self; 8] = [
        Self::Natural,
        Self::LastFirst,
        Self::Random(1),
        Self::OneAhead(2),
        Self::OneBehind(3),
        Self::EveryAccess(4),
        Self::Interleaved(5),
        Self::BlocksInTurn(6),
    ];

    /// Returns the order in a few words, for users who do not know the schedules' names.
    pub fn description(self) -> &'static str {
        match self {
            Self::Natural => "each thread runs as far as it can, the first one first",
            Self::LastFirst => "each thread runs as far as it can, the last one first",
            Self::Random(_) => "a pseudo-random order",
            Self::OneAhead(_) => "one warp of a block and one lane of a warp run ahead",
            Self::OneBehind(_) => "one warp of a block and one lane of a warp stay behind",
            Self::EveryAccess(_) => "another thread runs before each access",
            Self::Interleaved(_) => "blocks take turns before any access",
            Self::BlocksInTurn(_) => "blocks take turns before atomic accesses",
            Self::Held(..) => "some threads wait before an atomic access",
            Self::Chosen(_) => "atomic reads return chosen values",
        }
    }

    /// Returns the schedule's seed, or 0 if it has none.
    pub fn seed(self) -> u64 {
        match self {
            Self::Natural | Self::LastFirst | Self::Chosen(_) => 0,
            Self::Random(seed)
            | Self::OneAhead(seed)
            | Self::OneBehind(seed)
            | Self::EveryAccess(seed)
            | Self::Interleaved(seed)
            | Self::BlocksInTurn(seed)
            | Self::Held(seed, _) => seed,
        }
    }

    /// Returns the number that determines the pseudo-random choices, or `None` if the schedule makes no such choices.
    pub(crate) fn key(self) -> Option<u64> {
        match self {
            Self::Natural | Self::LastFirst | Self::Held(0 | 1, _) | Self::Chosen(_) => None,
            _ => Some(self.seed()),
        }
    }

    /// Returns true if the schedule always chooses the last of several blocks, warps or lanes.
    pub(crate) fn takes_last(self) -> bool {
        matches!(self, Self::LastFirst | Self::Held(1, _))
    }

    /// Returns the sets of lanes that `active_mask` returns.
    pub(crate) fn lane_groups(self) -> LaneGroups {
        match self {
            _ if self.takes_last() => LaneGroups::Whole,
            Self::Random(_) => LaneGroups::Divided,
            Self::Held(seed, _) if seed > 0 => LaneGroups::Divided,
            _ => LaneGroups::Single,
        }
    }

    /// Returns the holds, if the schedule has any.
    pub(crate) fn holds(&self) -> Option<&[Hold]> {
        if let Self::Held(_, holds) = self { Some(holds.as_slice()) } else { None }
    }

    /// Returns true if the schedule may make a thread yield before an access.
    pub(crate) fn is_preemptive(self) -> bool {
        matches!(
            self,
            Self::EveryAccess(_) | Self::Interleaved(_) | Self::BlocksInTurn(_) | Self::Held(..) | Self::Chosen(_)
        )
    }

    /// Returns true if several blocks take turns.
    pub(crate) fn alternates_blocks(self) -> bool {
        matches!(self, Self::Interleaved(_) | Self::BlocksInTurn(_))
    }

    /// Returns true if atomic reads of checked launches may return older values, as PTX's memory model allows.
    pub fn has_weak_memory(self) -> bool {
        matches!(self, Self::OneAhead(_) | Self::OneBehind(_) | Self::Chosen(_))
    }
}

/// The sets of lanes that `active_mask` returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LaneGroups {
    /// Each lane alone.
    Single,
    /// Two pseudo-random parts of the lanes that come together.
    Divided,
    /// All lanes that come together.
    Whole,
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Natural => f.write_str("natural"),
            Self::Random(seed) => write!(f, "random:{seed}"),
            Self::LastFirst => f.write_str("last-first"),
            Self::OneAhead(seed) => write!(f, "one-ahead:{seed}"),
            Self::OneBehind(seed) => write!(f, "one-behind:{seed}"),
            Self::EveryAccess(seed) => write!(f, "every-access:{seed}"),
            Self::Interleaved(seed) => write!(f, "interleaved:{seed}"),
            Self::BlocksInTurn(seed) => write!(f, "blocks-in-turn:{seed}"),
            Self::Held(seed, holds) => write!(f, "held:{seed}:{holds}"),
            Self::Chosen(deviations) => write!(f, "chosen:{deviations}"),
        }
    }
}

/// The error of parsing a text that does not name a schedule.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no schedule '{0}': use natural, last-first, or random, one-ahead, one-behind, every-access, \
    interleaved or blocks-in-turn with a seed, such as random:1, or \
    held:SEED:BLOCK.THREAD.ACCESS,\u{2026} or chosen:CHOICE.OPTION,\u{2026} as `--thorough` prints it"
)]
pub struct ScheduleTextError(String);

crate::debug_as_display!(ScheduleTextError);

/// Parses a schedule in the format of [`Display`](fmt::Display). If the text has no seed, the seed is 1.
impl FromStr for Schedule {
    type Err = ScheduleTextError;

    fn from_str(text: &str) -> Result<Self, ScheduleTextError> {
        let error = || ScheduleTextError(text.to_owned());
        if let Some((seed, holds)) = text.strip_prefix("held:").and_then(|rest| rest.split_once(':')) {
            let seed = seed.parse().map_err(|_| error())?;
            return Ok(Self::Held(seed, holds.parse().map_err(|()| error())?));
        }
        if let Some(deviations) = text.strip_prefix("chosen:") {
            return deviations.parse().map(Self::Chosen).map_err(|()| error());
        }
        let (name, seed) = match text.split_once(':') {
            Some((name, seed)) => (name, Some(seed.parse().map_err(|_| error())?)),
            None => (text, None),
        };
        let seeded = seed.unwrap_or(1);
        match name {
            "natural" if seed.is_none() => Ok(Self::Natural),
            "last-first" if seed.is_none() => Ok(Self::LastFirst),
            "random" => Ok(Self::Random(seeded)),
            "one-ahead" => Ok(Self::OneAhead(seeded)),
            "one-behind" => Ok(Self::OneBehind(seeded)),
            "every-access" => Ok(Self::EveryAccess(seeded)),
            "interleaved" => Ok(Self::Interleaved(seeded)),
            "blocks-in-turn" => Ok(Self::BlocksInTurn(seeded)),
            _ => Err(error()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_are_read_as_they_are_written() {
        for schedule in Schedule::HOSTILE {
            assert_eq!(schedule.to_string().parse(), Ok(schedule));
        }
        assert_eq!("interleaved".parse(), Ok(Schedule::Interleaved(1)));
        assert_eq!("interleaved:6".parse(), Ok(Schedule::Interleaved(6)));
        for text in [
            "chosen:",
            "chosen:3.1",
            "chosen:0.2,7.1",
            "chosen:0.2,7.3=1.0.2.42",
            "held:0:",
            "held:1:3.0.1",
            "held:7:0.31.2,1.0.1,1.0.2,9.5.4",
        ] {
            assert_eq!(text.parse::<Schedule>().map(|schedule| schedule.to_string()), Ok(text.to_owned()));
        }
        for text in [
            "chosen",
            "chosen:1",
            "chosen:1.0",
            "chosen:2.1,1.1",
            "chosen:1.1.1",
            "chosen:1.1=1.0.2",
            "chosen:1.1=1.0.2.x",
            "chosen:1.1=0.0.0.1,2.1=0.0.0.1",
            "chosen:2.1,1.1=0.0.0.1",
            "held:0",
            "held:x:",
            "held:0:1",
            "held:0:1.2",
            "held:0:1.2.3.4",
            "held:0:1.1.1,1.1.1",
            "held:0:,",
        ] {
            assert!(text.parse::<Schedule>().is_err(), "{text}");
        }
        for text in ["", "Natural", "natural:1", "random:", "random:x", "random:-1", "one-ahead:1:2", "ahead"] {
            let error = text.parse::<Schedule>().unwrap_err();
            let message = format!("{error:?}");
            assert_eq!(message, error.to_string());
            assert!(message.contains(&format!("'{text}'")) && message.contains("one-behind"), "{message}");
        }
    }
}
