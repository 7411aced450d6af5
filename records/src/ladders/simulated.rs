//! The traffic of a rung in the simulator, and its picture.

use anyhow::{Result, anyhow, ensure};
use explain::{Gpu, KernelFigures, Picture, Summary};
use units::Bytes;
use workbench::subjects::{self, Wanted};

use super::Mark;

/// The number of different steps that a picture shows.
const STEPS: usize = 6;

/// A rung as the simulator ran it.
pub(super) struct Simulated {
    /// The difference from the rung before.
    pub idea: &'static str,
    /// The traffic, in words.
    pub traffic: String,
    /// The title of the picture.
    pub title: String,
    /// The picture of the first accesses of a warp.
    pub svg: String,
}

/// Runs the rung of a mark.
///
/// # Errors
/// If there is no such rung, it cannot be run, or it does not launch the kernel of the mark.
pub(super) fn run(mark: Mark<'_>) -> Result<Simulated> {
    let size = mark.size.map(str::parse).transpose().map_err(|error| anyhow!("size={:?}: {error}", mark.size))?;
    let wanted = Wanted { n: mark.n, size, ..Wanted::default() };
    let gpu = Gpu::find(Gpu::DEFAULT).map_err(|error| anyhow!("{error}"))?;
    let explanation = subjects::explain(&subjects::find(mark.subject)?, &wanted, gpu, |_| {})?;
    let rung = explanation.rungs.first().ok_or_else(|| anyhow!("{} was not run", mark.subject))?;
    let is_drawn = |kernel: &&KernelFigures| mark.kernel.is_none_or(|name| kernel.family == name);
    let kernel = rung.kernels.iter().find(is_drawn);
    let kernel = kernel.ok_or_else(|| anyhow!("{} does not launch {:?}", mark.subject, mark.kernel))?;
    let picture = Picture::new(kernel.steps.get(mark.skip..).unwrap_or_default(), None).with_max_steps(STEPS);
    ensure!(!picture.is_empty(), "{} accesses no memory", kernel.family);
    let title = kernel.family.to_owned();
    let problem = match (rung.problem.n, rung.problem.width.zip(rung.problem.height)) {
        (Some(n), _) => format!("n = {n}"),
        (None, Some((width, height))) => format!("{width} × {height}"),
        (None, None) => String::new(),
    };
    let traffic = format!("In the simulator, {problem}: {}", traffic(&rung.summary));
    Ok(Simulated { idea: rung.names.idea.trim_end_matches('.'), traffic, svg: picture.svg(&title), title })
}

/// Returns the traffic of a rung in words.
fn traffic(summary: &Summary) -> String {
    let launches = if summary.launches == 1 { "1 launch".to_owned() } else { format!("{} launches", summary.launches) };
    let mut parts = vec![launches];
    parts.push(format!("moves {} where {} must move", Bytes(summary.moved_bytes), Bytes(summary.floor_bytes)));
    let percent = |share: f64| format!("{} %", (1000.0 * share).round() / 10.0);
    parts.extend(summary.load_efficiency.map(|share| format!("loads use {} of their bytes", percent(share))));
    parts.extend(summary.store_efficiency.map(|share| format!("stores use {}", percent(share))));
    parts.extend(summary.shared_ways.map(|ways| match ways {
        ways if ways > 1.005 => format!("bank conflicts lengthen accesses to shared memory by {ways:.1}"),
        _ => "shared memory without bank conflicts".to_owned(),
    }));
    if summary.barriers > 0 {
        parts.push(format!("the blocks reach {} barriers in all", summary.barriers));
    }
    parts.join("; ")
}
