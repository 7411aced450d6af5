//! The traits by which any algorithm is measured, benchmarked, explained and checked, without knowing which one it is.
//!
//! An [`Algorithm`] turns options into a [`Problem`]; that makes [`Inputs`] on a device, on which a rung is [`Prepared`] and
//! run, in a queue: at once, or in a graph.

use cuda_std::{KernelInfo, Ladder, Rung};
use launch::{Device, Held, Queue, Resources};

use crate::case::Case;
use crate::deviation::Deviation;
use crate::error::WorkbenchError;
use crate::scaling::ScalingWork;
use crate::scaling::SplitWork;
use gridstride::capabilities;
use gridstride::numbers::NumberType;
use multi::team::Team;

mod options;
mod shape;
mod work;

pub use options::{Options, ProblemOption, parse_type};
pub use shape::{Shape, Size, SizeTextError};
pub use work::{Aim, Sizes, Target, Unit, Work};

/// An algorithm: its ladder, its problem as options, what is measured of it and what is checked.
pub trait Algorithm: Send + Sync {
    /// Its name: of its folder, of its command, and of its PTX module.
    fn name(&self) -> &'static str;

    /// The rungs of its ladder, the plainest first.
    fn rungs(&self) -> &'static [Rung];

    /// What its command measures, and what a right result is: a line, an empty line, and a paragraph.
    fn about(&self) -> &'static str;

    /// What can be asked for beside the size and the seed.
    fn options(&self) -> &'static [ProblemOption];

    /// The element types that can be asked for.
    fn types(&self) -> Vec<NumberType> {
        capabilities::types(self.rungs())
    }

    /// The size of a problem where none is given, for `rung` or for all rungs.
    fn default_shape(&self, rung: Option<&Rung>, purpose: Purpose) -> Shape {
        let n = match purpose {
            Purpose::Explain => 1 << 18,
            Purpose::Measure { simulated: true } => 1 << 18,
            Purpose::Measure { simulated: false } => 1 << 26,
        };
        Shape::Vector(rung.and_then(Rung::max_elements).map_or(n, |most| n.min(most)))
    }

    /// The problem of that size with these options.
    ///
    /// # Errors
    /// [`WorkbenchError::Options`] for options that make no problem.
    fn problem(&self, shape: Shape, options: &Options) -> Result<Box<dyn Problem>, WorkbenchError>;

    /// What the sizes of its inputs count.
    fn unit(&self) -> Unit {
        Unit::Elements
    }

    /// Whether the rung of that name is no step of the ladder, but a yardstick for the others.
    fn is_yardstick(&self, _rung: &str) -> bool {
        false
    }

    /// What is measured by a benchmark.
    fn works(&self) -> Vec<Work>;

    /// What is measured by a benchmark on several devices, by its fastest rung; nothing where it runs on one alone.
    fn scaling_works(&self) -> Vec<ScalingWork> {
        Vec::new()
    }

    /// Whether the processor's own cores have an engine for it, which is measured beside the rungs.
    fn has_engine(&self) -> bool {
        false
    }

    /// Launches that reach every barrier and branch of its kernels.
    fn cases(&self) -> Vec<Case>;

    /// Kernels that are no rungs and can be explained as well.
    fn others(&self) -> &'static [Other] {
        &[]
    }
}

/// What a problem is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// To be timed.
    Measure {
        /// In the simulator, where it takes longer.
        simulated: bool,
    },
    /// To have its accesses counted: so large that a last block with less work hardly shows in the figures, and so small that
    /// it takes seconds.
    Explain,
}

/// A kernel that is no rung, to be run by itself.
pub struct Other {
    /// What it is called beside the rungs.
    pub name: &'static str,
    /// What it is for, in a sentence.
    pub idea: &'static str,
    /// Its kernels, by the names of their functions.
    pub families: &'static [&'static str],
    /// The size that it is run on where none is given.
    pub shape: Shape,
    /// Runs it.
    pub run: fn(&Device, Shape, &Options) -> Result<(), WorkbenchError>,
}

/// A fact about a problem, under its name in JSON.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(untagged))]
pub enum Fact {
    /// A number of things.
    Count(u64),
    /// A number.
    Number(f64),
    /// A name.
    Name(&'static str),
    /// Whether something holds.
    Flag(bool),
}

/// A problem: what is to be computed, of which size and on which data.
pub trait Problem: Send + Sync {
    /// What it is in words, such as "reduce, sum of f32, n = 1000".
    fn title(&self) -> String;

    /// Its properties under their names in JSON: sizes, type, operator and the like.
    fn facts(&self) -> Vec<(&'static str, Fact)>;

    /// What is worth saying of it beside its size, its type and its operator, such as "inclusive".
    fn detail(&self) -> Option<String> {
        None
    }

    /// The number of units that figures are per: elements, or cell updates.
    fn elements(&self) -> u64;

    /// Bytes that one run has to read and write at least.
    fn bytes(&self) -> u64;

    /// Bytes of device memory that inputs, outputs and the temporary storage of `rungs` take.
    fn memory_bytes(&self, device: &Device, rungs: &[&Rung]) -> u64;

    /// Whether the rung takes it on this device.
    ///
    /// # Errors
    /// [`AlgorithmError::NotBuilt`] says what the rung offers instead.
    fn check(&self, device: &Device, rung: &Rung) -> Result<(), WorkbenchError>;

    /// What runs where no rung is named: the fastest one for its type, operator and size on the device. Two where that depends on
    /// how it is run, too.
    fn fastest(&self, device: &Device) -> Vec<&'static Rung>;

    /// Whether the rung is one of the [`fastest`](Self::fastest).
    fn is_best(&self, device: &Device, rung: &Rung) -> bool {
        self.fastest(device).iter().any(|best| best.name == rung.name)
    }

    /// Whether the rung is worth the time that a benchmark of this size takes.
    fn is_worth_measuring(&self, _device: &Device, _rung: &Rung) -> bool {
        true
    }

    /// Its inputs, on a device.
    ///
    /// # Errors
    /// When device or host have too little memory.
    fn inputs(&self, device: &Device) -> Result<Box<dyn Inputs + '_>, WorkbenchError>;

    /// The problem on the processor's own cores.
    ///
    /// # Errors
    /// [`WorkbenchError::Options`] where there is no [engine](Algorithm::has_engine); when the host has too little memory.
    fn engine(&self) -> Result<Box<dyn Engine>, WorkbenchError> {
        Err(WorkbenchError::Options(format!("{} is computed by kernels alone", self.title())))
    }

    /// The rung on inputs that are split over the members of a team.
    ///
    /// # Errors
    /// [`WorkbenchError::Options`] where there is no such work; as for [`check`](Self::check); when a device or the host has too
    /// little memory.
    fn split<'a>(&'a self, _team: &'a Team<'a>, _rung: &Rung) -> Result<Box<dyn SplitWork + 'a>, WorkbenchError> {
        Err(WorkbenchError::Options(format!("{} runs on one device, of one process", self.title())))
    }
}

/// A problem that the processor's own cores compute, without a kernel.
pub trait Engine {
    /// What it computes with, such as "AVX-512, 2 threads".
    fn setting(&self) -> String;

    /// Makes so many more of the problem's steps, such as generations.
    fn run(&mut self, steps: u64);
}

/// The inputs of a problem on a device, and memory for its result.
pub trait Inputs {
    /// Makes a rung ready to run on them.
    ///
    /// # Errors
    /// [`AlgorithmError::NotBuilt`] as for [`Problem::check`]; no memory for what the rung needs.
    fn prepare<'a>(&'a mut self, rung: &Rung) -> Result<Box<dyn Prepared + 'a>, WorkbenchError>;
}

/// A rung ready to run: a run allocates nothing.
pub trait Prepared: Resources {
    /// Runs it, where `queue` is: on the device, or in a graph that is being recorded.
    ///
    /// # Errors
    /// Whatever prevents a launch.
    fn run(&mut self, queue: Queue<'_>) -> Result<(), WorkbenchError>;

    /// Makes inputs and result as they were before the first run, so that what an earlier run left cannot pass for a result.
    ///
    /// # Errors
    /// When the device fails.
    fn refresh(&mut self) -> Result<(), WorkbenchError>;

    /// Compares the result of one run on fresh inputs with the reference.
    ///
    /// # Errors
    /// When a launch made before failed.
    fn compare(&mut self) -> Result<Deviation, WorkbenchError>;

    /// Runs it on fresh inputs and compares the result with the reference.
    ///
    /// # Errors
    /// As for [`run`](Self::run) and [`compare`](Self::compare).
    fn verify(&mut self, device: &Device) -> Result<Deviation, WorkbenchError> {
        self.refresh()?;
        self.run(device.queue())?;
        self.compare()
    }

    /// Bytes of its temporary storage.
    fn workspace_bytes(&self) -> u64;

    /// How many of the problem's steps a run makes, such as generations.
    fn steps(&self) -> u64 {
        1
    }

    /// Makes each run take more steps, if it can: a longer run is timed more precisely.
    fn lengthen(&mut self) {}

    /// Whether a benchmark also times a series of calls, launched one after the other.
    fn is_for_series(&self) -> bool {
        false
    }

    /// Allocates memory for so many further calls, each with memory of its own, so that none finds its data in a cache.
    ///
    /// # Errors
    /// When the device has too little memory.
    fn make_sets(&mut self, _sets: usize) -> Result<(), WorkbenchError> {
        Ok(())
    }

    /// As [`run`](Self::run), on one of the sets that [`make_sets`](Self::make_sets) made.
    ///
    /// # Errors
    /// As for [`run`](Self::run).
    fn run_set(&mut self, _set: usize, queue: Queue<'_>) -> Result<(), WorkbenchError> {
        self.run(queue)
    }
}

impl Resources for Box<dyn Prepared + '_> {
    fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
        (**self).hold(held);
    }
}

/// The rung of the ladder `L` that this is the description of.
pub(crate) fn rung_of<L: Ladder>(rung: &Rung) -> Result<L, WorkbenchError> {
    Ok(rung.name.parse::<L>()?)
}

/// Whether one of the kernels of the rung is the one that `entry` is of.
pub fn launches(rung: &Rung, entry: &KernelInfo) -> bool {
    rung.families.contains(&entry.family)
}
