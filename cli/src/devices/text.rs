//! Formats the devices as text.

use std::fmt;

use super::{GpuDetails, GpuEntry, Inventory, KernelEntry, KernelNeeds};
use crate::report::{Bytes, table};

impl fmt::Display for Inventory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for gpu in &self.gpus {
            writeln!(f, "{gpu}")?;
        }
        if let Some(absence) = &self.no_gpu {
            writeln!(f, "no GPU: {}\n  to use one: {}\n", absence.reason, absence.remedy)?;
        }
        let simulator = &self.simulator;
        writeln!(f, "simulator (--device sim)")?;
        line(f, "workers", simulator.workers)?;
        line(f, "memory limit", Bytes(simulator.memory_bytes))?;
        line(f, "seed", simulator.seed)
    }
}

impl fmt::Display for GpuEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "GPU {0}: {1} (--device gpu:{0})", self.ordinal, self.name)?;
        line(f, "compute capability", &self.compute_capability)?;
        match &self.details {
            Some(details) => details.write(f, self.memory_bytes)?,
            None => line(f, "memory", Bytes(self.memory_bytes))?,
        }
        if let Some(reason) = &self.cannot_be_used {
            line(f, "cannot be used", reason)?;
        }
        // The kernels of a module are adjacent in the list.
        for of_module in self.kernels.chunk_by(|one, next| module(one) == module(next)) {
            writeln!(f, "\n  kernels of {}", module(&of_module[0]))?;
            write_kernels(f, of_module)?;
        }
        if self.kernels.iter().any(|kernel| kernel.name != kernel.family) {
            writeln!(f, "\n  name (9): the largest values of the kernel's 9 instances; --json has each")?;
        }
        Ok(())
    }
}

impl GpuDetails {
    fn write(&self, f: &mut fmt::Formatter<'_>, memory_bytes: u64) -> fmt::Result {
        line(f, "driver", format!("CUDA {}", self.cuda_version.as_deref().unwrap_or("of unknown version")))?;
        line(f, "multiprocessors", format!("{}, {}", self.multiprocessors, some(self.clock_mhz, " MHz")))?;
        let (bus, clock) = (some(self.memory_bus_bits, " bits wide"), some(self.memory_clock_mhz, " MHz"));
        let (memory, free) = (Bytes(memory_bytes), Bytes(self.memory_free_bytes));
        line(f, "memory", format!("{memory}, {free} free, {bus}, {clock}"))?;
        line(f, "L2 cache", some(self.l2_bytes.map(Bytes), ""))?;
        let (block, optin) =
            (Bytes(self.shared_bytes_per_block.into()), Bytes(self.shared_bytes_per_block_optin.into()));
        let multiprocessor = some(self.shared_bytes_per_multiprocessor.map(|bytes| Bytes(bytes.into())), "");
        line(f, "shared memory", format!("{block} per block, {optin} on request; {multiprocessor} per SM"))?;
        let (block, multiprocessor) = (some(self.registers_per_block, ""), some(self.registers_per_multiprocessor, ""));
        line(f, "registers", format!("{block} per block; {multiprocessor} per SM"))?;
        let multiprocessor = some(self.max_threads_per_multiprocessor, "");
        let (block, warp) = (self.max_threads_per_block, self.warp_size);
        line(f, "threads", format!("{block} per block; {multiprocessor} per SM; {warp} per warp"))
    }
}

/// Returns the module under which a kernel is listed: `gpu::life` for `gpu::life::bitpacked`.
fn module(kernel: &KernelEntry) -> &'static str {
    match kernel.module.match_indices("::").nth(1) {
        Some((end, _)) => &kernel.module[..end],
        None => kernel.module,
    }
}

fn write_kernels(f: &mut fmt::Formatter<'_>, kernels: &[KernelEntry]) -> fmt::Result {
    let heading =
        ["kernel", "registers", "shared memory", "local memory", "threads per block", "blocks per SM", "occupancy"];
    let mut rows = Vec::new();
    // The instances of a kernel are adjacent in the list, and share a row.
    for instances in kernels.chunk_by(|one, next| one.family == next.family) {
        let needs = instances.iter().filter_map(|kernel| kernel.needs.clone());
        if let Some(needs) = needs.reduce(|one, next| KernelNeeds::worse(&one, &next)) {
            rows.push([
                family_name(instances),
                needs.registers.to_string(),
                Bytes(needs.static_shared_bytes.into()).to_string(),
                Bytes(needs.local_bytes.into()).to_string(),
                needs.block_threads.to_string(),
                needs.blocks_per_multiprocessor.to_string(),
                format!("{:.0} %", 100.0 * needs.occupancy),
            ]);
        }
    }
    if !rows.is_empty() {
        writeln!(f, "{}", table(heading, &rows))?;
    }
    for instances in
        kernels.chunk_by(|one, next| (one.family, &one.cannot_be_loaded) == (next.family, &next.cannot_be_loaded))
    {
        if let Some(reason) = &instances[0].cannot_be_loaded {
            line(f, &family_name(instances), reason)?;
        }
    }
    Ok(())
}

/// Returns the kernel's name, followed by the number of instances if there are several: `reduce_shuffle (3)`.
fn family_name(instances: &[KernelEntry]) -> String {
    match instances {
        [kernel] => kernel.name.to_owned(),
        _ => format!("{} ({})", instances[0].family, instances.len()),
    }
}

fn line(f: &mut fmt::Formatter<'_>, name: &str, value: impl fmt::Display) -> fmt::Result {
    writeln!(f, "  {name:<18}  {value}")
}

/// Returns a value with its unit, or `unknown`.
fn some(value: Option<impl fmt::Display>, unit: &str) -> String {
    value.map_or_else(|| "unknown".into(), |value| format!("{value}{unit}"))
}
