//! Problems on vectors: their inputs and prepared rungs, for every element type.
//!
//! # Design
//!
//! The element type of such a problem is a [`NumberType`]. A [`DeviceVector`] and a [`HostVector`] hold elements of any
//! type, and `typed!` chooses the functions of a type where elements are read or written. The traits [`Problem`],
//! [`Inputs`] and [`PreparedRung`] are therefore implemented once, and not once per algorithm and type. An algorithm
//! implements [`VectorProblem`] and [`Computation`].

use std::any::Any;

use bytemuck::{cast_slice, cast_slice_mut};
use cuda_std::{ArgumentId, Global, GlobalMut, Rung};
use launch::{Buffer, Device, Element, Error, Held, Queue, Resources};

use crate::algorithm::{Fact, Inputs, PreparedRung, Problem};
use crate::deviation::Deviation;
use crate::error::WorkbenchError;
use crate::inputs::{self, HostMemoryError, REMEDY, RandomVector};
use crate::scaling::SplitWork;
use gridstride::capabilities;
use gridstride::numbers::NumberType;
use multi::team::Team;

/// `typed!(number, [f32 f64], T => body)` evaluates `body`, a result, with `T` as the type `number`.
macro_rules! typed {
    ($number:expr, [$($type:ident)+], $T:ident => $body:expr) => {
        gridstride::numbers::with_number!($number, [$($type)+], $T => $body, _ => {
            Err($crate::vectors::wrong_type($number))
        })
    };
}

pub(crate) use typed;

/// Returns the error of an element type that an algorithm does not have.
pub(crate) fn wrong_type(number: NumberType) -> WorkbenchError {
    WorkbenchError::Options(format!("the algorithm has no element type '{number}'"))
}

/// Elements of any type in host memory.
pub(crate) struct HostVector {
    /// The elements, aligned for every type.
    words: Vec<u64>,
    len: usize,
}

impl HostVector {
    pub(crate) fn new(number: NumberType, len: usize) -> Result<Self, HostMemoryError> {
        let words = inputs::host_memory(len.saturating_mul(number.bytes()).div_ceil(8), REMEDY);
        Ok(Self { words: words.map_err(|error| HostMemoryError { elements: len, ..error })?, len })
    }

    pub(crate) fn elements<T: Element>(&self) -> &[T] {
        &cast_slice(&self.words)[..self.len]
    }

    pub(crate) fn elements_mut<T: Element>(&mut self) -> &mut [T] {
        &mut cast_slice_mut(&mut self.words)[..self.len]
    }

    /// Sets every element to the result of `element` for its index.
    pub(crate) fn fill<T: Element>(&mut self, element: impl Fn(usize) -> T + Sync) {
        inputs::fill_with(self.elements_mut(), element);
    }

    /// Fills the vector with the random vector number `vector` of `seed`.
    pub(crate) fn fill_random(&mut self, number: NumberType, seed: u64, vector: u64) -> Result<(), WorkbenchError> {
        typed!(number, [f32 f64 i32 u32 i64 u64 u8 u16], T => {
            RandomVector::<T>::new(seed, vector).fill(self.elements_mut());
            Ok(())
        })
    }
}

/// A buffer with elements of any type.
trait AnyBuffer: Any + Resources {
    fn upload(&mut self, from: usize, host: &HostVector) -> Result<(), Error>;
    fn download(&self, from: usize, host: &mut HostVector) -> Result<(), Error>;
    fn fill_zero(&mut self) -> Result<(), Error>;
    fn copied(&self) -> Result<Box<dyn AnyBuffer>, Error>;
    fn share<'s>(&'s self, held: &mut Held<'s>);
}

impl<T: Element> AnyBuffer for Buffer<T> {
    fn upload(&mut self, from: usize, host: &HostVector) -> Result<(), Error> {
        self.upload_range(from, host.elements())
    }

    fn download(&self, from: usize, host: &mut HostVector) -> Result<(), Error> {
        self.download_range(from, host.elements_mut())
    }

    fn fill_zero(&mut self) -> Result<(), Error> {
        self.fill_zero()
    }

    fn copied(&self) -> Result<Box<dyn AnyBuffer>, Error> {
        let mut copy = self.device().alloc(self.len())?;
        copy.copy_from(self)?;
        Ok(Box::new(copy))
    }

    fn share<'s>(&'s self, held: &mut Held<'s>) {
        held.shared(self);
    }
}

/// The element type and length of a vector, and the index of its first element in its buffer.
#[derive(Clone, Copy)]
pub(crate) struct Layout {
    pub(crate) number: NumberType,
    pub(crate) from: usize,
    pub(crate) len: usize,
}

/// A vector on a device with elements of any type.
pub(crate) struct DeviceVector {
    buffer: Box<dyn AnyBuffer>,
    layout: Layout,
}

impl DeviceVector {
    fn new(device: &Device, layout: Layout) -> Result<Self, WorkbenchError> {
        fn alloc<T: Element>(device: &Device, len: usize) -> Result<Box<dyn AnyBuffer>, WorkbenchError> {
            Ok(Box::new(device.alloc::<T>(len)?))
        }
        let len = layout.len.saturating_add(layout.from);
        let buffer = typed!(layout.number, [f32 f64 i32 u32 i64 u64 u8 u16], T => alloc::<T>(device, len))?;
        Ok(Self { buffer, layout })
    }

    /// Returns the buffer, whose elements must be of type `T`.
    pub(crate) fn buffer<T: Element>(&self) -> Result<&Buffer<T>, WorkbenchError> {
        let buffer: &dyn Any = &*self.buffer;
        buffer.downcast_ref().ok_or_else(|| wrong_type(self.layout.number))
    }

    /// Like [`buffer`](Self::buffer), for writing.
    pub(crate) fn buffer_mut<T: Element>(&mut self) -> Result<&mut Buffer<T>, WorkbenchError> {
        let buffer: &mut dyn Any = &mut *self.buffer;
        buffer.downcast_mut().ok_or_else(|| wrong_type(self.layout.number))
    }

    pub(crate) fn view<T: Element>(&self) -> Result<Global<'_, T>, WorkbenchError> {
        Ok(self.buffer()?.view().part(self.layout.from, self.layout.len))
    }

    pub(crate) fn view_mut<T: Element>(&mut self) -> Result<GlobalMut<'_, T>, WorkbenchError> {
        let Layout { from, len, .. } = self.layout;
        Ok(self.buffer_mut()?.view_mut().part(from, len))
    }

    pub(crate) fn upload(&mut self, host: &HostVector) -> Result<(), Error> {
        self.buffer.upload(self.layout.from, host)
    }

    pub(crate) fn download(&self, host: &mut HostVector) -> Result<(), Error> {
        self.buffer.download(self.layout.from, host)
    }

    pub(crate) fn fill_zero(&mut self) -> Result<(), Error> {
        self.buffer.fill_zero()
    }

    fn copied(&self) -> Result<Self, Error> {
        Ok(Self { buffer: self.buffer.copied()?, layout: self.layout })
    }
}

/// The vectors of a problem: x, which is read, and y, which is written.
#[derive(Clone, Copy)]
pub(crate) struct Layouts {
    pub(crate) x: Layout,
    pub(crate) y: Layout,
    /// The number of elements that a run must read and write per element of x.
    pub(crate) accesses: u64,
}

/// A problem that computes an output vector y from an input vector x.
pub(crate) trait VectorProblem: Send + Sync {
    /// Returns the title, without the element with which the vectors begin.
    fn heading(&self) -> String;

    /// Returns the properties, without the element with which the vectors begin.
    fn properties(&self) -> Vec<(&'static str, Fact)>;

    /// Like [`Problem::detail`].
    fn distinction(&self) -> Option<String> {
        None
    }

    /// Returns the rungs of the ladder.
    fn ladder(&self) -> &'static [Rung];

    /// Returns the generic arguments of the kernels.
    fn instance(&self) -> Vec<ArgumentId> {
        vec![self.layouts().x.number.id()]
    }

    fn layouts(&self) -> Layouts;

    /// Returns the bytes of temporary storage of a rung.
    fn workspace_bytes(&self, _device: &Device, _rung: &Rung) -> u64 {
        0
    }

    /// Like [`Problem::check`].
    fn supports(&self, _device: &Device, rung: &Rung) -> Result<(), WorkbenchError> {
        Ok(capabilities::check_rung(rung, self.ladder(), &self.instance(), self.layouts().x.len)?)
    }

    /// Returns the rung that runs by default: the last one that is built.
    fn default_rung(&self, _device: &Device) -> &'static Rung {
        let (ladder, instance) = (self.ladder(), self.instance());
        ladder.iter().rfind(|rung| rung.entry(&instance).is_some()).unwrap_or(&ladder[ladder.len() - 1])
    }

    /// Fills `x` with the input, or with the exact input if `is_exact`.
    fn fill(&self, is_exact: bool, x: &mut HostVector) -> Result<(), WorkbenchError>;

    /// Returns true if there is also an exact input, whose result does not round.
    fn has_exact_input(&self) -> bool {
        false
    }

    /// Makes the rung's computation on the device.
    fn computation(&self, device: &Device, rung: &Rung) -> Result<Box<dyn Computation + '_>, WorkbenchError>;

    /// Like [`Problem::split`].
    fn on_team<'a>(&'a self, _team: &'a Team<'a>, _rung: &Rung) -> Result<Box<dyn SplitWork + 'a>, WorkbenchError> {
        Err(WorkbenchError::Options(format!("{} runs on one device, of one process", self.heading())))
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
        let Layouts { x, accesses, .. } = self.layouts();
        (x.len as u64).saturating_mul(accesses * x.number.bytes() as u64)
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

/// The vectors of a run.
pub(crate) struct Vectors<'a> {
    pub(crate) x: &'a DeviceVector,
    pub(crate) y: &'a mut DeviceVector,
    /// Host memory for as many elements as x has.
    pub(crate) host: &'a mut HostVector,
    /// True if x has the exact input.
    pub(crate) is_exact: bool,
}

/// A rung that computes y from x.
pub(crate) trait Computation {
    /// Enqueues the launches on `queue`.
    fn run(&mut self, queue: Queue<'_>, vectors: Vectors<'_>) -> Result<(), WorkbenchError>;

    /// Clears the result of an earlier run. Restores y if it is an input, too.
    fn reset(&mut self, vectors: Vectors<'_>) -> Result<(), WorkbenchError> {
        Ok(vectors.y.fill_zero()?)
    }

    /// Compares the result with the reference.
    fn compare(&mut self, vectors: Vectors<'_>) -> Result<Deviation, WorkbenchError>;

    /// Adds the computation's own buffers to `held`.
    fn hold<'s>(&'s mut self, _held: &mut Held<'s>) {}

    /// Returns the bytes of its temporary storage.
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
            x.buffer.share(held);
            y.buffer.hold(held);
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
        let VectorInputs { x, y, .. } = &*self.inputs;
        let set = |_| Ok((x.copied()?, y.copied()?));
        self.sets = (0..sets).map(set).collect::<Result<_, Error>>()?;
        Ok(())
    }

    fn run_set(&mut self, set: usize, queue: Queue<'_>) -> Result<(), WorkbenchError> {
        let (x, y) = &mut self.sets[set];
        self.computation.run(queue, Vectors { x, y, host: &mut self.inputs.host, is_exact: false })
    }
}
