//! The transpose as an [`Algorithm`].

use cuda_std::{Ladder, Rung};
use gpu::transpose::{Bits, transpose_unaligned};
use launch::{Buffer, Device, Held, Queue, Resources};

use super::reference;
use crate::algorithm::{
    Aim, Algorithm, Fact, Inputs, Measurement, Options, Other, PreparedRung, Problem, ProblemOption, Purpose, Shape,
    Size, Sizes, Target, rung_of,
};
use crate::case::Case;
use crate::deviation::Deviation;
use crate::error::WorkbenchError;
use crate::inputs::{self, REMEDY, RandomVector};
use gridstride::capabilities;
use gridstride::numbers::{Number, NumberType, with_number};
use gridstride::transpose::{TransposeRung, is_transpose, transpose, unaligned_plan};

/// The transpose of a matrix.
pub struct Transpose;

/// Types that a transpose moves as bits of their size.
const TYPES: [NumberType; 6] = {
    use NumberType::{F32, F64, U8, U16, U32, U64};
    [F32, F64, U8, U16, U32, U64]
};

/// No row or column that begins where the one before does in its sector.
const UNALIGNED: Shape = Shape::plane(511, 513);

impl Algorithm for Transpose {
    fn name(&self) -> &'static str {
        TransposeRung::ALGORITHM
    }

    fn rungs(&self) -> &'static [Rung] {
        TransposeRung::RUNGS
    }

    fn about(&self) -> &'static str {
        "Measure the transpose of a matrix and check it\n\n\
         Times are medians of several runs after a first one, by device events on a GPU and by the clock in the simulator. \
         Bandwidth counts each element once read and once written, in GB of 10⁹ bytes, and stands beside the speed of the \
         device's own copy in the same run. Elements are random bits, and each must arrive bit for bit; copy and copy_tile, \
         the yardsticks, are compared with the matrix itself."
    }

    fn options(&self) -> &'static [ProblemOption] {
        &[ProblemOption::NUMBER]
    }

    fn types(&self) -> Vec<NumberType> {
        TYPES.to_vec()
    }

    fn default_shape(&self, _rung: Option<&Rung>, purpose: Purpose) -> Shape {
        match purpose {
            // Whole tiles for every rung, and a column of them for the last.
            Purpose::Explain => Shape::plane(512, 512),
            Purpose::Measure { simulated: true } => Shape::plane(1024, 1024),
            Purpose::Measure { simulated: false } => Shape::plane(8192, 8192),
        }
    }

    fn problem(&self, shape: Shape, options: &Options) -> Result<Box<dyn Problem>, WorkbenchError> {
        let (size, seed) = (shape.size(), options.seed);
        let number = options.element_type(self.name(), &TYPES)?;
        with_number!(bits_of(number), [u8 u16 u32 u64], T => {
            Ok(Box::new(Transposing { size, seed, number, element: |bits| bits as T }))
        }, _ => Err(WorkbenchError::Options(format!("transpose has no element type '{number}'"))))
    }

    fn is_yardstick(&self, rung: &str) -> bool {
        matches!(rung.parse(), Ok(TransposeRung::Copy | TransposeRung::CopyTile))
    }

    fn measurements(&self) -> Vec<Measurement> {
        const SIDE: usize = 16384;
        const F32: &[Target] = &[Target::Peer(1.05, "cuBLAS"), Target::Copy(99.0)];
        const OTHERS: &[Target] = &[Target::Copy(92.0)];
        let squares = |number| Measurement::vectors(number).sizes(Sizes::Squares);
        let odd = |number| Measurement::vectors(number).sizes(Sizes::Odd);
        vec![
            squares("f32").ladder().aims(const { &[Aim::plane("transpose f32", SIDE, SIDE, F32)] }),
            odd("f32").aims(const { &[Aim::plane("transpose f32", SIDE - 1, SIDE + 1, OTHERS)] }),
            squares("f64").aims(const { &[Aim::plane("transpose f64", SIDE, SIDE, OTHERS)] }),
            squares("u8").aims(const { &[Aim::plane("transpose u8", SIDE, SIDE, OTHERS)] }),
            squares("u16").aims(const { &[Aim::plane("transpose u16", SIDE, SIDE, OTHERS)] }),
            odd("f64"),
            odd("u8"),
            odd("u16"),
        ]
    }

    fn cases(&self) -> Vec<Case> {
        super::cases::cases()
    }

    fn others(&self) -> &'static [Other] {
        &[Other {
            name: "unaligned",
            idea: "The last rung where rows or columns begin anywhere.",
            families: &["transpose_unaligned"],
            shape: UNALIGNED,
            run: run_unaligned,
        }]
    }
}

/// The unsigned integer of a type's size.
fn bits_of(number: NumberType) -> NumberType {
    match number {
        NumberType::F64 | NumberType::I64 => NumberType::U64,
        NumberType::F32 | NumberType::I32 => NumberType::U32,
        bits => bits,
    }
}

/// Launches that kernel even if the other one could run.
fn run_unaligned(device: &Device, shape: Shape, options: &Options) -> Result<(), WorkbenchError> {
    let size = shape.size();
    let number = options.element_type(TransposeRung::ALGORITHM, &TYPES)?;
    with_number!(bits_of(number), [u8 u16 u32 u64], T => {
        let problem = Transposing { size, seed: options.seed, number, element: |bits| bits as T };
        let OnDevice { x, mut y, .. } = problem.on(device)?;
        let call = transpose_unaligned(x.view(), y.view_mut(), size.width, size.height);
        Ok(device.launch(unaligned_plan::<T>(size).config, call)?)
    }, _ => Ok(()))
}

/// The transpose of a matrix of random elements, of a type of the size of `T`.
struct Transposing<T> {
    size: Size,
    seed: u64,
    number: NumberType,
    /// The element that 64 random bits make.
    element: fn(u64) -> T,
}

impl<T: Bits + Number> Transposing<T> {
    fn x(&self, index: usize) -> T {
        (self.element)(RandomVector::<u64>::new(self.seed, 0).bits(index))
    }

    fn on(&self, device: &Device) -> Result<OnDevice<'_, T>, WorkbenchError> {
        let n = self.size.width.saturating_mul(self.size.height);
        let mut host = inputs::host_memory(n, REMEDY)?;
        inputs::fill_with(&mut host, |index| self.x(index));
        Ok(OnDevice { problem: self, x: device.upload(&host)?, y: device.alloc(n)?, host })
    }
}

impl<T: Bits + Number> Problem for Transposing<T> {
    fn title(&self) -> String {
        format!("transpose, {}, {}", self.number, self.size)
    }

    fn facts(&self) -> Vec<(&'static str, Fact)> {
        let Size { width, height } = self.size;
        let sides = [("width", Fact::Count(width as u64)), ("height", Fact::Count(height as u64))];
        sides.into_iter().chain([("type", Fact::Name(self.number.name()))]).collect()
    }

    fn elements(&self) -> u64 {
        (self.size.width as u64).saturating_mul(self.size.height as u64)
    }

    fn bytes(&self) -> u64 {
        self.elements().saturating_mul(2 * size_of::<T>() as u64)
    }

    fn memory_bytes(&self, _device: &Device, _rungs: &[&Rung]) -> u64 {
        self.bytes()
    }

    fn check(&self, _device: &Device, _rung: &Rung) -> Result<(), WorkbenchError> {
        Ok(())
    }

    fn default_rungs(&self, _device: &Device) -> Vec<&'static Rung> {
        vec![TransposeRung::default_rung(&capabilities::of_type::<T>()).rung()]
    }

    fn inputs(&self, device: &Device) -> Result<Box<dyn Inputs + '_>, WorkbenchError> {
        Ok(Box::new(self.on(device)?))
    }
}

struct OnDevice<'p, T: Bits + Number> {
    problem: &'p Transposing<T>,
    x: Buffer<T>,
    y: Buffer<T>,
    host: Vec<T>,
}

impl<T: Bits + Number> Inputs for OnDevice<'_, T> {
    fn prepare<'a>(&'a mut self, rung: &Rung) -> Result<Box<dyn PreparedRung + 'a>, WorkbenchError> {
        Ok(Box::new(Ready { rung: rung_of(rung)?, on: self }))
    }
}

struct Ready<'a, 'p, T: Bits + Number> {
    rung: TransposeRung,
    on: &'a mut OnDevice<'p, T>,
}

impl<T: Bits + Number> Resources for Ready<'_, '_, T> {
    fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
        held.shared(&self.on.x);
        self.on.y.hold(held);
    }
}

impl<T: Bits + Number> PreparedRung for Ready<'_, '_, T> {
    fn run(&mut self, queue: Queue<'_>) -> Result<(), WorkbenchError> {
        Ok(transpose(queue, self.rung, self.on.problem.size, &self.on.x, &mut self.on.y)?)
    }

    fn refresh(&mut self) -> Result<(), WorkbenchError> {
        Ok(self.on.y.fill_zero()?)
    }

    fn compare(&mut self) -> Result<Deviation, WorkbenchError> {
        self.on.y.download_into(&mut self.on.host)?;
        let (problem, moves) = (self.on.problem, is_transpose(self.rung));
        let source = |index| if moves { reference::source(problem.size, index) } else { index };
        Ok(Deviation::of_exact(&self.on.host, |index| problem.x(source(index))))
    }

    fn workspace_bytes(&self) -> u64 {
        0
    }
}
