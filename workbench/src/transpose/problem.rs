//! The implementation of [`Algorithm`] for transpose.

use cuda_std::{Ladder, Rung};
use gpu::transpose::transpose_unaligned;
use launch::{Device, Queue};

use super::reference;
use crate::algorithm::{
    Aim, Algorithm, Fact, Measurement, Options, Other, Problem, ProblemOption, Purpose, Shape, Size, Sizes, Target,
    rung_of,
};
use crate::deviation::Deviation;
use crate::error::WorkbenchError;
use crate::inputs::{self, REMEDY, RandomVector};
use crate::vectors::{Computation, HostVector, Layout, Layouts, VectorProblem, Vectors, typed};
use gridstride::numbers::NumberType;
use gridstride::transpose::{TransposeRung, is_transpose, transpose, unaligned_plan};

/// The algorithm transpose, which transposes a matrix.
pub struct TransposeAlgorithm;

/// The element types. The kernels move elements as unsigned integers of the same size.
const TYPES: [NumberType; 6] = {
    use NumberType::{F32, F64, U8, U16, U32, U64};
    [F32, F64, U8, U16, U32, U64]
};

/// The size of a matrix with odd width and height, so that its rows and columns begin at all positions within a sector.
const UNALIGNED: Shape = Shape::plane(511, 513);

impl Algorithm for TransposeAlgorithm {
    fn rungs(&self) -> &'static [Rung] {
        TransposeRung::RUNGS
    }

    fn about(&self) -> &'static str {
        "Measure the transpose of a matrix and check it\n\n\
         Times are medians of several runs after a warm-up, by device events on a GPU and by the clock in the \
         simulator. Bandwidth counts each element once read and once written, in GB of 10⁹ bytes. It is shown \
         beside the speed of the device's own copy in the same run. Elements are random bits, and every bit of the \
         result must be correct. The results of the baselines, copy and copy_tile, are compared with the matrix \
         itself."
    }

    fn options(&self) -> &'static [ProblemOption] {
        &[ProblemOption::NUMBER]
    }

    fn types(&self) -> Vec<NumberType> {
        TYPES.to_vec()
    }

    fn default_shape(&self, _rung: Option<&Rung>, purpose: Purpose) -> Shape {
        match purpose {
            // This size gives whole tiles to every rung, and a column of tiles to the last one.
            Purpose::Explain => Shape::plane(512, 512),
            Purpose::Measure { simulated: true } => Shape::plane(1024, 1024),
            Purpose::Measure { simulated: false } => Shape::plane(8192, 8192),
        }
    }

    fn problem(&self, shape: Shape, options: &Options) -> Result<Box<dyn Problem>, WorkbenchError> {
        let (size, seed) = (shape.size(), options.seed);
        let number = options.element_type(self.name(), &TYPES)?;
        Ok(Box::new(TransposeProblem { size, seed, number }))
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

    fn others(&self) -> &'static [Other] {
        &[Other {
            name: "unaligned",
            idea: "The last rung for rows or columns that are not aligned.",
            families: &["transpose_unaligned"],
            shape: UNALIGNED,
            options: &[],
            run: run_unaligned,
        }]
    }
}

/// Returns the unsigned integer type that has the size of `number`.
fn bits_of(number: NumberType) -> NumberType {
    match number {
        NumberType::F64 | NumberType::I64 => NumberType::U64,
        NumberType::F32 | NumberType::I32 => NumberType::U32,
        bits => bits,
    }
}

/// Launches the kernel for unaligned matrices, even if the matrix is aligned.
fn run_unaligned(device: &Device, shape: Shape, options: &Options) -> Result<(), WorkbenchError> {
    let (size, n) = (shape.size(), shape.elements());
    let number = options.element_type(TransposeRung::ALGORITHM, &TYPES)?;
    typed!(bits_of(number), [u8 u16 u32 u64], T => {
        let mut host = inputs::host_memory::<T>(n, REMEDY)?;
        RandomVector::new(options.seed, 0).fill(&mut host);
        let (x, mut y) = (device.upload(&host)?, device.alloc(n)?);
        let call = transpose_unaligned::<T>(x.view(), y.view_mut(), size.width, size.height);
        Ok(device.launch(unaligned_plan::<T>(size).config, call)?)
    })
}

/// The problem of transposing a matrix of random elements.
struct TransposeProblem {
    size: Size,
    seed: u64,
    number: NumberType,
}

impl VectorProblem for TransposeProblem {
    fn heading(&self) -> String {
        format!("transpose, {}, {}", self.number, self.size)
    }

    fn properties(&self) -> Vec<(&'static str, Fact)> {
        let Size { width, height } = self.size;
        let (width, height) = (Fact::Count(width as u64), Fact::Count(height as u64));
        vec![("width", width), ("height", height), ("type", Fact::Name(self.number.name()))]
    }

    fn ladder(&self) -> &'static [Rung] {
        TransposeRung::RUNGS
    }

    fn layouts(&self) -> Layouts {
        let x = Layout { number: bits_of(self.number), from: 0, len: Shape::Plane(self.size).elements() };
        Layouts { x, y: x, accesses: 2 }
    }

    fn fill(&self, _is_exact: bool, x: &mut HostVector) -> Result<(), WorkbenchError> {
        x.fill_random(bits_of(self.number), self.seed, 0)
    }

    fn computation(&self, _device: &Device, rung: &Rung) -> Result<Box<dyn Computation + '_>, WorkbenchError> {
        Ok(Box::new(TransposeComputation { problem: self, rung: rung_of(rung)? }))
    }
}

struct TransposeComputation<'p> {
    problem: &'p TransposeProblem,
    rung: TransposeRung,
}

impl Computation for TransposeComputation<'_> {
    fn run(&mut self, queue: Queue<'_>, Vectors { x, y, .. }: Vectors<'_>) -> Result<(), WorkbenchError> {
        typed!(bits_of(self.problem.number), [u8 u16 u32 u64], T => {
            Ok(transpose::<T>(queue, self.rung, self.problem.size, x.buffer()?, y.buffer_mut()?)?)
        })
    }

    fn compare(&mut self, Vectors { y, host, .. }: Vectors<'_>) -> Result<Deviation, WorkbenchError> {
        y.download(host)?;
        let (size, moves) = (self.problem.size, is_transpose(self.rung));
        let source = |index| if moves { reference::source(size, index) } else { index };
        typed!(bits_of(self.problem.number), [u8 u16 u32 u64], T => {
            let x = RandomVector::<T>::new(self.problem.seed, 0);
            Ok(Deviation::of_exact(host.elements(), |index| x.element(source(index))))
        })
    }
}
