//! Preemption: decides when the current thread yields to another one before an access.

use std::cell::Cell;

use super::polling::POLLS_IN_A_ROW;
use crate::order::Chooser;
use crate::schedule::Schedule;

/// The logarithm of the longest stretch: blocks that take turns run for 1 to `2^MAX_SCALE` accesses. Short and long
/// stretches are equally likely, so that threads interleave closely as well as far apart. The average is about 23
/// accesses.
const MAX_SCALE: u32 = 7;
/// One in `BLOCK_SHARE` preemptions switches to another block, the others to another thread of the block.
const BLOCK_SHARE: u32 = 4;

/// When the current thread of a block has to yield, and whether to another thread or to another block.
#[derive(Default)]
pub(crate) struct Preemption {
    /// The number of accesses up to and including the one before which the thread yields; 0 for never.
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
}

impl Preemption {
    /// Resets the state for the block with the number `block`, under `schedule`.
    pub(crate) fn begin(&self, schedule: Schedule, block: u64) {
        self.rule.set(match schedule {
            Schedule::EveryAccess(_) => Rule::EveryAccess,
            Schedule::Interleaved(_) => Rule::TakingTurns,
            _ => Rule::Never,
        });
        // Other random numbers than those that choose among the block's threads.
        self.chooser.set(Chooser::new(schedule, !block));
        self.draw();
    }

    /// Returns how many times a thread polls before others run. If others may run before any access, a low number costs
    /// no speed.
    pub(crate) fn polls_in_a_row(&self) -> u32 {
        if self.rule.get() == Rule::Never { POLLS_IN_A_ROW } else { 2 }
    }

    /// Draws when the current thread has to yield next. Returns true if it yields to another block.
    pub(crate) fn draw(&self) -> bool {
        let mut chooser = self.chooser.get();
        let (left, is_to_block) = match self.rule.get() {
            Rule::Never => (0, false),
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
