//! The registers and static shared memory that `ptxas` assigned to the kernels.
//!
//! The table `gpu/ptx/resources.tsv` has one row per kernel and one column per architecture. `cargo xtask resources`
//! writes the table.

use std::collections::HashMap;
use std::sync::LazyLock;

use explain::Resources;

const TEXT: &str = include_str!(env!("GPU_RESOURCES"));

/// Returns the resources of a kernel, or `None` if the table does not have them. `kernel` is the name in the PTX, and
/// `arch` is an architecture, such as 90 for sm_90.
pub fn of(kernel: &str, arch: u32) -> Option<Resources> {
    static READ: LazyLock<Table> = LazyLock::new(|| Table::read(TEXT));
    let column = READ.archs.iter().position(|there| *there == arch)?;
    READ.cells.get(kernel)?.get(column).copied().flatten()
}

#[derive(Debug, Default)]
struct Table {
    archs: Vec<u32>,
    cells: HashMap<&'static str, Vec<Option<Resources>>>,
}

impl Table {
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
    use crate::catalogue;

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

    /// Checks that the table has the architecture of every GPU for which kernels are explained.
    #[test]
    fn every_gpu_has_a_column() {
        for gpu in explain::Gpu::ALL {
            assert!(of("saxpy_monolithic", gpu.arch).is_some(), "{gpu}");
        }
    }

    #[test]
    fn cells_are_registers_and_shared_memory() {
        let rows = Table::read("# made by hand\nkernel\tsm_70\tsm_90\none\t16\t18+256\ntwo\t\t32\n");
        assert_eq!(rows.archs, [70, 90]);
        let taken = |registers, static_shared_bytes| Some(Resources { registers, static_shared_bytes });
        assert_eq!(rows.cells["one"], [taken(16, 0), taken(18, 256)]);
        assert_eq!(rows.cells["two"], [None, taken(32, 0)]);
    }
}
