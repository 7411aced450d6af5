//! What is expected of each kernel's code: the one place to say it.

/// An access of 16 bytes that a kernel is written for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Need {
    /// It loads 16 bytes at once from global memory.
    Loads,
    /// It stores 16 bytes at once to global memory.
    Stores,
    /// It copies 16 bytes at once from global to shared memory, past the registers.
    Copies,
}

use Need::{Copies, Loads, Stores};

/// Kernels, by a name in which `*` stands for any letters, and what each of them must have.
pub(super) struct Expected {
    pub kernels: &'static str,
    pub needs: &'static [Need],
}

/// The kernels with accesses of 16 bytes.
pub(super) const EXPECTED: &[Expected] = &[
    Expected { kernels: "copy_wide", needs: &[Loads, Stores] },
    Expected { kernels: "life_bitpacked_vectors", needs: &[Loads, Stores] },
    Expected { kernels: "saxpy_vectorised_*", needs: &[Loads, Stores] },
    Expected { kernels: "reduce_grid_stride_*", needs: &[Loads] },
    Expected { kernels: "reduce_one_tile_*", needs: &[Loads] },
    Expected { kernels: "scan_look_back_*", needs: &[Loads, Stores] },
    Expected { kernels: "scan_pipelined_*", needs: &[Copies, Stores] },
    Expected { kernels: "transpose_unaligned_*", needs: &[Stores] },
    Expected { kernels: "transpose_unaligned_u32", needs: &[Loads] },
    Expected { kernels: "transpose_unaligned_u64", needs: &[Loads] },
    Expected { kernels: "transpose_vectorised_*", needs: &[Loads, Stores] },
    Expected { kernels: "global_read_u32x4_*", needs: &[Loads] },
    Expected { kernels: "global_write_u32x4_*", needs: &[Stores] },
    Expected { kernels: "global_copy*_u32x4_*", needs: &[Loads, Stores] },
];

/// What no kernel may have.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Rule {
    /// The compiler keeps nothing in local memory (`ld.local`, `st.local` in the PTX). What it keeps there the assembler can
    /// still put into registers.
    LocalInPtx,
    /// The assembler keeps nothing in local memory (`LDL`, `STL` in the SASS).
    Local,
    /// An access names its state space (`ld.global`, `LDG`; not `ld`, `LD`).
    Generic,
    /// The launch is bounded (`.maxntid`).
    Bounded,
}

/// Kernels for which a rule does not hold, and why.
pub(super) struct Exception {
    pub kernels: &'static str,
    pub rules: &'static [Rule],
    pub reason: &'static str,
}

/// All exceptions. One that no kernel needs is a finding, too.
pub(super) const EXCEPTIONS: &[Exception] = &[
    Exception {
        kernels: "schedule_print",
        rules: &[Rule::LocalInPtx, Rule::Local],
        reason: "`vprintf` reads what it prints from local memory",
    },
    Exception {
        kernels: "print_numbers",
        rules: &[Rule::LocalInPtx, Rule::Local],
        reason: "`vprintf` reads what it prints from local memory",
    },
    Exception {
        kernels: "life_bitpacked",
        rules: &[Rule::LocalInPtx],
        reason: "the compiler does not unroll the loop over the rows loaded ahead; the assembler does",
    },
    Exception {
        kernels: "global_copy2_u32x4_16",
        rules: &[Rule::LocalInPtx],
        reason: "the compiler does not unroll the loop over 16 operands of two arrays; the assembler does",
    },
    Exception {
        kernels: "global_read_*",
        rules: &[Rule::Bounded],
        reason: "with a bound the assembler waits for some of the loads early, and spilled",
    },
];
