//! The outcome of a check: passed, or a text that teaches; and a score.

use std::process::ExitCode;

use explain::{KernelFigures, Picture, Profile};
use launch::{Dim3, Fault};
use serde::{Deserialize, Serialize};

/// The outcome of the check of an exercise.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// True if the kernels are right and within their budgets.
    pub is_passed: bool,
    /// The text for the learner: the fault, or the budgets that are exceeded. It is empty if the exercise is passed.
    pub text: String,
    /// The figures of the kernels, if they ran without a fault.
    pub score: Option<Score>,
    /// The pictures of the kernels' accesses and of the fault, if there is something to draw.
    pub pictures: Option<Pictures>,
}

/// A picture in three forms.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Pictures {
    /// The picture as plain text.
    pub text: String,
    /// The picture as text with ANSI colours.
    pub coloured: String,
    /// The picture as an SVG document.
    pub svg: String,
}

impl Pictures {
    /// Draws the kernel that has the fault. Without a fault, draws the kernel whose accesses take longest. If `profile`
    /// does not have the steps of the first warp, `thread` is a thread of the drawn warp: its block and its index
    /// there.
    pub(crate) fn new(profile: Option<&Profile>, fault: Option<&Fault>, thread: Option<(Dim3, Dim3)>) -> Option<Self> {
        let kernels = profile.map_or(&[][..], |profile| &profile.kernels);
        let seconds = |kernel: &&KernelFigures| kernel.moved_seconds.max(kernel.shared_seconds);
        let kernel = match fault {
            Some(fault) => kernels.iter().find(|kernel| kernel.entry == fault.kernel),
            None => kernels.iter().max_by(|a, b| seconds(a).total_cmp(&seconds(b))),
        };
        let mut picture = Picture::new(kernel.map_or(&[], |kernel| &kernel.steps), fault);
        if let Some((block, thread)) = thread {
            picture = picture.of_warp(block, thread);
        }
        let title = kernel.map_or_else(|| fault.map_or("", |fault| fault.kernel), |kernel| kernel.family);
        let (text, coloured, svg) = (picture.text(false), picture.text(true), picture.svg(title));
        (!picture.is_empty()).then_some(Self { text, coloured, svg })
    }
}

/// The figures by which a solution is compared with the course's own.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Score {
    /// The number of bytes of global memory that the kernels move, in whole sectors.
    pub moved_bytes: u64,
    /// The number of bytes that any solution must move.
    pub useful_bytes: u64,
    /// The number of passes over shared memory that bank conflicts add.
    pub bank_conflicts: u64,
    /// The number of barriers that a block reaches.
    pub barriers: f64,
}

impl Score {
    pub(crate) fn new(profile: &Profile, useful_bytes: u64) -> Self {
        Self {
            moved_bytes: profile.moved_bytes(),
            useful_bytes,
            bank_conflicts: profile.bank_conflicts(),
            barriers: profile.barriers_per_block(),
        }
    }
}

impl Outcome {
    /// Returns the outcome of a case that failed with `text`, without pictures.
    pub(crate) fn error(text: String) -> Self {
        Self { is_passed: false, text, score: None, pictures: None }
    }

    /// Returns the outcome of kernels without a fault. `exceeded` are the texts of the budgets that they exceed.
    pub(crate) fn of_profile(exceeded: Vec<String>, profile: &Profile, score: Score) -> Self {
        let pictures = Pictures::new(Some(profile), None, None);
        Self { is_passed: exceeded.is_empty(), text: exceeded.join("\n"), score: Some(score), pictures }
    }

    /// Prints the outcome as text. Returns failure if the exercise is not passed.
    pub(crate) fn print(&self) -> ExitCode {
        let pictures = self.pictures.as_ref().filter(|_| !self.is_passed).map_or("", |pictures| &pictures.text);
        println!("{}{}\n{pictures}", if self.is_passed { "passed" } else { "" }, self.text);
        exit_code(self.is_passed)
    }
}

/// Prints `value` as one line of JSON. Returns failure unless `is_passed` is true.
pub(crate) fn print_json(value: &impl Serialize, is_passed: bool) -> ExitCode {
    match serde_json::to_string(value) {
        Ok(json) => println!("{json}"),
        Err(error) => eprintln!("{error}"),
    }
    exit_code(is_passed)
}

fn exit_code(is_passed: bool) -> ExitCode {
    if is_passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
