//! A worker that runs several blocks alternately, in turns of a few accesses.

use super::stacks::STACKS;
use super::{MAX_FIBRES, Outcome, Resident, Worker};
use crate::order::Chooser;
use crate::schedule::Schedule;

/// The maximum number of blocks that take turns. Blocks that only poll do not count.
pub(super) const MAX_RESIDENT: usize = 8;
/// Under a schedule in which blocks run in turn, one of every `RANDOM_SHARE` turns goes to a random block.
const RANDOM_SHARE: u32 = 32;
/// One of every `STALLED_SHARE` turns goes to a block that only polls.
const STALLED_SHARE: u32 = 8;

/// The blocks that have begun and not ended.
#[derive(Default)]
struct Turns {
    active: Vec<Resident>,
    /// The blocks that have done nothing but poll for a long time.
    stalled: Vec<Resident>,
}

impl Worker<'_> {
    /// Runs blocks in turns, in the order that the schedule chooses, until the grid has no blocks left or one has
    /// faulted.
    pub(crate) fn run_interleaved(&mut self) {
        let mut chooser = Chooser::new(self.grid.schedule, u64::MAX);
        let mut turns = Turns::default();
        let mut spare = Vec::new();
        let patience = self.patience();
        let is_in_turn = matches!(self.grid.schedule, Schedule::BlocksInTurn(_));
        let mut turn = 0;
        loop {
            self.fill(&mut turns.active, &mut spare);
            if turns.active.is_empty() {
                // The grid has no further blocks, and the remaining ones only poll.
                self.finish(&mut turns.stalled);
                break;
            }
            let takes_stalled = !turns.stalled.is_empty() && chooser.draw(STALLED_SHARE) == 0;
            let list = if takes_stalled { &mut turns.stalled } else { &mut turns.active };
            let index = if is_in_turn && chooser.draw(RANDOM_SHARE) != 0 {
                turn += 1;
                turn % list.len()
            } else {
                chooser.draw(list.len() as u32) as usize
            };
            let resident = &mut list[index];
            match self.advance(resident, 1) {
                Outcome::Finished => spare.push(list.swap_remove(index)),
                Outcome::Failed => {
                    let failed = list.swap_remove(index);
                    self.retire(failed);
                    turns.active.append(&mut turns.stalled);
                    self.give_up(&mut turns.active);
                    break;
                }
                outcome @ (Outcome::Preempted
                | Outcome::Stalled
                | Outcome::TurnOver
                | Outcome::AtGridBarrier
                | Outcome::AtClusterBarrier) => {
                    // Other blocks begin if a block waits by updates for a long time.
                    let is_turn_over = matches!(outcome, Outcome::TurnOver);
                    if is_turn_over {
                        resident.block.begin_turn();
                    }
                    let is_stalled = is_turn_over || resident.vain_polls >= patience * MAX_RESIDENT as u64;
                    if is_stalled != takes_stalled {
                        resident.block.is_stalled.set(is_stalled);
                        let resident = list.swap_remove(index);
                        let other = if is_stalled { &mut turns.stalled } else { &mut turns.active };
                        other.push(resident);
                    }
                }
            }
        }
        for resident in spare {
            self.retire(resident);
        }
    }

    /// Starts blocks until the maximum number of blocks takes turns.
    fn fill(&mut self, active: &mut Vec<Resident>, spare: &mut Vec<Resident>) {
        let threads = self.grid.config.block.count() as usize;
        // This limit lets the OS thread keep the fibres of all these blocks for the next launch.
        let max = (MAX_FIBRES.min(STACKS.half()) / threads).clamp(1, MAX_RESIDENT);
        while active.len() < max {
            let Some(position) = self.grid.take(self.number) else { return };
            let mut resident = spare.pop().unwrap_or_else(|| self.make_resident());
            resident.begin(position);
            active.push(resident);
        }
    }
}
