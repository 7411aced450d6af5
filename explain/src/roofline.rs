//! A rung's place under the roofs of a GPU.
//!
//! # Design
//!
//! The simulator runs a kernel as Rust, and sees no arithmetic: compilers fold, fuse and drop it. It does see each
//! request to memory and each shuffle, vote and synchronisation of a warp, and these are instructions of a GPU, too
//! (`docs/counters.md` compares the requests with a GPU's counters). The roofline is thus the one of instructions, as
//! by N. Ding and S. Williams, "An Instruction Roofline Model for GPUs", 2019: instructions of warps over sectors
//! moved. Its roofs are the speed of the memory, and the load/store units, which begin one such instruction per clock
//! and multiprocessor. The arithmetic stays a remainder: the other instructions for which there is room meanwhile.

use serde::Serialize;

use units::{Rate, number};

use crate::gpus::Gpu;
use crate::sites::SECTOR;
use crate::summary::Summary;
use crate::tensor::TensorRoofline;

/// The number of warp schedulers of a multiprocessor. Each begins one instruction per clock. From the CUDA Programming
/// Guide: four on every GPU of compute capability 7.0 and higher.
const SCHEDULERS: f64 = 4.0;

/// The number of lanes of a warp.
const LANES: f64 = 32.0;

/// A rung's place under the roofs of a GPU. Rates are in instructions of warps per second.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Roofline {
    /// The number of counted instructions of warps: requests to global and shared memory, shuffles, votes and
    /// synchronisations of warps. Arithmetic, branches and barriers are not counted.
    pub instructions: u64,
    /// The number of sectors of global memory that the requests touch.
    pub sectors: u64,
    /// The instructions per sector; `None` if no sector is touched.
    pub intensity: Option<f64>,
    /// The number of sectors that the GPU's memory moves in a second.
    pub sectors_per_second: f64,
    /// The highest rate, at which each load/store unit begins an instruction in each clock.
    pub peak: f64,
    /// The rate below which the rung must stay, because of the memory or of the load/store units.
    pub rate: f64,
    /// The cause of that limit.
    pub limit: Limit,
    /// The number of other instructions, such as arithmetic, that a thread can execute per element in that time before
    /// the warp schedulers limit the rung. It is 0 if there is no time left.
    pub room: f64,
    /// The place under the roofs of the memory and the tensor cores, if there are products.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tensor: Option<TensorRoofline>,
}

/// The part of a GPU that limits the rate of a rung.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// The memory, which moves sectors.
    Memory,
    /// The load/store units, which begin an instruction of a warp per clock. Each further pass over the banks of shared
    /// memory takes another clock.
    LoadStore,
}

impl Roofline {
    /// Returns the place of a rung with the figures `summary` under the roofs of `gpu`.
    pub fn of(summary: &Summary, gpu: &Gpu) -> Self {
        let used = gpu.used_by(summary.max_blocks);
        let Summary { global_requests, shared_requests, warp_operations, moved_seconds, shared_seconds, .. } = *summary;
        let instructions = global_requests + shared_requests + warp_operations;
        let sectors = summary.moved_bytes / SECTOR;
        let peak = used.clocks_per_second();
        let units_seconds = shared_seconds + (global_requests + warp_operations) as f64 / peak;
        let seconds = moved_seconds.max(units_seconds);
        let slots = seconds * SCHEDULERS * peak;
        Self {
            instructions,
            sectors,
            intensity: (sectors > 0).then(|| instructions as f64 / sectors as f64),
            sectors_per_second: used.gigabytes_per_second * 1e9 / SECTOR as f64,
            peak,
            rate: if seconds > 0.0 { instructions as f64 / seconds } else { 0.0 },
            limit: if moved_seconds >= units_seconds { Limit::Memory } else { Limit::LoadStore },
            room: summary.per_element(LANES * (slots - instructions as f64).max(0.0)),
            tensor: TensorRoofline::of(summary, gpu),
        }
    }

    /// Returns the rate that the roofs allow at `intensity` instructions per sector.
    pub(crate) fn roof(&self, intensity: f64) -> f64 {
        (intensity * self.sectors_per_second).min(self.peak)
    }

    /// Returns a line about the limit and the room below it.
    pub(crate) fn line(&self) -> String {
        let Some(intensity) = self.intensity else {
            return "roofline: no sector of global memory moves".into();
        };
        let (rate, peak) = (Rate(self.rate / 1e9), Rate(self.peak / 1e9));
        let why = match self.limit {
            Limit::Memory => format!(
                "at most {rate} of {peak} G/s, because of the memory (which limits up to {} per sector)",
                Rate(self.peak / self.sectors_per_second)
            ),
            Limit::LoadStore => format!("at most {rate} of {peak} G/s, because of the load/store units and the banks"),
        };
        format!(
            "roofline: {} requests and warp operations per sector, {why}; arithmetic is not counted: {} other \
             instructions per element fit into that time",
            Rate(intensity),
            number(self.room.floor())
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the figures of a copy of f32 with full warps: 2 requests for 8 sectors per 32 elements.
    fn copy(elements: u64) -> Summary {
        let gpu = Gpu::default_gpu();
        let moved_bytes = 8 * elements;
        Summary {
            elements,
            max_blocks: 1000,
            global_requests: elements / 16,
            moved_bytes,
            moved_seconds: gpu.memory_seconds(moved_bytes),
            ..Summary::default()
        }
    }

    #[test]
    fn a_copy_stands_under_the_slope_of_the_memory() {
        let gpu = Gpu::default_gpu();
        let roofline = Roofline::of(&copy(1 << 20), gpu);
        assert_eq!((roofline.intensity, roofline.limit), (Some(0.25), Limit::Memory));
        assert_eq!(roofline.peak, 132.0 * 1.98e9);
        let slope = 0.25 * 4225e9 / 32.0;
        assert!((roofline.rate / slope - 1.0).abs() < 1e-9 && (roofline.roof(0.25) / slope - 1.0).abs() < 1e-9);
        // 8 bytes per element take 1.89 ps, in which the GPU begins 1979 instructions of warps per 32 elements.
        let slots = 8.0 / 4225e9 * 4.0 * 132.0 * 1.98e9 * 32.0;
        assert!((roofline.room - (slots - 2.0)).abs() < 1e-6, "{roofline:?}");
        assert!(roofline.line().contains("0.25 requests and warp operations per sector"), "{}", roofline.line());
        assert!(roofline.line().contains("61 other instructions per element"), "{}", roofline.line());
    }

    #[test]
    fn shuffles_and_bank_conflicts_are_limited_by_the_load_store_units() {
        let gpu = Gpu::default_gpu();
        let shuffles = Roofline::of(&Summary { warp_operations: 1 << 20, ..copy(1 << 20) }, gpu);
        assert_eq!((shuffles.limit, shuffles.rate), (Limit::LoadStore, shuffles.peak));
        let (requests, wavefronts) = (1 << 16, 32 << 16);
        let shared_seconds = gpu.shared_seconds(wavefronts);
        let conflicts = Roofline::of(&Summary { shared_requests: requests, shared_seconds, ..copy(1 << 20) }, gpu);
        assert_eq!(conflicts.limit, Limit::LoadStore);
        // Each request takes 32 passes, so that the rung stays far below the roof.
        assert!(conflicts.rate < conflicts.peak / 16.0, "{conflicts:?}");
    }

    #[test]
    fn a_rung_without_global_memory_has_no_intensity() {
        let roofline = Roofline::of(&Summary::default(), Gpu::default_gpu());
        assert_eq!((roofline.intensity, roofline.rate, roofline.room), (None, 0.0, 0.0));
        assert!(roofline.line().contains("no sector"));
    }
}
