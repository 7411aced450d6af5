//! Preemption: decides when the current thread yields to another one before an access.

use std::cell::Cell;

use super::polling::POLLS_IN_A_ROW;
use crate::order::Chooser;
use crate::schedule::Schedule;

/// Under a schedule in which blocks take turns, a thread yields after a random number of accesses, fewer than
/// `2^MAX_SCALE`. All orders of magnitude of this number are equally likely, so a thread yields sometimes soon and
/// sometimes late. The average is about 26 accesses.
const MAX_SCALE: u32 = 7;
/// One of every `BLOCK_SHARE` preemptions switches to another block. The others switch to another thread of the block.
const BLOCK_SHARE: u32 = 4;

/// Decides when the current thread of a block yields, and whether another thread or another block runs next.
#[derive(Default)]
pub(crate) struct Preemption {
    /// The number of accesses until the thread yields: 1 if it yields before its next access, 0 if it never yields.
    pub(crate) left: Cell<u32>,
    rule: Cell<Rule>,
    chooser: Cell<Chooser>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Rule {
    #[default]
    Never,
    EveryAccess,
    TakingTurns,
    /// The thread yields to another block before each atomic access.
    AtAtomics,
}

impl Preemption {
    /// Resets the state for the block with the number `block`, under `schedule`.
    pub(crate) fn begin(&self, schedule: Schedule, block: u64) {
        self.rule.set(match schedule {
            Schedule::EveryAccess(_) => Rule::EveryAccess,
            Schedule::Interleaved(_) => Rule::TakingTurns,
            Schedule::BlocksInTurn(_) => Rule::AtAtomics,
            _ => Rule::Never,
        });
        // `!block` gives other random numbers than those that choose among the block's threads.
        self.chooser.set(Chooser::new(schedule, !block));
        self.draw();
    }

    /// Returns the number of times that a thread polls before other threads run. The number is low if the schedule
    /// makes threads yield before accesses anyway.
    pub(crate) fn polls_in_a_row(&self) -> u32 {
        if self.rule.get() == Rule::Never { POLLS_IN_A_ROW } else { 2 }
    }

    /// Returns true if the current thread must yield before each atomic access.
    #[inline]
    pub(crate) fn is_before_atomics(&self) -> bool {
        self.rule.get() == Rule::AtAtomics
    }

    /// Chooses the access before which the next thread will yield. Returns true if another block runs next.
    pub(crate) fn draw(&self) -> bool {
        let mut chooser = self.chooser.get();
        let (left, is_to_block) = match self.rule.get() {
            Rule::Never => (0, false),
            Rule::AtAtomics => (0, true),
            Rule::EveryAccess => (1, false),
            Rule::TakingTurns => {
                let least = 1 << chooser.draw(MAX_SCALE);
                (least + chooser.draw(least), chooser.draw(BLOCK_SHARE) == 0)
            }
        };
        self.chooser.set(chooser);
        self.left.set(left);
        is_to_block
    }
}
