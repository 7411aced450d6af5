//! An exercise: a case whose kernels must be right under every order of their threads, and stay within budgets.

use std::env;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use explain::check::{Report, STREAM_RACE, Settings};
use explain::{Case, Explainer, Gpu, Profile};
use launch::{Dim3, Fault, FaultKind};

use crate::gpu::{self, Timed};
use crate::outcome::{Outcome, Pictures, Score, print_json};

/// An exercise, which a `check.rs` makes: a [`Case`], and the budgets of its kernels.
#[derive(Debug)]
pub struct Exercise {
    case: Case,
    settings: Settings,
    thorough: Option<Duration>,
    /// The moved bytes may be at most this times the useful bytes.
    moves: Option<f64>,
    /// The requests to global memory may be at most this times those with 16 bytes per lane.
    requests: Option<f64>,
    is_without_conflicts: bool,
    barriers: Option<u32>,
    shared_requests: Option<u32>,
}

impl Exercise {
    /// Returns the exercise that `case` checks. It has no budgets.
    pub fn new(case: Case) -> Self {
        Self {
            case,
            settings: Settings::default(),
            thorough: None,
            moves: None,
            requests: None,
            is_without_conflicts: false,
            barriers: None,
            shared_requests: None,
        }
    }

    /// Limits the moved bytes of global memory to `factor` × the useful bytes, which the case passes to
    /// [`Run::measure`](crate::Run::measure).
    pub fn moves(self, factor: f64) -> Self {
        Self { moves: Some(factor), ..self }
    }

    /// Limits the requests to global memory to `factor` × those that the useful bytes need with 16 bytes per lane.
    pub fn requests(self, factor: f64) -> Self {
        Self { requests: Some(factor), ..self }
    }

    /// Forbids bank conflicts.
    pub fn no_bank_conflicts(self) -> Self {
        Self { is_without_conflicts: true, ..self }
    }

    /// Limits the number of barriers that a block reaches.
    pub fn barriers(self, max: u32) -> Self {
        Self { barriers: Some(max), ..self }
    }

    /// Limits the number of requests to shared memory that the warps of a block make. A warp without an active lane
    /// makes none.
    pub fn shared_requests(self, max: u32) -> Self {
        Self { shared_requests: Some(max), ..self }
    }

    /// Makes the check assume that shuffles and votes order no memory accesses, as CUDA's documentation does.
    pub fn strict(self) -> Self {
        Self { settings: Settings::new(true, &[]), ..self }
    }

    /// Searches more than the eight hostile orders, for at most one second. It is for kernels whose blocks or warps
    /// wait for each other.
    pub fn thorough(self) -> Self {
        Self { thorough: Some(Duration::from_secs(1)), ..self }
    }

    /// Runs the program that checks the exercise: prints the outcome, as JSON with the argument `--json`. With
    /// `--time FILE`, times the kernels of a PTX file on a GPU instead. Returns failure if the exercise is not passed.
    pub fn main(self) -> ExitCode {
        let mut arguments = env::args_os().skip(1);
        match (arguments.next(), arguments.next()) {
            (Some(first), Some(path)) if first == gpu::TIME => {
                let timed = Timed::measure(&self.case, self.case.name(), Path::new(&path));
                print_json(&timed, timed.is_ok())
            }
            (Some(first), None) if first == "--json" => {
                let outcome = self.outcome();
                print_json(&outcome, outcome.is_passed)
            }
            _ => self.outcome().print(),
        }
    }

    /// Checks the exercise: first for faults, then for its budgets.
    pub fn outcome(&self) -> Outcome {
        let report = self.case.report(&self.settings, self.thorough);
        let explainer = Explainer::new(Gpu::default_gpu());
        if let Some(text) = report.fault_texts().next() {
            let fault = report.findings().find_map(|(_, finding)| finding.fault.as_deref());
            let thread = fault.and_then(thread_of_later_warp);
            let explainer = if let Some(thread) = thread { explainer.with_steps_of(thread) } else { explainer };
            let profile = if is_drawn(&report) { self.case.profile_of_fault(&report, &explainer).ok() } else { None };
            let pictures = Pictures::new(profile.as_ref().map(|(profile, _)| profile), fault, thread);
            return Outcome { pictures, ..Outcome::error(text) };
        }
        match self.case.profile(&explainer) {
            Err(error) => Outcome::error(error.to_string()),
            Ok((profile, useful)) => {
                let exceeded = self.exceeded(&profile, useful);
                Outcome::of_profile(exceeded, &profile, Score::new(&profile, useful))
            }
        }
    }

    /// Returns a text for each budget that the kernels exceed.
    fn exceeded(&self, profile: &Profile, useful: u64) -> Vec<String> {
        let mut exceeded = Vec::new();
        exceeded.extend(self.moves.and_then(|factor| profile.check_moves(factor, useful).err()));
        exceeded.extend(self.requests.and_then(|factor| profile.check_requests(factor, useful).err()));
        if self.is_without_conflicts {
            exceeded.extend(profile.check_no_bank_conflicts().err());
        }
        exceeded.extend(self.barriers.and_then(|max| profile.check_barriers(max).err()));
        exceeded.extend(self.shared_requests.and_then(|max| profile.check_shared_requests(max).err()));
        exceeded
    }
}

/// Returns the block and the thread of `fault`, unless they are in the first warp or unknown.
fn thread_of_later_warp(fault: &Fault) -> Option<(Dim3, Dim3)> {
    let (block, thread) = (fault.block?, fault.thread?);
    let is_first = (block.x, block.y, block.z, thread.y, thread.z) == (0, 0, 0, 0, 0) && thread.x < 32;
    (!is_first).then_some((block, thread))
}

/// Returns true if the first fault of `report` has a picture of the kernel's accesses. Kernels that wait for ever have
/// no profile, and their accesses do not show a race of streams.
fn is_drawn(report: &Report) -> bool {
    let Some((_, finding)) = report.findings().next() else { return true };
    let is_endless = |kind: &FaultKind| matches!(kind, FaultKind::NoProgress { .. } | FaultKind::EndlessLoop { .. });
    finding.kind != STREAM_RACE && !finding.fault.as_ref().is_some_and(|fault| is_endless(&fault.kind))
}
