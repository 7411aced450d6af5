//! Preemption: when the current thread gives way to another before an access.

use std::cell::Cell;

use super::polling::POLLS_IN_A_ROW;
use crate::order::Chooser;
use crate::schedule::Schedule;

/// Blocks that take turns go on for 1 to `2^MAX_SCALE` accesses. Short stretches and long ones are equally likely, so
/// that threads meet between any two accesses as well as far apart; on average it is some 23 accesses.
const MAX_SCALE: u32 = 7;
/// One in so many preemptions goes to another block, and the others to another thread of the block.
const BLOCK_SHARE: u32 = 4;

/// When the current thread of a block has to give way, and to whom.
pub(crate) struct Preemption {
    /// How many accesses there are until then, the one that has to wait among them; 0 for no end.
    pub(crate) left: Cell<u32>,
    rule: Cell<Rule>,
    chooser: Cell<Chooser>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    Never,
    EveryAccess,
    TakingTurns,
}

impl Default for Preemption {
    fn default() -> Self {
        Self { left: Cell::new(0), rule: Cell::new(Rule::Never), chooser: Cell::new(Chooser::FIRST) }
    }
}

impl Preemption {
    /// For a block that begins: the block with the number `block`, under `schedule`.
    pub(crate) fn begin(&self, schedule: Schedule, block: u64) {
        self.rule.set(match schedule {
            Schedule::EveryAccess(_) => Rule::EveryAccess,
            Schedule::Interleaved(_) => Rule::TakingTurns,
            Schedule::Natural
            | Schedule::Random(_)
            | Schedule::LastFirst
            | Schedule::Held(..)
            | Schedule::OneAhead(_)
            | Schedule::OneBehind(_) => Rule::Never,
        });
        // Not the numbers that choose among the block's threads.
        self.chooser.set(Chooser::new(schedule, !block));
        self.draw();
    }

    /// How often a thread polls before others run. Where others may run before any access, that is no loss of speed.
    pub(crate) fn polls_in_a_row(&self) -> u32 {
        if self.rule.get() == Rule::Never { POLLS_IN_A_ROW } else { 2 }
    }

    /// Chooses when the current thread has to give way next, and whether that is to another block.
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
