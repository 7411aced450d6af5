//! What is printed: the rungs that were asked for, each with its figures.

use std::io;
use std::sync::{Arc, Mutex};

use anyhow::Context;
use launch::Device;
use serde::Serialize;
use simt::{Profiles, Simulator};

use super::figures::Kernel;
use super::gpus::Gpu;
use super::subjects::{self, Chosen, Problem, Subject, Wanted};
use super::summary::Summary;
use crate::error::UsageError;

/// Rungs explained for a GPU.
#[derive(Serialize, Debug)]
pub struct Explanation {
    /// What was asked for.
    pub subject: String,
    /// The GPU.
    pub gpu: &'static Gpu,
    /// The rungs, the plainest first.
    pub rungs: Vec<Rung>,
    /// Rungs left out, each with the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// A rung explained.
#[derive(Serialize, Debug)]
pub struct Rung {
    /// The algorithm.
    pub algorithm: &'static str,
    /// The rung's name.
    pub rung: &'static str,
    /// What it does differently from the one before, in a line.
    pub idea: &'static str,
    /// What was computed.
    pub problem: Problem,
    /// Its figures in short.
    pub summary: Summary,
    /// What they say beside those of the rung before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
    /// Its kernels.
    pub kernels: Vec<Kernel>,
}

impl Explanation {
    /// Runs what was chosen and explains it for `gpu`. `at_work` hears of each rung before it runs.
    ///
    /// # Errors
    /// [`UsageError`] for what was asked of it; when a kernel fails.
    pub fn new(
        chosen: &Chosen,
        wanted: &Wanted,
        gpu: &'static Gpu,
        mut at_work: impl FnMut(&'static Subject),
    ) -> anyhow::Result<Self> {
        let profiles = Profiles::default();
        let simulator = Simulator::new()
            .with_profiles(profiles.clone())
            .with_multiprocessors(gpu.multiprocessors)
            // What kernels print is not what is asked for.
            .with_output(Arc::new(Mutex::new(io::sink())));
        let device = Device::simulated(simulator);
        let mut rungs: Vec<Rung> = Vec::new();
        let mut left_out = Vec::new();
        for &subject in &chosen.subjects {
            at_work(subject);
            profiles.take();
            let problem = match (subject.run)(&device, wanted) {
                Ok(problem) => problem,
                Err(error) if subjects::is_not_offered(&error) => {
                    left_out.push(error.to_string());
                    continue;
                }
                Err(error) if error.is::<UsageError>() => return Err(error),
                Err(error) => return Err(error).with_context(|| format!("{} failed", subject.name())),
            };
            let is_shown = |kernel: &Kernel| match chosen.family {
                Some(family) => kernel.family == family,
                None => subject.families.contains(&kernel.family),
            };
            let mut kernels = Kernel::all(&profiles.take());
            kernels.retain(is_shown);
            kernels.iter_mut().for_each(|kernel| kernel.finish(gpu));
            let summary = Summary::of(&kernels, problem.elements, gpu);
            let change = rungs
                .last()
                .filter(|_| subject.is_step())
                .map(|before| summary.change_from(&before.summary, subject.idea));
            let Subject { algorithm, rung, idea, .. } = *subject;
            rungs.push(Rung { algorithm, rung, idea, problem, summary, change, kernels });
        }
        if rungs.is_empty() {
            return Err(UsageError(left_out.join("; ")).into());
        }
        Ok(Self { subject: chosen.title.clone(), gpu, rungs, left_out })
    }

    /// Whether all rungs computed the same.
    pub fn has_one_problem(&self) -> bool {
        self.rungs.windows(2).all(|pair| pair[0].problem == pair[1].problem)
    }
}
