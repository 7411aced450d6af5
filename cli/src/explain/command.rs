//! `host explain`: shows what the memory system of a GPU would do for a kernel, in figures and sentences beside its
//! source.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;

use explain::{Baseline, BaselineError, Explanation, Gpu};
use workbench::subjects::{self, Chosen, ExplainError, Wanted};

use crate::error::UsageError;
use crate::files::WholeFile;
use crate::list;
use crate::next;
use crate::options::{Size, number_in, parse_count};
use crate::report;
use crate::report::progress::AtWork;
use gridstride::numbers::OperatorName;

use super::choice::GpuChoice;

/// Explain what a GPU's memory system does for a kernel, line by line
///
/// Runs the kernel in the simulator, on the grid that its command would use on the GPU, and counts what the memory
/// system of the GPU would do. A request is one instruction of a warp: the accesses of its 32 lanes. Global memory
/// moves sectors of 32 bytes. A request to shared memory takes a wavefront for each 128 bytes, and one more for each
/// further word in the same bank (there are 32 banks). The floor is the time in which the memory moves the sectors that
/// a launch reads or writes, if each moves only once. No kernel can be faster. The time as accessed counts all sectors
/// that requests touch, as if there were no caches.
#[derive(Args, Debug)]
#[command(after_long_help = help())]
pub struct ExplainOptions {
    /// An algorithm (transpose), whose rungs are shown side by side; a rung (shuffle, reduce/shuffle); or a kernel of
    /// `list ALGORITHM` (transpose_padded)
    #[arg(value_name = "KERNEL|ALGORITHM")]
    subject: String,

    /// Elements of a vector, such as 100_000 or 2^20 [default: 2^18, or the most that the kernel takes]
    #[arg(long, value_name = "N", value_parser = parse_count, allow_negative_numbers = true)]
    n: Option<usize>,

    /// Width x height of a matrix or board [default: 512x512; of a board 960x480, or 480x240 for one block]
    #[arg(long, value_name = "WxH")]
    size: Option<Size>,

    /// Element type [default: f32, or what the kernel takes]
    #[arg(long = "type", value_name = "TYPE")]
    element: Option<String>,

    /// Operator of reduce and scan: sum, product, min, max, minimum or maximum [default: sum]
    #[arg(long = "op", value_name = "NAME")]
    operator: Option<OperatorName>,

    /// Index of the buffer's element at which the vectors of saxpy, scale, reduce and scan begin, up to 1024 [default:
    /// 0]
    #[arg(long, value_name = "ELEMENT", value_parser = number_in::<u16>(0..=1024))]
    from: Option<u16>,

    /// GPU to model: v100, t4, a100, a10, rtx3090, l4, l40s, rtx4090, h100, h200, b200 or rtx5090; or gpu or gpu:N for
    /// one of this machine, whose memory is measured first
    #[arg(long, value_name = "NAME", default_value = Gpu::DEFAULT, value_parser = GpuChoice::parse)]
    gpu: GpuChoice,

    /// Compare with another rung or kernel, or with a file that an earlier `explain --json` printed: totals, and the
    /// lines that differ
    #[arg(long, value_name = "KERNEL|FILE.json")]
    baseline: Option<String>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,

    /// Also write the report to FILE as one HTML page
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

/// Returns the end of the help: the GPUs and the exit codes.
fn help() -> String {
    let gpus: String = Gpu::ALL.iter().map(|gpu| format!("  {:<8}  {gpu}\n", gpu.id)).collect();
    format!(
        "GPUs:\n{gpus}\n\
         The speed of a datasheet is a peak; a copy reaches 85 to 93 % of it.\n\
         Exit code: 0 on success, 1 if a kernel fails or a file cannot be read or written, 2 if the command line is \
         wrong."
    )
}

impl ExplainOptions {
    /// Runs the command.
    ///
    /// # Errors
    /// [`UsageError`] if there is no such kernel, it does not support the options, or the baseline does not fit;
    /// another error if a kernel fails or a file cannot be read or written.
    pub fn run(self) -> anyhow::Result<()> {
        let chosen = subjects::find(&self.subject).map_err(usage_or_failure)?;
        let page = self.html.as_deref().map(WholeFile::new);
        if let Some(page) = &page {
            page.check()?;
        }
        let wanted = Wanted {
            n: self.n,
            size: self.size,
            element: self.element,
            operator: self.operator,
            from: self.from.map(usize::from),
        };
        let gpu = self.gpu.gpu()?;
        let mut explanation = explained(&chosen, &wanted, gpu)?;
        if let Some(baseline) = &self.baseline {
            explanation.compare(&baseline_of(baseline, &wanted, gpu)?).map_err(unfit)?;
        }
        let is_default = wanted.is_default() && gpu == Gpu::default_gpu();
        explanation.next = Some(next::command(&next::after_explain(&chosen, is_default)));
        if let Some(page) = &page {
            let mut out = page.create()?;
            out.write_all(explanation.html().as_bytes()).with_context(|| page.failed())?;
            page.keep(out)?;
            report::note(&format!("wrote {page}"));
        }
        if self.json { report::print_json(&explanation) } else { report::print(&explanation.text(list::columns())) }
    }
}

fn explained(chosen: &Chosen, wanted: &Wanted, gpu: &'static Gpu) -> anyhow::Result<Explanation> {
    let at_work = AtWork::begin();
    let explanation = subjects::explain(chosen, wanted, gpu, |subject| at_work.set_message(subject.name()));
    explanation.map_err(usage_or_failure)
}

/// Reads the baseline if it is a file, and otherwise explains the kernel of that name on the same problem.
fn baseline_of(name: &str, wanted: &Wanted, gpu: &'static Gpu) -> anyhow::Result<Baseline> {
    match Baseline::path(name) {
        Some(path) => Baseline::read(path).map_err(unfit),
        None => {
            let chosen = subjects::find(name).map_err(usage_or_failure)?;
            Baseline::of(&explained(&chosen, wanted, gpu)?).map_err(unfit)
        }
    }
}

fn unfit(error: BaselineError) -> anyhow::Error {
    match error {
        BaselineError::Mismatch(_) => UsageError(error.to_string()).into(),
        error => error.into(),
    }
}

fn usage_or_failure(error: ExplainError) -> anyhow::Error {
    match error {
        ExplainError::Usage(text) => UsageError(text).into(),
        error => error.into(),
    }
}
