//! Writes the document that compares the counts of the simulator and of a GPU.

use std::collections::BTreeSet;
use std::fmt;

use super::cases::Origin;
use super::compare::LaunchComparison;
use super::counts::{Metric, grouped};
use super::reasons::Reason;

/// The numbers of compared kernels, launches and counts, and of the kernels and counts that are equal in the simulator
/// and on the GPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Totals {
    kernels: usize,
    equal_kernels: usize,
    launches: u64,
    counts: usize,
    equal: usize,
}

impl Totals {
    /// Returns the totals of `rows`. They leave out counts that are zero in the simulator and on the GPU.
    pub fn of(rows: &[LaunchComparison]) -> Totals {
        let kernels: BTreeSet<&str> = rows.iter().map(|row| row.launch.kernel.as_str()).collect();
        let is_counted = |row: &LaunchComparison, metric| row.simulator.get(metric) != 0 || row.ncu.get(metric) != 0;
        let counted =
            |row: &LaunchComparison| Metric::ALL.into_iter().filter(|&metric| is_counted(row, metric)).count();
        let counts: usize = rows.iter().map(counted).sum();
        let different: usize = rows.iter().map(|row| row.differences().len()).sum();
        let launches = rows.iter().map(|row| row.times).sum();
        let differ =
            |kernel: &&&str| rows.iter().any(|row| row.launch.kernel == **kernel && !row.differences().is_empty());
        let equal_kernels = kernels.len() - kernels.iter().filter(differ).count();
        Totals { kernels: kernels.len(), equal_kernels, launches, counts, equal: counts - different }
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers = [self.kernels, self.equal, self.counts, self.equal_kernels];
        let [kernels, equal, counts, equal_kernels] = numbers.map(|number| grouped(number as u64));
        let launches = grouped(self.launches);
        write!(
            f,
            "{launches} launches of {kernels} kernels: {equal} of {counts} counts that are not zero are equal, all of them for \
             {equal_kernels} kernels"
        )
    }
}

/// Returns the text of the document.
pub fn text(origin: &Origin, rows: &[LaunchComparison], reasons: &[Reason]) -> String {
    let mut text = format!(
        "# The simulator's counts and a GPU's\n\n\
         <!-- Written by `cargo xtask counters`; see below. -->\n\n\
         `host explain` counts in the simulator what the memory system of a GPU does for a kernel. Here the counts stand\n\
         beside those of the GPU's own counters, read with NVIDIA's profiler Nsight Compute (`ncu`){}.\n\n\
         {}.\n\n",
        of(origin),
        Totals::of(rows)
    );
    text.push_str(
        "- One number: the simulator and the GPU count the same. **a / b**: the simulator counts a and the GPU b; the last\n\
         \x20 column says why.\n\
         - A request is one instruction of a warp. A sector is 32 bytes of global memory. A wavefront is one pass over the\n\
         \x20 banks of shared memory; a conflict is a pass that is needed because lanes access different words of one bank.\n\
         - A launch is a grid of blocks × the threads of a block. Where there are several, the counts are their sums.\n\n\
         ## How it is made\n\n\
         ```sh\n\
         bash bench/counters/ncu.sh target/release/host OUT   # on a machine with a GPU and ncu\n\
         cargo xtask counters OUT --write                     # anywhere: runs host explain, and writes this file\n\
         ```\n\n\
         The cases stand in `bench/counters/cases.txt`, the reasons in `records/src/counters/reasons.rs`. A difference without\n\
         a reason is an error, and so is a reason without a difference. The metrics of ncu:\n\n\
         | here | ncu |\n| --- | --- |\n",
    );
    for metric in Metric::ALL {
        let names: Vec<String> = metric.of_ncu().iter().map(|name| format!("`{name}`")).collect();
        text.push_str(&format!("| {metric} | {} |\n", names.join(" + ")));
    }
    text.push_str("\n## The counts\n\n");
    text.push_str(&table(rows, reasons));
    text.push_str(
        "\n[1] ncu's counters of conflicts and wavefronts belong to the stage through which all data of the L1 cache and of\n\
         shared memory pass. In kernels without bank conflicts they count a few for loads. The number differs between two\n\
         launches of the same kernel on the same data. NVIDIA's developers see such conflicts, too, and suspect the L1\n\
         cache: [NVIDIA/Fuser#2263](https://github.com/NVIDIA/Fuser/issues/2263).\n",
    );
    text
}

/// Returns the version of ncu, the device, the driver and the date of the profile, as the end of a sentence.
fn of(Origin { date, device, driver, ncu }: &Origin) -> String {
    let parts = [(" ", ncu), (" on one ", device), (" with driver ", driver), (", ", date)];
    parts.iter().filter_map(|(before, part)| Some(format!("{before}{}", part.as_ref()?))).collect()
}

/// Returns the rows as a table in Markdown.
pub fn table(rows: &[LaunchComparison], reasons: &[Reason]) -> String {
    let headings = Metric::ALL.map(Metric::heading).join(" | ");
    let mut text = format!("| `host explain` | kernel | launch | {headings} | reason |\n");
    text.push_str(&format!("| --- | --- | --- |{} --- |\n", " ---: |".repeat(Metric::ALL.len())));
    let mut case = None;
    for row in rows {
        // The rows of a case are next to each other.
        let explain = if case == Some(&row.case) { String::new() } else { format!("`{}`", row.explain) };
        case = Some(&row.case);
        let times = if row.times == 1 { String::new() } else { format!(", {} launches", row.times) };
        text.push_str(&format!("| {explain} | `{}` | {}{times} |", row.launch.kernel, row.launch.shape()));
        for metric in Metric::ALL {
            let [simulator, ncu] = [row.simulator.get(metric), row.ncu.get(metric)];
            if simulator == ncu {
                text.push_str(&format!(" {} |", grouped(ncu)));
            } else {
                text.push_str(&format!(" **{} / {}** |", grouped(simulator), grouped(ncu)));
            }
        }
        text.push_str(&format!(" {} |\n", why(row, reasons).join(" ")));
    }
    text
}

/// Returns the texts of the reasons for a row's differences, each once.
fn why<'a>(row: &LaunchComparison, reasons: &'a [Reason]) -> Vec<&'a str> {
    let differences = row.differences();
    let applies = |reason: &&Reason| differences.iter().any(|&metric| reason.applies(row, metric));
    reasons.iter().filter(applies).map(|reason| reason.text).collect()
}
