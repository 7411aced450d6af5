//! The traits by which any algorithm is measured, benchmarked, explained and checked, without knowing which one it is.
//!
//! An [`Algorithm`] turns options into a [`Problem`]; that makes [`Inputs`] on a device, on which a rung is
//! [`Prepared`] and run, in a queue: at once, or in a graph.
//!
//! # Design
//!
//! The program measures, benchmarks, explains and checks by these four traits alone: it has no list of algorithms. The
//! macro `with_number!` chooses the element type once, where a problem is made; nothing behind the traits looks at a
//! type's name.
//!
//! References are plain, and in higher precision for floats. A benchmark row says whether its rung is the default, and
//! the algorithm's `works()` state what that rung is to reach, so a new rung needs no change in the tables.

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
    /// Returns its name, which its folder, its command and its PTX module have, too.
    fn name(&self) -> &'static str;

    /// Returns the rungs of its ladder, the plainest first.
    fn rungs(&self) -> &'static [Rung];

    /// Returns the help of its command: what it measures and when a result is right, as a line, an empty line and a
    /// paragraph.
    fn about(&self) -> &'static str;

    /// Returns the options beside the size and the seed.
    fn options(&self) -> &'static [ProblemOption];

    /// Returns the element types that some rung is built for.
    fn types(&self) -> Vec<NumberType> {
        capabilities::types(self.rungs())
    }

    /// Returns the default size of a problem, for `rung` or for all rungs.
    fn default_shape(&self, rung: Option<&Rung>, purpose: Purpose) -> Shape {
        let n = match purpose {
            Purpose::Explain => 1 << 18,
            Purpose::Measure { simulated: true } => 1 << 18,
            Purpose::Measure { simulated: false } => 1 << 26,
        };
        Shape::Vector(rung.and_then(Rung::max_elements).map_or(n, |most| n.min(most)))
    }

    /// Returns the problem of that size with these options.
    ///
    /// # Errors
    /// [`WorkbenchError::Options`] for options that make no problem.
    fn problem(&self, shape: Shape, options: &Options) -> Result<Box<dyn Problem>, WorkbenchError>;

    /// Returns the unit in which the sizes of its inputs are counted.
    fn unit(&self) -> Unit {
        Unit::Elements
    }

    /// Returns whether the rung of that name is a yardstick for the others, and not a step of the ladder.
    fn is_yardstick(&self, _rung: &str) -> bool {
        false
    }

    /// Returns the measurements of a benchmark.
    fn works(&self) -> Vec<Work>;

    /// Returns the measurements of a benchmark on several devices, by its default rung; empty if it runs on one device
    /// alone.
    fn scaling_works(&self) -> Vec<ScalingWork> {
        Vec::new()
    }

    /// Returns whether a CPU engine exists for it, which is measured beside the rungs.
    fn has_engine(&self) -> bool {
        false
    }

    /// Returns launches that reach every barrier and branch of its kernels.
    fn cases(&self) -> Vec<Case>;

    /// Returns the kernels that are not rungs but can be explained as well.
    fn others(&self) -> &'static [Other] {
        &[]
    }
}

/// The purpose of a problem, which decides its default size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// To be timed.
    Measure {
        /// In the simulator, where it takes longer.
        simulated: bool,
    },
    /// To have its accesses counted: so large that a last block with less work hardly shows in the figures, and so
    /// small that it takes seconds.
    Explain,
}

/// A kernel that is no rung, to be run by itself.
pub struct Other {
    /// Its name, beside those of the rungs.
    pub name: &'static str,
    /// Its purpose, in a sentence.
    pub idea: &'static str,
    /// Its kernels, by the names of their functions.
    pub families: &'static [&'static str],
    /// The size that it is run on where none is given.
    pub shape: Shape,
    /// Runs it.
    pub run: fn(&Device, Shape, &Options) -> Result<(), WorkbenchError>,
}

/// A fact about a problem, under its name in JSON.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
#[serde(untagged)]
pub enum Fact {
    /// A number of things.
    Count(u64),
    /// A number.
    Number(f64),
    /// A name.
    Name(&'static str),
    /// True or false.
    Flag(bool),
}

/// A problem: what is to be computed, of which size and on which data.
pub trait Problem: Send + Sync {
    /// Returns its description, such as "reduce, sum of f32, n = 1000".
    fn title(&self) -> String;

    /// Returns its properties under their names in JSON: sizes, type, operator and the like.
    fn facts(&self) -> Vec<(&'static str, Fact)>;

    /// Returns what distinguishes it beside its size, type and operator, such as "inclusive".
    fn detail(&self) -> Option<String> {
        None
    }

    /// Returns the number of elements, or of cell updates, to which figures refer.
    fn elements(&self) -> u64;

    /// Returns the bytes that one run must read and write at least.
    fn bytes(&self) -> u64;

    /// Returns the bytes of device memory of the inputs, the outputs and the largest temporary storage of `rungs`.
    fn memory_bytes(&self, device: &Device, rungs: &[&Rung]) -> u64;

    /// Checks that the rung solves it on this device.
    ///
    /// # Errors
    /// [`AlgorithmError::NotBuilt`](gridstride::AlgorithmError::NotBuilt) says what the rung offers instead.
    fn check(&self, device: &Device, rung: &Rung) -> Result<(), WorkbenchError>;

    /// Returns the rung that runs by default: the fastest for the type, the operator and the size on the device.
    /// Returns two if the choice also depends on how the problem is run.
    fn default_rungs(&self, device: &Device) -> Vec<&'static Rung>;

    /// Returns whether the rung is one of the [default rungs](Self::default_rungs).
    fn is_default_rung(&self, device: &Device, rung: &Rung) -> bool {
        self.default_rungs(device).contains(&rung)
    }

    /// Returns whether the rung is worth the time that a benchmark of this size takes.
    fn is_worth_measuring(&self, _device: &Device, _rung: &Rung) -> bool {
        true
    }

    /// Returns its inputs, on a device.
    ///
    /// # Errors
    /// When device or host have too little memory.
    fn inputs(&self, device: &Device) -> Result<Box<dyn Inputs + '_>, WorkbenchError>;

    /// Returns the problem for the CPU engine.
    ///
    /// # Errors
    /// [`WorkbenchError::Options`] where there is no [engine](Algorithm::has_engine); when the host has too little
    /// memory.
    fn engine(&self) -> Result<Box<dyn Engine>, WorkbenchError> {
        Err(WorkbenchError::Options(format!("{} is computed by kernels alone", self.title())))
    }

    /// Returns the rung's work on inputs that are split over the members of a team.
    ///
    /// # Errors
    /// [`WorkbenchError::Options`] where there is no such work; as for [`check`](Self::check); when a device or the
    /// host has too little memory.
    fn split<'a>(&'a self, _team: &'a Team<'a>, _rung: &Rung) -> Result<Box<dyn SplitWork + 'a>, WorkbenchError> {
        Err(WorkbenchError::Options(format!("{} runs on one device, of one process", self.title())))
    }
}

/// A problem that the processor's own cores compute, without a kernel.
pub trait Engine {
    /// Returns the instructions and threads that it computes with, such as "AVX-512, 2 threads".
    fn setting(&self) -> String;

    /// Advances by `steps` of the problem's steps, such as generations.
    fn run(&mut self, steps: u64);
}

/// The inputs of a problem on a device, and memory for its result.
pub trait Inputs {
    /// Makes a rung ready to run on them.
    ///
    /// # Errors
    /// [`AlgorithmError::NotBuilt`](gridstride::AlgorithmError::NotBuilt) as for [`Problem::check`]; no memory for what
    /// the rung needs.
    fn prepare<'a>(&'a mut self, rung: &Rung) -> Result<Box<dyn Prepared + 'a>, WorkbenchError>;
}

/// A rung ready to run: a run allocates nothing.
pub trait Prepared: Resources {
    /// Enqueues a run in `queue`: on the device, or in a graph that is being recorded.
    ///
    /// # Errors
    /// Whatever prevents a launch.
    fn run(&mut self, queue: Queue<'_>) -> Result<(), WorkbenchError>;

    /// Restores the inputs and clears the result, so that an earlier result cannot pass for that of the next run.
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

    /// Returns the bytes of its temporary storage.
    fn workspace_bytes(&self) -> u64;

    /// Returns the number of the problem's steps per run, such as generations.
    fn steps(&self) -> u64 {
        1
    }

    /// Makes each run take more steps, if it can: a longer run is timed more precisely.
    fn lengthen(&mut self) {}

    /// Returns whether a benchmark also times a series of calls, launched one after the other.
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

/// Returns the rung of the ladder `L` that this is the description of.
///
/// # Errors
/// [`WorkbenchError::Algorithm`] for a rung of another ladder.
pub(crate) fn rung_of<L: Ladder>(rung: &Rung) -> Result<L, WorkbenchError> {
    Ok(L::of(rung)?)
}

/// Returns whether `entry` is an instance of one of the rung's kernels.
pub fn launches(rung: &Rung, entry: &KernelInfo) -> bool {
    rung.families.contains(&entry.family)
}
