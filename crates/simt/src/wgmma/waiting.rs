//! The waits for products, and the ends of products.

use super::issue::lanes_of;
use super::warpgroup::WARPS;
use crate::block::Block;
use crate::bulk::agents::Agent;
use crate::faults::warpgroup::WarpgroupFault;
use crate::faults::{Fault, FaultKind};
use crate::lanes::{LANES, Thread, bits};
use crate::source::Line;

impl Block {
    /// Makes the current thread wait until at most the last `allowed` groups of its warp are in progress. `is_first` is
    /// true for the first lane of the warp that calls this function.
    pub(super) fn wait_for_products(&self, allowed: usize, is_first: bool, at: Line) {
        let thread = self.thread();
        if is_first {
            self.warpgroups.with(thread, |group, warp| group.warps[warp].begin_wait(allowed));
            self.settle_products(thread);
        }
        let must_wait = || {
            self.warpgroups.with(thread, |group, warp| {
                let warp = &mut group.warps[warp];
                let must_wait = warp.waited < warp.until;
                warp.waiting |= if must_wait { thread.bit() } else { 0 };
                must_wait
            })
        };
        while must_wait() {
            self.note_seen(at);
            let warp = self.run_queue.warp_of(thread);
            warp.at_operation.set(warp.at_operation.get() | thread.bit());
            self.suspend();
        }
    }

    /// Lets the products of the warpgroup of `thread` take effect that must do so now, and ends the waits for them.
    pub(super) fn settle_products(&self, thread: Thread) {
        let is_early = self.grid().schedule.completes_early();
        for index in 0..WARPS {
            let ended = self.warpgroups.with(thread, |group, _| {
                let issued = group.issued_by_all();
                if is_early {
                    group.compute(issued, &self.context.arena);
                }
                let warp = &group.warps[index];
                let (from, until) = (warp.waited, warp.until);
                if from == until || issued < until {
                    return None;
                }
                group.compute(until, &self.context.arena);
                let parts = (from..until).filter_map(|number| group.product(number)).flat_map(|product| &product.parts);
                let agents: Vec<Agent> = parts.flatten().map(|part| part.agent).collect();
                let warp = &mut group.warps[index];
                warp.waited = until;
                Some((agents, std::mem::take(&mut warp.waiting)))
            });
            if let Some((agents, lanes)) = ended {
                self.end_wait_for(thread.warp() / WARPS * WARPS + index, &agents, lanes);
            }
        }
        self.retire_products(thread);
    }

    /// Orders the ends of `agents` before the later accesses of the warp number `warp`, and makes `lanes` of it run.
    fn end_wait_for(&self, warp: usize, agents: &[Agent], lanes: u32) {
        self.notify(|watcher, context| watcher.join_agents(context, &lanes_of(context, warp), agents));
        self.note_progress();
        let state = &self.run_queue.warps()[warp];
        state.at_operation.set(state.at_operation.get() & !lanes);
        self.run_queue.wake(warp, lanes);
    }

    /// Forgets the products of the warpgroup of `thread` for which all four warps have waited.
    fn retire_products(&self, thread: Thread) {
        let over = self.warpgroups.with(thread, |group, _| {
            let waited = group.warps.iter().map(|warp| warp.waited).min().unwrap_or_default();
            let count = (waited - group.first) as usize;
            group.first = waited;
            group.products.drain(..count).flat_map(|product| product.parts).flatten().collect::<Vec<_>>()
        });
        for part in over {
            self.notify(|watcher, _| watcher.retire_agent(part.agent));
        }
    }

    /// Returns true if `thread` waits for products.
    pub(crate) fn waits_for_products(&self, thread: Thread) -> bool {
        self.warpgroups.find(|(index, group)| {
            let warp = group.warps.get(thread.warp().checked_sub(index * WARPS)?)?;
            Some(warp.waiting & thread.bit() != 0)
        }) == Some(true)
    }

    /// Returns a thread that waits for products which a warp of its warpgroup never issues, with the line of the first
    /// of these products and the kind of this fault.
    pub(crate) fn waiting_for_warpgroup(&self) -> Option<(Thread, Line, FaultKind)> {
        let is_waiting = self.warpgroups.find(|(index, group)| {
            let warp = group.warps.iter().position(|warp| warp.waiting != 0)?;
            bits(group.warps[warp].waiting).next().map(|lane| ((index * WARPS + warp) as u32, lane as u32))
        });
        is_waiting.and_then(|_| self.missing_instruction())
    }

    /// Returns the first product that some warps have issued and others have not, or such a change of registers, with
    /// the thread that has executed it.
    fn missing_instruction(&self) -> Option<(Thread, Line, FaultKind)> {
        let product = self.warpgroups.find(|(index, group)| {
            let number = group.issued_by_all();
            let product = group.product(number)?;
            let warp = group.warps.iter().position(|warp| warp.issued == number)?;
            Some((product.thread, product.at, index * WARPS + warp))
        });
        let (thread, at, warp) = product.or_else(|| self.missing_change())?;
        let missing = Box::new(self.whereabouts(self.context.extent.thread(warp as u32 * LANES)));
        Some((thread, at, FaultKind::Warpgroup(WarpgroupFault::Missing { missing })))
    }

    /// Returns the fault of products of this block, whose threads have exited, if a warp has not issued one or has not
    /// waited for one.
    pub(crate) fn end_products(&self) -> Option<Fault> {
        let found = self.missing_instruction().or_else(|| {
            self.warpgroups.find(|(_, group)| {
                let warp = group.warps.iter().find(|warp| warp.waited < warp.issued)?;
                let product = group.product(warp.waited)?;
                let is_committed = warp.waited < warp.committed;
                let kind = FaultKind::Warpgroup(WarpgroupFault::NotWaited { is_committed });
                Some((product.thread, product.at, kind))
            })
        });
        found.map(|(thread, at, kind)| self.fault_of(thread, Some(at.into()), kind))
    }
}
