//! The summed figures of a rung, and their differences from the figures of the previous rung.

use serde::{Deserialize, Serialize};

use units::{number, short_percent};

use crate::bulk::BulkTotals;
use crate::figures::{KernelFigures, Totals};
use crate::gpus::Gpu;
use crate::sites::{SECTOR, share};
use crate::tensor::ProductTotals;

/// The figures of a rung, summed over its kernels.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Summary {
    /// The number of elements. Figures per element are totals divided by this number.
    pub elements: u64,
    /// The number of launches of all kernels.
    pub launches: u64,
    /// The number of blocks of the largest grid. A grid of one block uses only one multiprocessor.
    #[serde(rename = "most_blocks")]
    pub max_blocks: u64,
    /// For loads from global memory, the number of ideal sectors divided by the number of touched sectors.
    pub load_efficiency: Option<f64>,
    /// For stores and atomic updates of global memory, the number of ideal sectors divided by the number of touched
    /// sectors.
    pub store_efficiency: Option<f64>,
    /// The factor by which bank conflicts multiply the wavefronts of shared memory. Loads, stores and atomic updates
    /// have one factor each, and this is the largest.
    pub shared_ways: Option<f64>,
    /// The number of requests to global memory. A bulk copy is one.
    pub global_requests: u64,
    /// The number of requests to shared memory.
    pub shared_requests: u64,
    /// The minimum number of bytes that must move between global memory and the multiprocessors. Each sector that a
    /// launch reads or writes counts once per launch.
    pub floor_bytes: u64,
    /// The number of bytes moved if each request touched as few sectors as possible.
    pub ideal_bytes: u64,
    /// The number of bytes of the sectors that the requests touch, counted anew for each request.
    pub moved_bytes: u64,
    /// The time in seconds that the GPU's memory needs to move `floor_bytes`, as if the caches held everything.
    pub floor_seconds: f64,
    /// The time in seconds that the GPU's memory needs to move `ideal_bytes`.
    pub ideal_seconds: f64,
    /// The time in seconds that the GPU's memory needs to move `moved_bytes`, as if there were no caches.
    pub moved_seconds: f64,
    /// The time in seconds that the GPU's shared memories need for all wavefronts.
    pub shared_seconds: f64,
    /// The longer of `moved_seconds` and `shared_seconds`.
    pub access_seconds: f64,
    /// The bulk copies. Their sectors are part of the bytes above.
    #[serde(default, skip_serializing_if = "BulkTotals::is_empty")]
    pub bulk: BulkTotals,
    /// The products of tensor cores.
    #[serde(default, skip_serializing_if = "ProductTotals::is_empty")]
    pub products: ProductTotals,
    /// The minimum time in seconds that the GPU's tensor cores need for the products, if their peaks are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tensor_seconds: Option<f64>,
    /// The number of barriers that blocks reached.
    pub barriers: u64,
    /// The number of warp synchronisations, shuffles and votes.
    pub warp_operations: u64,
    /// The number of atomic updates by single lanes.
    pub atomics: u64,
    /// The number of executed fences, counted per thread.
    pub fences: u64,
    /// The share of divergent branches: how often only some of a warp's lanes took a branch, divided by how often warps
    /// executed a branch.
    pub divergent_share: Option<f64>,
    /// The occupancy of the kernel with the most traffic, as a share of the warps that a multiprocessor can hold.
    pub occupancy: Option<f64>,
}

impl Summary {
    /// Sums up the figures of `kernels`, which computed `elements` elements, for `gpu`.
    pub fn of(kernels: &[KernelFigures], elements: u64, gpu: &Gpu) -> Self {
        let mut totals = Totals::default();
        for kernel in kernels {
            totals.add(&kernel.totals);
        }
        let (global, shared) = (totals.all_global(), totals.shared.all());
        let [read, written] = totals.read_and_written();
        let floor_bytes = (totals.sectors_read + totals.sectors_written) * SECTOR;
        let (ideal_bytes, moved_bytes) = (global.ideal_sectors * SECTOR, global.sectors * SECTOR);
        let moved_seconds = kernels.iter().map(|kernel| kernel.moved_seconds).sum::<f64>();
        let shared_seconds = kernels.iter().map(|kernel| kernel.shared_seconds).sum::<f64>();
        let ways = [totals.shared.load, totals.shared.store, totals.shared.atomic].map(|traffic| traffic.ways());
        let traffic =
            |kernel: &&KernelFigures| kernel.totals.all_global().sectors + kernel.totals.shared.all().wavefronts;
        let main = kernels.iter().max_by_key(traffic);
        let with_products = kernels.iter().filter(|kernel| !kernel.totals.products.is_empty());
        let tensor_seconds = with_products.map(|kernel| kernel.tensor_seconds).sum::<Option<f64>>();
        let tensor_seconds = tensor_seconds.filter(|_| !totals.products.is_empty());
        Self {
            elements,
            launches: kernels.iter().map(KernelFigures::launch_count).sum(),
            max_blocks: kernels.iter().map(|kernel| kernel.max_blocks).max().unwrap_or(0),
            load_efficiency: read.efficiency(),
            store_efficiency: written.efficiency(),
            shared_ways: ways.into_iter().flatten().reduce(f64::max),
            global_requests: global.requests,
            shared_requests: shared.requests,
            floor_bytes,
            ideal_bytes,
            moved_bytes,
            floor_seconds: gpu.memory_seconds(floor_bytes),
            ideal_seconds: gpu.memory_seconds(ideal_bytes),
            moved_seconds,
            shared_seconds,
            access_seconds: moved_seconds.max(shared_seconds),
            bulk: totals.bulk,
            products: totals.products,
            tensor_seconds,
            barriers: totals.barriers,
            warp_operations: totals.warp_operations,
            atomics: totals.global.atomic.lanes + totals.shared.atomic.lanes,
            fences: totals.fences,
            divergent_share: share(totals.divergent_branches, totals.branches),
            occupancy: main.and_then(|kernel| kernel.occupancy.as_ref()).map(|occupancy| occupancy.share()),
        }
    }

    /// Returns `count` divided by the number of elements.
    pub fn per_element(&self, count: f64) -> f64 {
        count / self.elements.max(1) as f64
    }

    /// Returns true if the accesses take longer in shared memory than in global memory.
    pub fn is_bound_by_shared(&self) -> bool {
        self.shared_seconds > self.moved_seconds
    }

    /// Returns a text that lists how the figures differ from those of the previous rung `before`, the largest
    /// difference first. If no figure differs, the text quotes the rung's `idea` instead.
    pub fn change_from(&self, before: &Self, idea: &str) -> String {
        let mut clauses: Vec<(f64, String)> = Vec::new();
        let mut add = |weight: f64, clause: String| clauses.push((weight.abs(), clause));
        let ways = |summary: &Self| summary.shared_ways.filter(|ways| *ways > 1.05);
        match (before.max_blocks, self.max_blocks) {
            (1, 2..) => add(3.0, "works on all SMs, not on one".into()),
            (2.., 1) => add(3.0, "works on one SM only".into()),
            _ => {}
        }
        match (before.shared_ways, self.shared_ways) {
            (None, Some(_)) => match ways(self) {
                Some(ways) => add(2.0, format!("uses shared memory, with {}-way bank conflicts", number(ways))),
                None => add(2.0, "uses shared memory, without bank conflicts".into()),
            },
            (Some(_), None) => add(2.0, "does without shared memory".into()),
            (Some(then), Some(now)) if is_other(then, now, 1.1) => {
                let weight = (then / now.max(f64::MIN_POSITIVE)).ln();
                let now_text = ways(self)
                    .map_or("no bank conflicts".into(), |ways| format!("{}-way bank conflicts", number(ways)));
                let then = ways(before).map_or("none".into(), |ways| format!("{}-way ones", number(ways)));
                add(weight, format!("{now_text} instead of {then}"));
            }
            _ => {}
        }
        for (what, then, now) in [
            ("loads", before.load_efficiency, self.load_efficiency),
            ("stores", before.store_efficiency, self.store_efficiency),
        ] {
            if let Some((then, now)) = then.zip(now).filter(|(then, now)| is_other(*then, *now, 1.1)) {
                let text = format!(
                    "{what} use {} of the bytes they move ({} before)",
                    short_percent(now),
                    short_percent(then)
                );
                add((now / then).ln(), text);
            }
        }
        let counts = [
            ("requests to global memory", before.global_requests, self.global_requests),
            ("requests to shared memory", before.shared_requests, self.shared_requests),
            ("barriers", before.barriers, self.barriers),
            ("warp operations", before.warp_operations, self.warp_operations),
            ("atomic updates", before.atomics, self.atomics),
        ];
        for (what, then, now) in counts {
            let (then, now) = (before.per_element(then as f64), self.per_element(now as f64));
            let is_memory = what.starts_with("requests");
            let weight = if is_memory { 1.0 } else { 0.2 };
            match (then == 0.0, now == 0.0) {
                (true, true) => {}
                // The match on `shared_ways` above covers shared memory.
                _ if what == "requests to shared memory" && (then == 0.0 || now == 0.0) => {}
                (true, false) => add(0.5, format!("uses {what}")),
                (false, true) => add(0.5, format!("does without {what}")),
                (false, false) if is_other(then, now, 1.25) => {
                    let (factor, word) = if now < then { (then / now, "fewer") } else { (now / then, "more") };
                    add(weight * factor.ln(), format!("{}× {word} {what}", number(factor)));
                }
                _ => {}
            }
        }
        if let Some((then, now)) = before.divergent_share.zip(self.divergent_share)
            && (then - now).abs() > 0.05
        {
            add(
                2.0 * (then - now),
                format!("{} of the branches split a warp ({} before)", short_percent(now), short_percent(then)),
            );
        }
        if let Some((then, now)) = before.occupancy.zip(self.occupancy).filter(|(then, now)| is_other(*then, *now, 1.2))
        {
            add(
                0.3 * (now / then).ln(),
                format!("fills {} of an SM's warps ({} before)", short_percent(now), short_percent(then)),
            );
        }
        if before.launches != self.launches && is_other(before.launches as f64, self.launches as f64, 1.25) {
            let text = if self.launches == 1 { "1 launch".to_owned() } else { format!("{} launches", self.launches) };
            add(
                0.4 * (before.launches as f64 / self.launches as f64).ln(),
                format!("{text} instead of {}", before.launches),
            );
        }
        clauses.sort_by(|a, b| b.0.total_cmp(&a.0));
        let clauses: Vec<String> = clauses.into_iter().take(3).map(|(_, clause)| clause).collect();
        let time = self.time_change(before);
        match clauses.is_empty() {
            true => format!("{time}: these figures do not show what differs ({})", idea.trim_end_matches('.')),
            false => format!("{time}: {}", clauses.join("; ")),
        }
    }

    /// Returns a text that compares `access_seconds` per element with the value of the previous rung `before`.
    fn time_change(&self, before: &Self) -> String {
        let (then, now) = (before.per_element(before.access_seconds), self.per_element(self.access_seconds));
        if then <= 0.0 || now <= 0.0 || !is_other(then, now, 1.02) {
            return "as much memory time".into();
        }
        let bound = match (before.is_bound_by_shared(), self.is_bound_by_shared()) {
            (false, true) => ", now of shared memory",
            (true, false) => ", now of global memory",
            _ => "",
        };
        match now < then {
            true => format!("{}× less memory time{bound}", number(then / now)),
            false => format!("{}× more memory time{bound}", number(now / then)),
        }
    }
}

/// Returns true if the larger of `a` and `b` is more than `factor` times the smaller.
fn is_other(a: f64, b: f64, factor: f64) -> bool {
    a.max(b) > factor * a.min(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(load: f64, store: f64, ways: Option<f64>, requests: u64, seconds: f64) -> Summary {
        Summary {
            elements: 1024,
            launches: 1,
            load_efficiency: Some(load),
            store_efficiency: Some(store),
            shared_ways: ways,
            global_requests: requests,
            shared_requests: if ways.is_some() { 64 } else { 0 },
            moved_seconds: seconds,
            access_seconds: seconds,
            ..Summary::default()
        }
    }

    /// The expected text if no figure differs.
    const SAME: &str = "as much memory time: these figures do not show what differs (An idea)";

    #[test]
    fn what_is_different_is_said_by_its_weight() {
        let naive = summary(1.0, 0.125, None, 64, 8.0);
        let tile = Summary { shared_seconds: 4.0, moved_seconds: 2.0, ..summary(1.0, 1.0, Some(16.5), 64, 4.0) };
        let padded = summary(1.0, 1.0, Some(1.0), 64, 2.0);
        let vectorised = summary(1.0, 1.0, Some(1.0), 16, 2.0);
        assert_eq!(
            tile.change_from(&naive, ""),
            "2× less memory time, now of shared memory: stores use 100 % of the bytes they move (12.5 % before); uses \
             shared memory, with 16.5-way bank conflicts"
        );
        let text = padded.change_from(&tile, "");
        assert_eq!(text, "2× less memory time, now of global memory: no bank conflicts instead of 16.5-way ones");
        assert_eq!(vectorised.change_from(&padded, ""), "as much memory time: 4× fewer requests to global memory");
        assert_eq!(padded.change_from(&padded, "An idea."), SAME);
        let text = naive.change_from(&padded, "");
        assert!(text.starts_with("4× more memory time: stores use 12.5 %"), "{text}");
    }

    #[test]
    fn counts_are_compared_element_by_element() {
        let few = summary(1.0, 1.0, None, 32, 1.0);
        let many = Summary { elements: 10240, ..summary(1.0, 1.0, None, 320, 10.0) };
        assert_eq!(many.change_from(&few, "An idea."), SAME);
        let launches = Summary { launches: 19, ..few.clone() };
        assert_eq!(few.change_from(&launches, ""), "as much memory time: 1 launch instead of 19");
        let shuffles = Summary { warp_operations: 5, ..few.clone() };
        assert_eq!(shuffles.change_from(&few, ""), "as much memory time: uses warp operations");
        let one_block = Summary { max_blocks: 1, ..few.clone() };
        let grid = Summary { max_blocks: 100, ..few.clone() };
        assert_eq!(grid.change_from(&one_block, ""), "as much memory time: works on all SMs, not on one");
        let split = Summary { divergent_share: Some(0.5), ..few.clone() };
        let whole = Summary { divergent_share: Some(0.0), ..few };
        assert_eq!(
            whole.change_from(&split, ""),
            "as much memory time: 0 % of the branches split a warp (50 % before)"
        );
    }
}
