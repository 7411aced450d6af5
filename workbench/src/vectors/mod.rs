//! Problems on vectors, with their inputs and prepared rungs, for every element type.
//!
//! # Design
//!
//! The element type of a problem on vectors is a [`NumberType`]. The elements of a [`DeviceVector`] or a [`HostVector`]
//! may have any type. Where elements are read or written, the macro `typed!` selects the functions for the type. The
//! traits [`Problem`], [`Inputs`] and [`PreparedRung`] are therefore implemented only once for all algorithms and
//! types. An algorithm implements [`VectorProblem`] and [`Computation`].

use cuda_std::{ArgumentId, Rung};
use launch::{Device, Held, Queue, Resources};

use crate::algorithm::{Fact, Inputs, PreparedRung, Problem};
use crate::deviation::Deviation;
use crate::error::{WorkbenchError, invalid};
use crate::scaling::SplitWork;
use gridstride::capabilities;
use gridstride::numbers::NumberType;
use multi::team::Team;

/// `typed!(number, [f32 f64], T => body)` evaluates `body` with `T` as the type `number`. `body` is a `Result`; for a
/// type that is not listed, the macro evaluates to an error.
macro_rules! typed {
    ($number:expr, [$($type:ident)+], $T:ident => $body:expr) => {
        gridstride::numbers::with_number!($number, [$($type)+], $T => $body, _ => {
            Err($crate::vectors::wrong_type($number))
        })
    };
}

pub(crate) use memory::{DeviceVector, HostVector, Layout};
pub(crate) use typed;

mod memory;

/// Returns the error for an element type that an algorithm does not have.
pub(crate) fn wrong_type(number: NumberType) -> WorkbenchError {
    WorkbenchError::Options(format!("the algorithm has no element type '{number}'"))
}

/// The layouts of a problem's vectors: x, which is read, and y, which is written.
#[derive(Clone, Copy)]
pub(crate) struct Layouts {
    pub(crate) x: Layout,
    pub(crate) y: Layout,
    /// The number of elements that a run must read or write, per element of x.
    pub(crate) accesses: u64,
}

/// A problem that computes an output vector y from an input vector x.
pub(crate) trait VectorProblem: Send + Sync {
    /// Returns the problem's title, without the index in the buffers at which the vectors begin.
    fn heading(&self) -> String;

    /// Returns the problem's properties, without the index in the buffers at which the vectors begin.
    fn properties(&self) -> Vec<(&'static str, Fact)>;

    /// Returns the text for [`Problem::detail`].
    fn distinction(&self) -> Option<String> {
        None
    }

    /// Returns the rungs of the algorithm's ladder.
    fn ladder(&self) -> &'static [Rung];

    /// Returns the generic arguments of the kernel instances.
    fn instance(&self) -> Vec<ArgumentId> {
        vec![self.layouts().x.number.id()]
    }

    fn layouts(&self) -> Layouts;

    /// Implements [`Problem::bytes`].
    fn moved_bytes(&self) -> u64 {
        let Layouts { x, accesses, .. } = self.layouts();
        (x.len as u64).saturating_mul(accesses * x.number.bytes() as u64)
    }

    /// Implements [`Problem::operations`].
    fn counted_operations(&self) -> Option<u64> {
        None
    }

    /// Returns the number of bytes of a rung's temporary storage.
    fn workspace_bytes(&self, _device: &Device, _rung: &Rung) -> u64 {
        0
    }

    /// Implements [`Problem::check`].
    fn supports(&self, _device: &Device, rung: &Rung) -> Result<(), WorkbenchError> {
        Ok(capabilities::check_rung(rung, self.ladder(), &self.instance(), self.layouts().x.len)?)
    }

    /// Returns the rung that runs by default: the last one that is built for the problem's types.
    fn default_rung(&self, _device: &Device) -> &'static Rung {
        let (ladder, instance) = (self.ladder(), self.instance());
        ladder.iter().rfind(|rung| rung.entry(&instance).is_some()).unwrap_or(&ladder[ladder.len() - 1])
    }

    /// Fills `x` with the input for measurements, or with the exact input if `is_exact` is true.
    fn fill(&self, is_exact: bool, x: &mut HostVector) -> Result<(), WorkbenchError>;

    /// Returns true if the problem also has an exact input, whose result does not round.
    fn has_exact_input(&self) -> bool {
        false
    }

    /// Creates the rung's computation on the device.
    fn computation(&self, device: &Device, rung: &Rung) -> Result<Box<dyn Computation + '_>, WorkbenchError>;

    /// Implements [`Problem::split`].
    fn on_team<'a>(&'a self, _team: &'a Team<'a>, _rung: &Rung) -> Result<Box<dyn SplitWork + 'a>, WorkbenchError> {
        invalid!("{} runs on one device of one process: choose one device", self.heading())
    }
}

impl<P: VectorProblem> Problem for P {
    fn title(&self) -> String {
        match self.layouts().x.from {
            0 => self.heading(),
            from => format!("{}, from element {from}", self.heading()),
        }
    }

    fn facts(&self) -> Vec<(&'static str, Fact)> {
        let from = self.layouts().x.from;
        let from = (from > 0).then_some(("from", Fact::Count(from as u64)));
        self.properties().into_iter().chain(from).collect()
    }

    fn detail(&self) -> Option<String> {
        self.distinction()
    }

    fn elements(&self) -> u64 {
        self.layouts().x.len as u64
    }

    fn bytes(&self) -> u64 {
        self.moved_bytes()
    }

    fn operations(&self) -> Option<u64> {
        self.counted_operations()
    }

    fn memory_bytes(&self, device: &Device, rungs: &[&Rung]) -> u64 {
        let Layouts { x, y, .. } = self.layouts();
        let bytes = |vector: Layout| (vector.len as u64).saturating_mul(vector.number.bytes() as u64);
        let workspace = rungs.iter().map(|rung| self.workspace_bytes(device, rung)).max();
        bytes(x).saturating_add(bytes(y)).saturating_add(workspace.unwrap_or(0))
    }

    fn check(&self, device: &Device, rung: &Rung) -> Result<(), WorkbenchError> {
        self.supports(device, rung)
    }

    fn default_rungs(&self, device: &Device) -> Vec<&'static Rung> {
        vec![self.default_rung(device)]
    }

    fn inputs(&self, device: &Device) -> Result<Box<dyn Inputs + '_>, WorkbenchError> {
        let Layouts { x, y, .. } = self.layouts();
        let host = HostVector::new(x.number, x.len)?;
        let [x, y] = [DeviceVector::new(device, x)?, DeviceVector::new(device, y)?];
        let mut inputs = VectorInputs { device: device.clone(), problem: self, x, y, host };
        inputs.fill(false)?;
        Ok(Box::new(inputs))
    }

    fn split<'a>(&'a self, team: &'a Team<'a>, rung: &Rung) -> Result<Box<dyn SplitWork + 'a>, WorkbenchError> {
        self.on_team(team, rung)
    }
}

/// The vectors of a run, in device and host memory.
pub(crate) struct Vectors<'a> {
    pub(crate) x: &'a DeviceVector,
    pub(crate) y: &'a mut DeviceVector,
    /// Host memory for a vector as long as x.
    pub(crate) host: &'a mut HostVector,
    /// True if x contains the exact input.
    pub(crate) is_exact: bool,
}

/// The computation of a rung, which computes the vector y from the vector x.
pub(crate) trait Computation {
    /// Enqueues the rung's launches on `queue`.
    fn run(&mut self, queue: Queue<'_>, vectors: Vectors<'_>) -> Result<(), WorkbenchError>;

    /// Clears the result of an earlier run. If y is also an input, restores y.
    fn reset(&mut self, vectors: Vectors<'_>) -> Result<(), WorkbenchError> {
        Ok(vectors.y.fill_zero()?)
    }

    /// Compares the result of the last run with the reference.
    fn compare(&mut self, vectors: Vectors<'_>) -> Result<Deviation, WorkbenchError>;

    /// Adds the computation's own buffers to `held`.
    fn hold<'s>(&'s mut self, _held: &mut Held<'s>) {}

    /// Returns the number of bytes of the computation's temporary storage.
    fn workspace_bytes(&self) -> u64 {
        0
    }

    /// Returns true if a benchmark also times a series of calls.
    fn is_for_series(&self) -> bool {
        false
    }
}

struct VectorInputs<'p> {
    device: Device,
    problem: &'p dyn VectorProblem,
    x: DeviceVector,
    y: DeviceVector,
    host: HostVector,
}

impl VectorInputs<'_> {
    fn fill(&mut self, is_exact: bool) -> Result<(), WorkbenchError> {
        self.problem.fill(is_exact, &mut self.host)?;
        Ok(self.x.upload(&self.host)?)
    }

    fn vectors(&mut self, is_exact: bool) -> Vectors<'_> {
        Vectors { x: &self.x, y: &mut self.y, host: &mut self.host, is_exact }
    }
}

impl Inputs for VectorInputs<'_> {
    fn prepare<'a>(&'a mut self, rung: &Rung) -> Result<Box<dyn PreparedRung + 'a>, WorkbenchError> {
        let computation = self.problem.computation(&self.device, rung)?;
        Ok(Box::new(PreparedVectors { computation, inputs: self, sets: Vec::new() }))
    }
}

struct PreparedVectors<'a, 'p> {
    computation: Box<dyn Computation + 'p>,
    inputs: &'a mut VectorInputs<'p>,
    /// Copies of x and y for a series of calls.
    sets: Vec<(DeviceVector, DeviceVector)>,
}

impl Resources for PreparedVectors<'_, '_> {
    fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
        let own = [(&mut self.inputs.x, &mut self.inputs.y)];
        for (x, y) in own.into_iter().chain(self.sets.iter_mut().map(|(x, y)| (x, y))) {
            x.hold_shared(held);
            y.hold(held);
        }
        self.computation.hold(held);
    }
}

impl PreparedRung for PreparedVectors<'_, '_> {
    fn run(&mut self, queue: Queue<'_>) -> Result<(), WorkbenchError> {
        self.computation.run(queue, self.inputs.vectors(false))
    }

    fn refresh(&mut self) -> Result<(), WorkbenchError> {
        self.computation.reset(self.inputs.vectors(false))
    }

    fn compare(&mut self) -> Result<Deviation, WorkbenchError> {
        self.computation.compare(self.inputs.vectors(false))
    }

    fn verify(&mut self, device: &Device) -> Result<Deviation, WorkbenchError> {
        let mut exact = Deviation::default();
        if self.inputs.problem.has_exact_input() {
            self.inputs.fill(true)?;
            self.refresh()?;
            self.run(device.queue())?;
            exact = self.computation.compare(self.inputs.vectors(true))?;
            self.inputs.fill(false)?;
        }
        self.refresh()?;
        self.run(device.queue())?;
        Ok(exact.merge(self.compare()?))
    }

    fn workspace_bytes(&self) -> u64 {
        self.computation.workspace_bytes()
    }

    fn is_for_series(&self) -> bool {
        self.computation.is_for_series()
    }

    fn make_sets(&mut self, sets: usize) -> Result<(), WorkbenchError> {
        let VectorInputs { device, x, y, .. } = &*self.inputs;
        let set = |_| Ok((x.copied()?, DeviceVector::new(device, y.layout)?));
        self.sets = (0..sets).map(set).collect::<Result<_, WorkbenchError>>()?;
        Ok(())
    }

    fn run_set(&mut self, set: usize, queue: Queue<'_>) -> Result<(), WorkbenchError> {
        let (x, y) = &mut self.sets[set];
        self.computation.run(queue, Vectors { x, y, host: &mut self.inputs.host, is_exact: false })
    }
}
