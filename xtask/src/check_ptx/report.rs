//! A table of the registers and the shared memory of each kernel.

use std::collections::{BTreeMap, BTreeSet};

use comfy_table::{CellAlignment, Table, presets};
use cuda_builder::Arch;
use ptxas::Assembled;

use crate::kernels::Kernel;

/// Returns a map from the name of each instance in `kernels` to the name of its generic kernel.
pub(super) fn families(kernels: &[Kernel]) -> BTreeMap<String, String> {
    let instances = kernels.iter().filter(|kernel| kernel.name != kernel.family);
    instances.map(|kernel| (kernel.name.clone(), kernel.family.clone())).collect()
}

/// The registers and shared memory of the kernels of each module. The instances of a generic kernel share a row, which
/// shows the maximum over all instances.
#[derive(Default)]
pub(super) struct Report {
    /// A map from the name of each instance to the name of its generic kernel. All instances of a generic kernel share
    /// a row.
    families: BTreeMap<String, String>,
    /// The rows, by the kernel's name and the module's architecture.
    rows: BTreeMap<(String, Arch), KernelUsage>,
}

#[derive(Default)]
struct KernelUsage {
    instances: BTreeSet<String>,
    shared: u32,
    /// The registers per thread, by the GPU's architecture.
    registers: BTreeMap<Arch, u32>,
}

impl Report {
    /// Returns an empty report, in which the instances of the `families` share rows.
    pub fn new(families: BTreeMap<String, String>) -> Report {
        Report { families, ..Report::default() }
    }

    /// Adds the kernels of a module that was built for the architecture `module` and assembled for `arch`.
    pub fn add(&mut self, module: Arch, arch: Arch, assembled: &Assembled) {
        for function in assembled.functions.iter().filter(|function| function.is_kernel) {
            let name = self.families.get(&function.name).unwrap_or(&function.name).clone();
            let row = self.rows.entry((name, module)).or_default();
            row.shared = row.shared.max(function.shared);
            let registers = row.registers.entry(arch).or_default();
            *registers = (*registers).max(function.registers);
            row.instances.insert(function.name.clone());
        }
    }

    /// Returns the table, with a column for each architecture in `archs`.
    pub fn table(&self, archs: &[Arch]) -> String {
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        let mut head = vec!["kernel".to_owned(), "PTX".to_owned(), "shared B".to_owned()];
        head.extend(archs.iter().map(|arch| format!("r/{}", arch.number())));
        table.set_header(head);
        for ((kernel, module), row) in &self.rows {
            let kernel = match row.instances.len() {
                1 if row.instances.contains(kernel) => kernel.clone(),
                instances => format!("{kernel} ({instances})"),
            };
            let mut cells = vec![kernel, module.to_string(), row.shared.to_string()];
            cells.extend(archs.iter().map(|arch| row.registers.get(arch).map_or_else(String::new, u32::to_string)));
            table.add_row(cells);
        }
        for column in table.column_iter_mut().skip(2) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        let mut legend = "r/90: registers per thread on sm_90".to_owned();
        if !self.families.is_empty() {
            legend.push_str("; name (9): the maximum of 9 instances, which --all shows in separate rows");
        }
        format!("{}\n({legend})", table.trim_fmt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels;
    use crate::workspace::Workspace;
    use ptxas::Usage;

    /// Returns the rows below the heading for two instances and a plain kernel, assembled for sm_75 and sm_90.
    fn rows(families: BTreeMap<String, String>) -> Vec<String> {
        let mut report = Report::new(families);
        for (arch, registers) in [(Arch::Sm75, 20_u32), (Arch::Sm90, 24)] {
            let kernel = |name: &str, shared, more: u32| Usage {
                name: name.to_owned(),
                is_kernel: true,
                registers: registers + more,
                shared,
                ..Usage::default()
            };
            let functions = vec![kernel("sum_f32", 512, 3), kernel("sum_f64", 1024, 0), kernel("step", 0, 1)];
            report.add(Arch::Sm70, arch, &Assembled { functions, ..Assembled::default() });
        }
        let table = report.table(&[Arch::Sm75, Arch::Sm80, Arch::Sm90]);
        let rows = table.lines().skip(1).filter(|line| line.contains("sm_70"));
        rows.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    }

    #[test]
    fn the_table_has_a_row_per_entry() {
        assert_eq!(
            rows(BTreeMap::new()),
            ["step sm_70 0 21 25", "sum_f32 sm_70 512 23 27", "sum_f64 sm_70 1024 20 24"]
        );
    }

    #[test]
    fn instances_of_a_kernel_are_one_row_with_the_most_that_they_take() {
        let families = ["sum_f32", "sum_f64"].map(|name| (name.to_owned(), "sum".to_owned()));
        assert_eq!(rows(families.into()), ["step sm_70 0 21 25", "sum (2) sm_70 1024 23 27"]);
    }

    #[test]
    fn generic_kernels_of_the_sources_are_known() {
        let workspace = Workspace::open().unwrap();
        let families = families(&kernels::all(&workspace, &workspace.algorithms().unwrap()).unwrap());
        assert_eq!(families.get("combine_block_f32_sum_3").map(String::as_str), Some("combine_block"));
        assert!(!families.contains_key("saxpy_grid_stride"));
    }
}
