//! The traits through which the program measures, benchmarks, explains and checks any algorithm.
//!
//! An [`Algorithm`] turns options into a [`Problem`]. A problem creates [`Inputs`] on a device, and inputs create a
//! [`PreparedRung`]. A prepared rung runs on a queue, that of a device, a stream or a graph that is being recorded.
//!
//! # Design
//!
//! The program reaches all algorithms through these four traits, so the code of the commands names no algorithm. When a
//! problem is created, it selects the functions for its element type.
//!
//! The reference implementations run on the CPU. The reference implementations are simple, and compute floats with
//! higher precision than the kernels. A benchmark marks the table rows of the default rung. The targets of the default
//! rung are in the algorithm's `measurements()`, so a new rung needs no change in the code of the tables.

use cuda_std::{KernelInfo, Ladder, Rung};
use launch::{Device, Held, Queue, Resources};

use crate::deviation::Deviation;
use crate::error::{WorkbenchError, invalid};
use crate::scaling::{ScalingMeasurement, SplitWork};
use gridstride::capabilities;
use gridstride::numbers::NumberType;
use multi::team::Team;

mod measurement;
mod options;
mod shape;

pub use measurement::{Aim, Measurement, Sizes, Target, Unit};
pub use options::{Options, ProblemOption, parse_type};
pub use shape::{Shape, Size, SizeTextError};

/// An algorithm, with its ladder, options and measurements.
pub trait Algorithm: Send + Sync {
    /// Returns the algorithm's name, which is also the name of its module, its command and its PTX module.
    fn name(&self) -> &'static str {
        self.rungs().first().map_or("", |rung| rung.algorithm)
    }

    /// Returns the rungs of the algorithm's ladder, the simplest first.
    fn rungs(&self) -> &'static [Rung];

    /// Returns the help text of the algorithm's command: a line, an empty line, and a paragraph. The paragraph says
    /// what the command measures and which results are correct.
    fn about(&self) -> &'static str;

    /// Returns the algorithm's options other than the size and the seed.
    fn options(&self) -> &'static [ProblemOption];

    /// Returns the element types that at least one rung is built for.
    fn types(&self) -> Vec<NumberType> {
        capabilities::types(self.rungs())
    }

    /// Returns the default element type of problems for `_rung`, or `None` if it is that of the option `type`.
    fn default_type(&self, _rung: &Rung) -> Option<NumberType> {
        None
    }

    /// Returns the default values of the options for `rung`, or for all rungs if `rung` is `None`.
    fn default_options(&self, rung: Option<&Rung>) -> Options {
        let mut options = Options::defaults(self.options());
        if let Some(number) = rung.and_then(|rung| self.default_type(rung)) {
            options.set(ProblemOption::NUMBER.name, number.name());
        }
        options
    }

    /// Returns the default size of a problem for `rung`, or for all rungs if `rung` is `None`.
    fn default_shape(&self, rung: Option<&Rung>, purpose: Purpose) -> Shape {
        let n = match purpose {
            Purpose::Explain => 1 << 18,
            Purpose::Measure { simulated: true } => 1 << 18,
            Purpose::Measure { simulated: false } => 1 << 26,
        };
        Shape::Vector(rung.and_then(Rung::max_elements).map_or(n, |max| n.min(max)))
    }

    /// Returns the problem of size `shape` with these options.
    ///
    /// # Errors
    /// [`WorkbenchError::Options`] if the options are invalid.
    fn problem(&self, shape: Shape, options: &Options) -> Result<Box<dyn Problem>, WorkbenchError>;

    /// Returns the unit of the algorithm's sizes.
    fn unit(&self) -> Unit {
        Unit::Elements
    }

    /// Returns true if `_rung` names a baseline for comparison, and false if it names a step of the ladder.
    fn is_yardstick(&self, _rung: &str) -> bool {
        false
    }

    /// Returns the measurements that a benchmark makes of the algorithm.
    fn measurements(&self) -> Vec<Measurement>;

    /// Returns the measurements that a benchmark makes of the default rung on several devices. Returns an empty list if
    /// the algorithm runs on one device only.
    fn scaling_measurements(&self) -> Vec<ScalingMeasurement> {
        Vec::new()
    }

    /// Returns true if the algorithm has a CPU engine, which a benchmark measures in addition to the rungs.
    fn has_engine(&self) -> bool {
        false
    }

    /// Returns the algorithm's kernels that are not rungs but can be explained.
    fn others(&self) -> &'static [Other] {
        &[]
    }
}

/// The purpose of a problem, which decides its default size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// A command measures the time of the problem.
    Measure {
        /// True if the problem runs in the simulator. A run takes longer there than on a GPU.
        simulated: bool,
    },
    /// `host explain` counts the problem's accesses in the simulator. The default size is so large that a last block
    /// with less work hardly changes the figures, and so small that a run takes seconds.
    Explain,
}

/// A kernel that is not a rung but can be launched and explained separately.
pub struct Other {
    /// The kernel's name, which differs from the names of all rungs.
    pub name: &'static str,
    /// The kernel's purpose, in a sentence.
    pub idea: &'static str,
    /// The names of the kernel functions that `run` launches.
    pub families: &'static [&'static str],
    /// The default size of the problem.
    pub shape: Shape,
    /// The names and values of the options that select the kernel.
    pub options: &'static [(&'static str, &'static str)],
    /// Runs the kernel on a problem of the given size.
    pub run: fn(&Device, Shape, &Options) -> Result<(), WorkbenchError>,
}

/// The value of a property of a problem, as JSON shows it.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
#[serde(untagged)]
pub enum Fact {
    /// A whole number, such as a size.
    Count(u64),
    /// A floating-point number, such as a factor.
    Number(f64),
    /// A text, such as the name of a type.
    Name(&'static str),
    /// A truth value, such as the flag `exclusive`.
    Flag(bool),
}

/// A problem: a computation of a certain size on certain data.
pub trait Problem: Send + Sync {
    /// Returns a description of the problem, such as "reduce, sum of f32, n = 1000".
    fn title(&self) -> String;

    /// Returns the problem's properties, such as size, type and operator, with their names in JSON.
    fn facts(&self) -> Vec<(&'static str, Fact)>;

    /// Returns a detail in addition to size, type and operator, such as "inclusive".
    fn detail(&self) -> Option<String> {
        None
    }

    /// Returns the number of elements or cell updates. Figures per element are totals divided by this number.
    fn elements(&self) -> u64;

    /// Returns the number of bytes that every run must at least read and write.
    fn bytes(&self) -> u64;

    /// Returns the number of additions and multiplications of a run, if the speed of the rungs is measured by them.
    fn operations(&self) -> Option<u64> {
        None
    }

    /// Returns the number of bytes of device memory for the inputs, the outputs and the largest temporary storage of
    /// `rungs`.
    fn memory_bytes(&self, device: &Device, rungs: &[&Rung]) -> u64;

    /// Checks that the rung supports the problem on this device.
    ///
    /// # Errors
    /// [`AlgorithmError::NotBuilt`](gridstride::AlgorithmError::NotBuilt) if the rung does not support the problem.
    fn check(&self, device: &Device, rung: &Rung) -> Result<(), WorkbenchError>;

    /// Returns the rung that runs by default: the fastest one for the type, operator, size and device. Life has two
    /// default rungs: one for a single generation and one for many.
    fn default_rungs(&self, device: &Device) -> Vec<&'static Rung>;

    /// Returns true if the rung is one of the [default rungs](Self::default_rungs).
    fn is_default_rung(&self, device: &Device, rung: &Rung) -> bool {
        self.default_rungs(device).contains(&rung)
    }

    /// Returns true if a benchmark measures the rung at this size. Very slow rungs are left out.
    fn is_worth_measuring(&self, _device: &Device, _rung: &Rung) -> bool {
        true
    }

    /// Creates the problem's inputs on a device.
    ///
    /// # Errors
    /// An error if the device or the host has too little memory.
    fn inputs(&self, device: &Device) -> Result<Box<dyn Inputs + '_>, WorkbenchError>;

    /// Creates the CPU engine for the problem.
    ///
    /// # Errors
    /// [`WorkbenchError::Options`] if the algorithm has no [engine](Algorithm::has_engine); an error if the host has
    /// too little memory.
    fn engine(&self) -> Result<Box<dyn Engine>, WorkbenchError> {
        invalid!("{} has no CPU engine", self.title())
    }

    /// Prepares the rung's work on inputs that are split over a team of devices.
    ///
    /// # Errors
    /// [`WorkbenchError::Options`] if the problem cannot be split; the errors of [`check`](Self::check); an error if a
    /// device or the host has too little memory.
    fn split<'a>(&'a self, _team: &'a Team<'a>, _rung: &Rung) -> Result<Box<dyn SplitWork + 'a>, WorkbenchError> {
        invalid!("{} runs on one device of one process: choose one device", self.title())
    }
}

/// A CPU engine, which computes a problem on the processor's cores without a kernel.
pub trait Engine {
    /// Returns the instruction set and the number of threads, such as "AVX-512, 2 threads".
    fn setting(&self) -> String;

    /// Runs `steps` steps of the problem, such as generations.
    fn run(&mut self, steps: u64);
}

/// The inputs of a problem on a device, and memory for its result.
pub trait Inputs {
    /// Prepares a rung to run on these inputs.
    ///
    /// # Errors
    /// The errors of [`Problem::check`], and an error if the device has too little memory.
    fn prepare<'a>(&'a mut self, rung: &Rung) -> Result<Box<dyn PreparedRung + 'a>, WorkbenchError>;
}

/// A rung that is ready to run on its inputs. A run allocates no memory.
pub trait PreparedRung: Resources {
    /// Enqueues a run on `queue`, the queue of a device, a stream or a graph that is being recorded.
    ///
    /// # Errors
    /// The error of a launch, if one fails.
    fn run(&mut self, queue: Queue<'_>) -> Result<(), WorkbenchError>;

    /// Restores the inputs and clears the result, so that a run that writes no result is noticed.
    ///
    /// # Errors
    /// An error if the device fails.
    fn refresh(&mut self) -> Result<(), WorkbenchError>;

    /// Compares the result of the last run with the reference. That run must have started from fresh inputs, as after a
    /// [`refresh`](Self::refresh).
    ///
    /// # Errors
    /// An error if an earlier launch failed.
    fn compare(&mut self) -> Result<Deviation, WorkbenchError>;

    /// Runs the rung on fresh inputs and compares the result with the reference.
    ///
    /// # Errors
    /// The errors of [`run`](Self::run) and [`compare`](Self::compare).
    fn verify(&mut self, device: &Device) -> Result<Deviation, WorkbenchError> {
        self.refresh()?;
        self.run(device.queue())?;
        self.compare()
    }

    /// Returns the number of bytes of the rung's temporary storage.
    fn workspace_bytes(&self) -> u64;

    /// Returns the number of the problem's steps, such as generations, per run.
    fn steps(&self) -> u64 {
        1
    }

    /// Increases the number of steps per run, if possible, because a longer run can be timed more precisely.
    fn lengthen(&mut self) {}

    /// Returns true if a benchmark also times a series of calls that are launched one after the other.
    fn is_for_series(&self) -> bool {
        false
    }

    /// Allocates `_sets` additional sets of inputs and outputs, so that no call of a series finds its data in a cache.
    ///
    /// # Errors
    /// An error if the device has too little memory.
    fn make_sets(&mut self, _sets: usize) -> Result<(), WorkbenchError> {
        Ok(())
    }

    /// Like [`run`](Self::run), but on one of the sets that [`make_sets`](Self::make_sets) allocated.
    ///
    /// # Errors
    /// The errors of [`run`](Self::run).
    fn run_set(&mut self, _set: usize, queue: Queue<'_>) -> Result<(), WorkbenchError> {
        self.run(queue)
    }
}

impl Resources for Box<dyn PreparedRung + '_> {
    fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
        (**self).hold(held);
    }
}

/// Returns the rung of the ladder `L` that `rung` describes.
///
/// # Errors
/// [`WorkbenchError::Algorithm`] if the rung belongs to another ladder.
pub(crate) fn rung_of<L: Ladder>(rung: &Rung) -> Result<L, WorkbenchError> {
    Ok(L::of(rung)?)
}

/// Returns true if `entry` is an instance of one of the rung's kernels.
pub fn launches(rung: &Rung, entry: &KernelInfo) -> bool {
    rung.families.contains(&entry.family)
}
