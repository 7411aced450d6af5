//! What a kernel takes of a multiprocessor: registers and static shared memory, as `ptxas` assigned them.
//!
//! `gpu/ptx/resources.tsv` has one row per kernel and one column per architecture; `cargo xtask resources` writes it.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Serialize;

const TABLE: &str = include_str!("../../../gpu/ptx/resources.tsv");

/// Registers and shared memory of a kernel on one architecture.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Resources {
    /// Registers per thread.
    pub registers: u32,
    /// Static shared memory per block, in bytes.
    pub static_shared_bytes: u32,
}

/// What the kernel of this name in the PTX takes on the architecture: 90 is sm_90. `None` if the table does not say.
pub fn of(kernel: &str, arch: u32) -> Option<Resources> {
    static ROWS: LazyLock<Rows> = LazyLock::new(|| Rows::read(TABLE));
    let column = ROWS.archs.iter().position(|there| *there == arch)?;
    ROWS.cells.get(kernel)?.get(column).copied().flatten()
}

#[derive(Debug, Default)]
struct Rows {
    archs: Vec<u32>,
    cells: HashMap<&'static str, Vec<Option<Resources>>>,
}

impl Rows {
    fn read(text: &'static str) -> Self {
        let mut lines = text.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('\t'));
        let heading = lines.next().into_iter().flatten().skip(1);
        let archs = heading.map(|name| name.trim_start_matches("sm_").parse().unwrap_or(0)).collect();
        let row = |mut row: std::str::Split<'static, char>| Some((row.next()?, row.map(cell).collect()));
        Self { archs, cells: lines.filter_map(row).collect() }
    }
}

fn cell(text: &str) -> Option<Resources> {
    let (registers, shared) = text.split_once('+').unwrap_or((text, "0"));
    Some(Resources { registers: registers.parse().ok()?, static_shared_bytes: shared.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use workbench::catalogue;

    #[test]
    fn every_kernel_has_a_row() {
        for kernel in catalogue::kernels() {
            let taken = of(kernel.name, 90).unwrap_or_else(|| panic!("no row for {}", kernel.name));
            assert!((1..=255).contains(&taken.registers), "{}: {taken:?}", kernel.name);
        }
        assert_eq!(of("transpose_padded_u32", 90).map(|taken| taken.static_shared_bytes), Some(32 * 33 * 4));
        assert_eq!(of("no_such_kernel", 90), None);
        assert_eq!(of("transpose_padded_u32", 91), None);
    }

    #[test]
    fn cells_are_registers_and_shared_memory() {
        let rows = Rows::read("# made by hand\nkernel\tsm_70\tsm_90\none\t16\t18+256\ntwo\t\t32\n");
        assert_eq!(rows.archs, [70, 90]);
        let taken = |registers, static_shared_bytes| Some(Resources { registers, static_shared_bytes });
        assert_eq!(rows.cells["one"], [taken(16, 0), taken(18, 256)]);
        assert_eq!(rows.cells["two"], [None, taken(32, 0)]);
    }
}
