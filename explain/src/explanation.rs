//! An explanation: rungs side by side, each with its figures.

use serde::Serialize;

use crate::compare::Comparison;
use crate::figures::KernelFigures;
use crate::gpus::Gpu;
use crate::problem::Problem;
use crate::roofline::Roofline;
use crate::summary::Summary;

/// The number of the JSON format. A [`Baseline`](crate::Baseline) reads this format only.
pub(crate) const FORMAT: u32 = 1;

/// The figures of several rungs for a GPU.
#[derive(Serialize, Debug)]
pub struct Explanation {
    /// The number of the JSON format, which changes if a baseline of an older version can no longer be read.
    format: u32,
    /// The title, such as the algorithm's name.
    pub subject: String,
    /// The GPU for which the figures are computed.
    pub gpu: &'static Gpu,
    /// The rungs with their figures, the simplest rung first.
    pub rungs: Vec<RungFigures>,
    /// One text for each rung that was left out. The text names the rung and the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// Remarks on the whole explanation, such as which figures are not known and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The differences from a baseline, if [`compare`](Self::compare) was called. The text then has no other figures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comparison: Option<Comparison>,
    /// A command line that is a useful next step, for the end of the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// The names that describe a rung.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct RungNames {
    /// The name of the algorithm; empty for a kernel that belongs to none.
    pub algorithm: &'static str,
    /// The name of the rung.
    pub rung: &'static str,
    /// The idea of the rung in a line: its difference from the previous rung.
    pub idea: &'static str,
}

/// A rung with the figures of its kernels.
#[derive(Serialize, Debug)]
pub struct RungFigures {
    /// The names that describe the rung.
    #[serde(flatten)]
    pub names: RungNames,
    /// The problem that the rung computed.
    pub problem: Problem,
    /// The figures, summed over the rung's kernels.
    pub summary: Summary,
    /// The rung's place under the roofs of the GPU.
    pub roofline: Roofline,
    /// A text that lists how the figures differ from those of the previous rung, if they were compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
    /// The figures of each kernel of the rung.
    pub kernels: Vec<KernelFigures>,
}

impl RungNames {
    /// Returns the names of the rung `rung` of `algorithm`, with its idea.
    pub const fn new(algorithm: &'static str, rung: &'static str, idea: &'static str) -> Self {
        Self { algorithm, rung, idea }
    }

    /// Returns the full name, such as `transpose/padded`.
    pub fn full(&self) -> String {
        full_name(self.algorithm, self.rung)
    }
}

/// Returns the full name of a rung, such as `transpose/padded`. The name of a rung without an algorithm is its own.
pub(crate) fn full_name(algorithm: &str, rung: &str) -> String {
    if algorithm.is_empty() { rung.to_owned() } else { format!("{algorithm}/{rung}") }
}

impl RungFigures {
    /// Sums up the figures of `kernels`, which computed `problem`, for `gpu`.
    pub fn new(names: RungNames, problem: Problem, kernels: Vec<KernelFigures>, gpu: &Gpu) -> Self {
        let summary = Summary::of(&kernels, problem.elements, gpu);
        let roofline = Roofline::of(&summary, gpu);
        Self { names, problem, summary, roofline, change: None, kernels }
    }
}

impl Explanation {
    /// Returns an explanation with the title `subject` and no rungs.
    pub fn new(subject: impl Into<String>, gpu: &'static Gpu) -> Self {
        Self {
            format: FORMAT,
            subject: subject.into(),
            gpu,
            rungs: Vec::new(),
            left_out: Vec::new(),
            notes: Vec::new(),
            comparison: None,
            next: None,
        }
    }

    /// Adds a rung. If `is_step` is true, also describes its [`change`](RungFigures::change) from the previous rung.
    pub fn push(&mut self, rung: RungFigures, is_step: bool) {
        let before = self.rungs.last().filter(|_| is_step);
        let change = before.map(|before| rung.summary.change_from(&before.summary, rung.names.idea));
        self.rungs.push(RungFigures { change, ..rung });
    }

    /// Returns true if all rungs computed the same problem.
    pub fn has_one_problem(&self) -> bool {
        self.rungs.windows(2).all(|pair| pair[0].problem == pair[1].problem)
    }
}
