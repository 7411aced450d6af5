//! The traits through which the program measures, benchmarks, explains and checks any algorithm.
//!
//! An [`Algorithm`] turns options into a [`Problem`]. A problem makes [`Inputs`] on a device, and inputs make a
//! [`PreparedRung`]. A prepared rung runs on a queue: a device, or a graph that is being recorded.
//!
//! # Design
//!
//! The program uses only these four traits: it has no list of algorithms. A problem chooses the functions of its
//! element type once, when it is made.
//!
//! References are simple, and use higher precision for floats. A benchmark row is marked if its rung is the default.
//! The algorithm's `measurements()` have the targets of that rung, so a new rung needs no change in the tables.

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

/// An algorithm: its ladder, options, measurements and cases.
pub trait Algorithm: Send + Sync {
    /// Returns its name, which is also that of its folder, its command and its PTX module.
    fn name(&self) -> &'static str {
        self.rungs().first().map_or("", |rung| rung.algorithm)
    }

    /// Returns the rungs of its ladder, the simplest first.
    fn rungs(&self) -> &'static [Rung];

    /// Returns the help of its command: a line, an empty line, and a paragraph about what it measures and when a result
    /// is right.
    fn about(&self) -> &'static str;

    /// Returns its options other than the size and the seed.
    fn options(&self) -> &'static [ProblemOption];

    /// Returns the element types that some rung is built for.
    fn types(&self) -> Vec<NumberType> {
        capabilities::types(self.rungs())
    }

    /// Returns the default size of a problem for `rung`, or for all rungs.
    fn default_shape(&self, rung: Option<&Rung>, purpose: Purpose) -> Shape {
        let n = match purpose {
            Purpose::Explain => 1 << 18,
            Purpose::Measure { simulated: true } => 1 << 18,
            Purpose::Measure { simulated: false } => 1 << 26,
        };
        Shape::Vector(rung.and_then(Rung::max_elements).map_or(n, |max| n.min(max)))
    }

    /// Returns the problem of that size with these options.
    ///
    /// # Errors
    /// [`WorkbenchError::Options`] if the options are invalid.
    fn problem(&self, shape: Shape, options: &Options) -> Result<Box<dyn Problem>, WorkbenchError>;

    /// Returns the unit of its sizes.
    fn unit(&self) -> Unit {
        Unit::Elements
    }

    /// Returns true if the rung `_rung` is a yardstick for the others, and not a step of the ladder.
    fn is_yardstick(&self, _rung: &str) -> bool {
        false
    }

    /// Returns the measurements of a benchmark.
    fn measurements(&self) -> Vec<Measurement>;

    /// Returns the measurements of a benchmark on several devices, by the default rung. Empty if it runs on one device
    /// only.
    fn scaling_measurements(&self) -> Vec<ScalingMeasurement> {
        Vec::new()
    }

    /// Returns true if it has a CPU engine, which is measured beside the rungs.
    fn has_engine(&self) -> bool {
        false
    }

    /// Returns the kernels that are not rungs but can be explained.
    fn others(&self) -> &'static [Other] {
        &[]
    }
}

/// The purpose of a problem, which decides its default size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// A measurement of the time.
    Measure {
        /// True in the simulator, where a run takes longer.
        simulated: bool,
    },
    /// A count of its accesses. The size is large enough that a last block with less work hardly shows, and small
    /// enough to take seconds.
    Explain,
}

/// A kernel that is not a rung and runs by itself.
pub struct Other {
    /// Its name, which differs from those of the rungs.
    pub name: &'static str,
    /// Its purpose, in a sentence.
    pub idea: &'static str,
    /// The names of its kernel functions.
    pub families: &'static [&'static str],
    /// Its default size.
    pub shape: Shape,
    /// Runs it.
    pub run: fn(&Device, Shape, &Options) -> Result<(), WorkbenchError>,
}

/// The value of a property of a problem, as in JSON.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
#[serde(untagged)]
pub enum Fact {
    /// A count.
    Count(u64),
    /// A number.
    Number(f64),
    /// A name.
    Name(&'static str),
    /// A flag.
    Flag(bool),
}

/// A problem: a computation of a certain size on certain data.
pub trait Problem: Send + Sync {
    /// Returns its description, such as "reduce, sum of f32, n = 1000".
    fn title(&self) -> String;

    /// Returns its properties, such as size, type and operator, under their names in JSON.
    fn facts(&self) -> Vec<(&'static str, Fact)>;

    /// Returns a property other than size, type and operator, such as "inclusive".
    fn detail(&self) -> Option<String> {
        None
    }

    /// Returns the number of elements or cell updates that figures refer to.
    fn elements(&self) -> u64;

    /// Returns the bytes that a run must at least read and write.
    fn bytes(&self) -> u64;

    /// Returns the bytes of device memory of the inputs, the outputs and the largest temporary storage of `rungs`.
    fn memory_bytes(&self, device: &Device, rungs: &[&Rung]) -> u64;

    /// Checks that the rung supports it on this device.
    ///
    /// # Errors
    /// [`AlgorithmError::NotBuilt`](gridstride::AlgorithmError::NotBuilt) if it does not.
    fn check(&self, device: &Device, rung: &Rung) -> Result<(), WorkbenchError>;

    /// Returns the rung that runs by default: the fastest for the type, the operator and the size on the device. Life
    /// has two: for a single generation and for many.
    fn default_rungs(&self, device: &Device) -> Vec<&'static Rung>;

    /// Returns true if the rung is one of the [default rungs](Self::default_rungs).
    fn is_default_rung(&self, device: &Device, rung: &Rung) -> bool {
        self.default_rungs(device).contains(&rung)
    }

    /// Returns true if a benchmark measures the rung at this size. Very slow rungs are left out.
    fn is_worth_measuring(&self, _device: &Device, _rung: &Rung) -> bool {
        true
    }

    /// Makes its inputs on a device.
    ///
    /// # Errors
    /// If the device or the host has too little memory.
    fn inputs(&self, device: &Device) -> Result<Box<dyn Inputs + '_>, WorkbenchError>;

    /// Makes the CPU engine for the problem.
    ///
    /// # Errors
    /// [`WorkbenchError::Options`] if there is no [engine](Algorithm::has_engine); an error if the host has too little
    /// memory.
    fn engine(&self) -> Result<Box<dyn Engine>, WorkbenchError> {
        invalid!("{} has no CPU engine", self.title())
    }

    /// Makes the rung's work on inputs that are split over a team.
    ///
    /// # Errors
    /// [`WorkbenchError::Options`] if the problem cannot be split; as for [`check`](Self::check); an error if a device
    /// or the host has too little memory.
    fn split<'a>(&'a self, _team: &'a Team<'a>, _rung: &Rung) -> Result<Box<dyn SplitWork + 'a>, WorkbenchError> {
        invalid!("{} runs on one device, of one process: choose one device", self.title())
    }
}

/// A CPU engine: computes a problem on the processor's cores, without a kernel.
pub trait Engine {
    /// Returns its instructions and threads, such as "AVX-512, 2 threads".
    fn setting(&self) -> String;

    /// Runs `steps` steps of the problem, such as generations.
    fn run(&mut self, steps: u64);
}

/// The inputs of a problem on a device, and memory for its result.
pub trait Inputs {
    /// Prepares a rung to run on them.
    ///
    /// # Errors
    /// [`AlgorithmError::NotBuilt`](gridstride::AlgorithmError::NotBuilt) as for [`Problem::check`]; an error if the
    /// device has too little memory.
    fn prepare<'a>(&'a mut self, rung: &Rung) -> Result<Box<dyn PreparedRung + 'a>, WorkbenchError>;
}

/// A rung that is ready to run. A run allocates nothing.
pub trait PreparedRung: Resources {
    /// Enqueues a run on `queue`: the device, or a graph that is being recorded.
    ///
    /// # Errors
    /// The error of a launch.
    fn run(&mut self, queue: Queue<'_>) -> Result<(), WorkbenchError>;

    /// Restores the inputs and clears the result, so that an earlier result cannot pass for that of the next run.
    ///
    /// # Errors
    /// If the device fails.
    fn refresh(&mut self) -> Result<(), WorkbenchError>;

    /// Compares the result of the last run, which must be on fresh inputs, with the reference.
    ///
    /// # Errors
    /// If an earlier launch failed.
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

    /// Makes each run take more steps, if possible. A longer run can be timed more precisely.
    fn lengthen(&mut self) {}

    /// Returns true if a benchmark also times a series of calls, launched one after the other.
    fn is_for_series(&self) -> bool {
        false
    }

    /// Allocates separate memory for `_sets` further calls, so that no call finds its data in a cache.
    ///
    /// # Errors
    /// If the device has too little memory.
    fn make_sets(&mut self, _sets: usize) -> Result<(), WorkbenchError> {
        Ok(())
    }

    /// Like [`run`](Self::run), on a set of [`make_sets`](Self::make_sets).
    ///
    /// # Errors
    /// As for [`run`](Self::run).
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
