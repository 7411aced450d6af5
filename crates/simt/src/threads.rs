//! The loop over the threads that one fibre (a coroutine with its own stack) runs.

use crate::block::Block;

/// The threads of a block that one fibre runs, one after the other.
#[doc(hidden)]
pub struct Threads<'a>(&'a Block);

impl<'a> Threads<'a> {
    pub(crate) fn new(block: &'a Block) -> Self {
        Self(block)
    }

    /// Runs `body` once for each of the threads that the fibre runs.
    #[inline(always)]
    pub fn run(self, body: impl Fn()) {
        loop {
            body();
            if !self.0.exit_and_start_next() {
                break;
            }
        }
    }
}
