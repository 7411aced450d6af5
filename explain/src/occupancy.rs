//! Occupancy: the number of blocks of a kernel that a multiprocessor holds at once, and the resource that limits it.
//!
//! The computation follows NVIDIA's occupancy calculator. The limits of each compute capability are from the CUDA
//! Programming Guide, "Technical Specifications per Compute Capability".

use std::fmt;

use serde::{Deserialize, Serialize};

/// The registers and static shared memory of a kernel on one architecture, as `ptxas -v` prints them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Resources {
    /// The number of registers per thread.
    pub registers: u32,
    /// The static shared memory per block, in bytes.
    pub static_shared_bytes: u32,
}

/// The local memory of a kernel on one architecture, as `ptxas -v` prints it. Local memory lies in global memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct LocalMemory {
    /// The size of the stack frame per thread, in bytes: arrays and spilled registers.
    pub stack_bytes: u32,
    /// The number of bytes per thread that are stored because registers run out.
    pub spill_store_bytes: u32,
    /// The number of spilled bytes per thread that are loaded back.
    pub spill_load_bytes: u32,
}

impl fmt::Display for LocalMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { stack_bytes, spill_store_bytes, spill_load_bytes } = self;
        match (stack_bytes, spill_store_bytes + spill_load_bytes) {
            (0, 0) => f.write_str("no spilled registers, no local memory"),
            (_, 0) => write!(f, "no spilled registers, {stack_bytes} B of local memory per thread"),
            _ => write!(
                f,
                "registers are spilled: {spill_store_bytes} B stored and {spill_load_bytes} B loaded, {stack_bytes} B \
                 of local memory per thread"
            ),
        }
    }
}

/// The resources of a multiprocessor, which limit its resident blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Multiprocessor {
    /// The largest number of resident warps.
    pub warps: u32,
    /// The largest number of resident blocks.
    pub blocks: u32,
    /// The number of bytes of shared memory that all resident blocks share.
    pub shared_bytes: u32,
    /// The number of bytes of shared memory that the system reserves per block.
    pub reserved_shared_bytes: u32,
    /// The unit of allocation of shared memory, in bytes.
    pub shared_unit: u32,
}

/// The number of registers of a multiprocessor, on every GPU since 2016.
const REGISTERS: u32 = 65536;

/// The number of parts of a multiprocessor. Each part has its own registers and takes a quarter of the warps.
const QUARTERS: u32 = 4;

/// The unit of register allocation: a warp takes a multiple of this number of registers.
const REGISTER_UNIT: u32 = 256;

/// The number of lanes of a warp.
const LANES: u32 = 32;

impl Multiprocessor {
    /// Returns the resources of a multiprocessor of compute capability `arch`, written without its point: 90 is 9.0.
    /// Returns `None` if the table has no such compute capability.
    pub const fn of(arch: u32) -> Option<Self> {
        let (warps, blocks, kibibytes) = match arch {
            70 => (64, 32, 96),
            75 => (32, 16, 64),
            80 => (64, 32, 164),
            86 => (48, 16, 100),
            89 => (48, 24, 100),
            90 | 100 => (64, 32, 228),
            120 => (48, 24, 100),
            _ => return None,
        };
        let (reserved_shared_bytes, shared_unit) = if arch >= 80 { (1024, 128) } else { (0, 256) };
        Some(Self { warps, blocks, shared_bytes: kibibytes * 1024, reserved_shared_bytes, shared_unit })
    }

    /// Returns the occupancy for a kernel that needs the resources `taken`. Each block has `threads` threads (at least
    /// one) and `dynamic_shared_bytes` bytes of dynamic shared memory.
    pub fn occupancy(&self, taken: Resources, threads: u32, dynamic_shared_bytes: u32) -> Occupancy {
        let warps_per_block = threads.div_ceil(LANES).max(1);
        let registers_per_warp = (taken.registers * LANES).next_multiple_of(REGISTER_UNIT).max(REGISTER_UNIT);
        let by_registers = REGISTERS / QUARTERS / registers_per_warp * QUARTERS / warps_per_block;
        let shared = taken.static_shared_bytes.saturating_add(dynamic_shared_bytes);
        let shared = shared.saturating_add(self.reserved_shared_bytes).checked_next_multiple_of(self.shared_unit);
        let by_shared = match shared {
            Some(0) => u32::MAX,
            Some(shared) => self.shared_bytes / shared,
            None => 0,
        };
        let limits = [
            (Limit::Registers, by_registers),
            (Limit::SharedMemory, by_shared),
            (Limit::Warps, self.warps / warps_per_block),
            (Limit::Blocks, self.blocks),
        ];
        let blocks = limits.iter().map(|(_, blocks)| *blocks).min().unwrap_or(0);
        let warps = blocks * warps_per_block;
        let limits = limits.into_iter().filter(|(_, most)| *most == blocks).map(|(limit, _)| limit);
        Occupancy { blocks, warps, max_warps: self.warps, limits: limits.collect() }
    }
}

/// The occupancy of a kernel: the blocks and warps that a multiprocessor holds at once.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Occupancy {
    /// The number of resident blocks.
    pub blocks: u32,
    /// The number of resident warps.
    pub warps: u32,
    /// The largest number of warps that a multiprocessor can hold.
    #[serde(rename = "most_warps")]
    pub max_warps: u32,
    /// The resources that leave no room for a further block.
    pub limits: Vec<Limit>,
}

/// A resource of a multiprocessor that limits its resident blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// The number of registers.
    Registers,
    /// The size of the shared memory.
    SharedMemory,
    /// The largest number of warps per multiprocessor.
    Warps,
    /// The largest number of blocks per multiprocessor.
    Blocks,
}

impl Limit {
    const fn text(self) -> &'static str {
        match self {
            Self::Registers => "registers",
            Self::SharedMemory => "shared memory",
            Self::Warps => "warps",
            Self::Blocks => "blocks",
        }
    }
}

impl Occupancy {
    /// Returns the resident warps as a share of [`max_warps`](Self::max_warps).
    pub fn share(&self) -> f64 {
        f64::from(self.warps) / f64::from(self.max_warps.max(1))
    }

    /// Returns the names of the limits, such as `registers and shared memory`.
    pub fn limited_by(&self) -> String {
        self.limits.iter().map(|limit| limit.text()).collect::<Vec<_>>().join(" and ")
    }
}

impl fmt::Display for Occupancy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { blocks, warps, max_warps, .. } = self;
        let blocks_text = if *blocks == 1 { "block" } else { "blocks" };
        write!(f, "{blocks} {blocks_text} per SM, {warps} of {max_warps} warps ({:.0} %)", 100.0 * self.share())?;
        match warps == max_warps {
            true => write!(f, ": full"),
            false => write!(f, ", limited by {}", self.limited_by()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn occupancy(arch: u32, threads: u32, registers: u32, static_shared_bytes: u32) -> Occupancy {
        let taken = Resources { registers, static_shared_bytes };
        Multiprocessor::of(arch).unwrap().occupancy(taken, threads, 0)
    }

    /// Compares blocks and limits with the results of NVIDIA's occupancy calculator.
    #[test]
    fn blocks_are_those_of_the_calculator() {
        use Limit::{Blocks, Registers, SharedMemory, Warps};
        for (arch, threads, registers, shared, blocks, limits) in [
            (70, 256, 32, 0, 8, &[Registers, Warps][..]),
            (70, 256, 33, 0, 6, &[Registers]),
            (70, 256, 40, 0, 6, &[Registers]),
            (70, 32, 16, 0, 32, &[Blocks]),
            (70, 128, 24, 49152, 2, &[SharedMemory]),
            (75, 256, 32, 0, 4, &[Warps]),
            (75, 64, 64, 4096, 16, &[SharedMemory, Warps, Blocks]),
            (80, 256, 64, 0, 4, &[Registers]),
            (80, 1024, 32, 0, 2, &[Registers, Warps]),
            // The multiprocessor has 167936 bytes of shared memory, and a block needs 16384 + 1024.
            (80, 128, 32, 16384, 9, &[SharedMemory]),
            (86, 256, 32, 0, 6, &[Warps]),
            (86, 32, 32, 0, 16, &[Blocks]),
            // The multiprocessor has 102400 bytes of shared memory, and a block needs 8448 + 1024.
            (86, 128, 40, 8448, 10, &[SharedMemory]),
            (89, 32, 32, 0, 24, &[Blocks]),
            (90, 256, 27, 4224, 8, &[Registers, Warps]),
            (90, 256, 255, 0, 1, &[Registers]),
            (90, 512, 128, 0, 1, &[Registers]),
            (90, 1024, 65, 0, 0, &[Registers]),
            (100, 256, 32, 0, 8, &[Registers, Warps]),
            (120, 256, 40, 0, 6, &[Registers, Warps]),
            (120, 1024, 32, 0, 1, &[Warps]),
        ] {
            let found = occupancy(arch, threads, registers, shared);
            let what = format!("{arch}: {threads} threads, {registers} registers, {shared} bytes");
            assert_eq!(found.blocks, blocks, "{what}");
            let limits: Vec<Limit> = limits.to_vec();
            // The number of warps may be a limit where the calculator names registers only.
            assert!(limits.iter().all(|limit| found.limits.contains(limit)), "{what}: {found:?}");
            assert_eq!(found.warps, blocks * threads.div_ceil(32), "{what}");
        }
    }

    #[test]
    fn dynamic_shared_memory_counts_as_static_does() {
        let taken = Resources { registers: 32, static_shared_bytes: 1024 };
        let sm = Multiprocessor::of(90).unwrap();
        // The block has the largest shared memory: 227 KiB, and 1 KiB that the system reserves.
        let one = sm.occupancy(taken, 1024, 226 * 1024);
        assert_eq!((one.blocks, &one.limits[..]), (1, &[Limit::SharedMemory][..]));
        assert_eq!(sm.occupancy(taken, 1024, 227 * 1024).blocks, 0);
        assert_eq!(sm.occupancy(taken, 1024, u32::MAX).blocks, 0);
    }

    #[test]
    fn spills_and_local_memory_are_told_apart() {
        let text = |stack_bytes, spill_store_bytes, spill_load_bytes| {
            LocalMemory { stack_bytes, spill_store_bytes, spill_load_bytes }.to_string()
        };
        assert_eq!(text(0, 0, 0), "no spilled registers, no local memory");
        assert_eq!(text(64, 0, 0), "no spilled registers, 64 B of local memory per thread");
        assert!(text(8, 4, 12).starts_with("registers are spilled: 4 B stored and 12 B loaded, 8 B of local memory"));
    }

    #[test]
    fn it_says_what_prevents_more() {
        assert_eq!(occupancy(90, 256, 27, 0).to_string(), "8 blocks per SM, 64 of 64 warps (100 %): full");
        let text = occupancy(90, 256, 255, 0).to_string();
        assert_eq!(text, "1 block per SM, 8 of 64 warps (12 %), limited by registers");
        assert_eq!(occupancy(86, 32, 8, 0).limited_by(), "blocks");
    }
}
