//! The implementation of [`Algorithm`] for the matrix product.

use cuda_std::{ArgumentId, Ladder, Rung, bf16, f16};
use launch::{Device, Held, Queue, Resources as _};

use super::reference::Product;
use super::scaling::Split;
use crate::algorithm::{
    Aim, Algorithm, Fact, Measurement, Options, Other, Problem, ProblemOption, Purpose, Shape, Size, Sizes, Target, Unit,
    rung_of,
};
use crate::deviation::Deviation;
use crate::error::{WorkbenchError, invalid};
use crate::inputs::RandomVector;
use crate::scaling::{ScalingMeasurement, SplitWork};
use crate::vectors::{Computation, HostVector, Layout, Layouts, VectorProblem, Vectors, typed};
use gridstride::matmul::{
    Layout as MatrixLayout, Matmul, MatmulElement, MatmulOptions, MatmulRung, Matrix, MatrixMut, Plan,
};
use gridstride::numbers::{Number, NumberType};
use multi::team::Team;

/// The algorithm matmul, which multiplies two matrices.
pub struct MatmulAlgorithm;

/// The element types of *A* and *B*.
const TYPES: [NumberType; 5] = {
    use NumberType::{Bf16, F16, F32, F64, I8};
    [F32, F64, F16, Bf16, I8]
};

/// The names of the layouts: whether *A* and *B* are stored by rows (`n`) or by columns (`t`).
const LAYOUTS: [&str; 4] = ["nn", "nt", "tn", "tt"];

impl Algorithm for MatmulAlgorithm {
    fn rungs(&self) -> &'static [Rung] {
        MatmulRung::RUNGS
    }

    fn about(&self) -> &'static str {
        "Measure the product of two matrices and check it\n\n\
         Times are medians of several runs after a warm-up, by device events on a GPU and by the clock in the \
         simulator. The size is that of the result, and --k the length of its sums. Elements are approximately normal \
         with variance 1, because the power of a GPU, and so its clock, depends on them. Each result is first checked \
         for small integers, which must be exact. Then a result is correct if it is within k·ε·Σ|a·b| and a rounding \
         of a reference in double precision, with ε = 2⁻²³ for sums in f32 and 2⁻⁵² for f64. In products of more than \
         2²⁵ multiplications, a random sample of the elements is compared, at least 1024 of them."
    }

    fn options(&self) -> &'static [ProblemOption] {
        const K: ProblemOption = ProblemOption {
            name: "k",
            value: "K",
            help: "The number of columns of A and rows of B; 0 for the width of the result",
            default: "0",
            check: |text| match text.parse::<u32>() {
                Ok(_) => Ok(()),
                Err(_) => Err("it must be a whole number, such as 4096".into()),
            },
        };
        const LAYOUT: ProblemOption = ProblemOption {
            name: "layout",
            value: "AB",
            help: "How A and B are stored, by rows (n) or columns (t): nn, nt, tn or tt",
            default: "nn",
            check: |text| match LAYOUTS.contains(&text) {
                true => Ok(()),
                false => Err("it must be nn, nt, tn or tt".into()),
            },
        };
        const TF32: ProblemOption = ProblemOption::flag("tf32", "Round f32 to tf32, for tensor cores");
        &[ProblemOption::NUMBER, K, LAYOUT, TF32]
    }

    fn types(&self) -> Vec<NumberType> {
        TYPES.to_vec()
    }

    fn default_type(&self, rung: &Rung) -> Option<NumberType> {
        // Tensor cores multiply no f32.
        rung.entry(&[ArgumentId::of::<f32>()]).is_none().then_some(NumberType::Bf16)
    }

    fn default_shape(&self, _rung: Option<&Rung>, purpose: Purpose) -> Shape {
        let side = match purpose {
            Purpose::Explain => 128,
            Purpose::Measure { simulated: true } => 256,
            Purpose::Measure { simulated: false } => 4096,
        };
        Shape::plane(side, side)
    }

    fn problem(&self, shape: Shape, options: &Options) -> Result<Box<dyn Problem>, WorkbenchError> {
        Ok(Box::new(problem_of(shape, options)?))
    }

    fn unit(&self) -> Unit {
        Unit::Operations
    }

    fn measurements(&self) -> Vec<Measurement> {
        const PEER: &[Target] = &[Target::Peer(1.0, "cuBLAS")];
        const NEAR: &[Target] = &[Target::Peer(0.97, "cuBLAS")];
        let squares = |number| Measurement::vectors(number).sizes(Sizes::Products);
        let tn = &[("layout", "tn")];
        vec![
            squares("f32").ladder().aims(const { &[Aim::plane("matmul f32", 4096, 4096, PEER)] }),
            squares("bf16").aims(const { &[Aim::plane("matmul bf16", 4096, 4096, PEER)] }),
            squares("f16").aims(const { &[Aim::plane("matmul f16", 4096, 4096, PEER)] }),
            squares("f64").aims(const { &[Aim::plane("matmul f64", 4096, 4096, NEAR)] }),
            squares("f32").variant("tf32-nt", &[("tf32", ""), ("layout", "nt")]),
            squares("i8")
                .variant("nt", &[("layout", "nt")])
                .aims(const { &[Aim::plane("matmul i8", 4096, 4096, NEAR)] }),
            squares("bf16").variant("tn", tn),
        ]
    }

    fn scaling_measurements(&self) -> Vec<ScalingMeasurement> {
        super::scaling::measurements()
    }

    fn others(&self) -> &'static [Other] {
        // All types have a product by tensor cores with this option.
        const TF32: &[(&str, &str)] = &[("tf32", "")];
        const {
            &[
                Other {
                    name: "pack",
                    idea: "Copies an operand to rows along k that begin at multiples of 16 bytes, as tensor cores need \
                           it.",
                    families: &["matmul_pack"],
                    shape: Shape::plane(128, 128),
                    options: TF32,
                    run: |device, shape, options| run(device, shape, options, MatmulRung::MmaSync),
                },
                Other {
                    name: "vector",
                    idea: "Multiplies a vector by a matrix, of which it reads each element once, 16 bytes at a time.",
                    families: &["matmul_vector"],
                    shape: Shape::plane(1024, 1),
                    options: &[("layout", "nt")],
                    run: |device, shape, options| {
                        let (problem, number) = (problem_of(shape, options)?, options.element_type("matmul", &TYPES)?);
                        if !problem.plan(device, None)?.is_vector() {
                            return invalid!(
                                "{} is no product of {number} by the kernel for vectors: use the type f32, f16 or \
                                 bf16, a height of 1, a width that is a multiple of 8, and the layout nt",
                                problem.heading()
                            );
                        }
                        problem.run_default(device)
                    },
                },
                Other {
                    name: "combine",
                    idea: "Adds the parts of split sums in a fixed order.",
                    families: &["matmul_combine"],
                    shape: Shape::plane(128, 128),
                    options: TF32,
                    run: |device, shape, options| {
                        let (k, number) = (shape.size().width, options.element_type("matmul", &TYPES)?);
                        let step = SPLIT_BYTES / number.bytes();
                        if k < 2 * step || !k.is_multiple_of(step) {
                            let least = 2 * step;
                            return invalid!(
                                "sums of {k} products of {number} are not split: use a width of {least}, or a larger \
                                 multiple of {step}"
                            );
                        }
                        run(device, shape, options, MatmulRung::SplitK)
                    },
                },
            ]
        }
    }
}

/// The number of bytes along *k* of a step of the kernels for warpgroups. Sums are split between steps.
const SPLIT_BYTES: usize = 128;

/// Returns the product whose result has the shape `shape`.
fn problem_of(shape: Shape, options: &Options) -> Result<MatmulProblem, WorkbenchError> {
    let Size { width, height } = shape.size();
    let number = options.element_type(MatmulAlgorithm.name(), &TYPES)?;
    let k = match options.value("k", 0)? {
        0 => width,
        k => k,
    };
    let layout = options.get("layout").unwrap_or(LAYOUTS[0]);
    let layout = LAYOUTS.iter().copied().find(|name| *name == layout).unwrap_or(LAYOUTS[0]);
    let tf32 = options.has("tf32") && number == NumberType::F32;
    Ok(MatmulProblem { sizes: [height, width, k], layout, tf32, seed: options.seed, number })
}

/// Runs a product by `rung`.
fn run(device: &Device, shape: Shape, options: &Options, rung: MatmulRung) -> Result<(), WorkbenchError> {
    let problem = MatmulAlgorithm.problem(shape, options)?;
    problem.check(device, rung.rung())?;
    problem.inputs(device)?.prepare(rung.rung())?.run(device.queue())
}

/// The problem of multiplying two matrices of random elements.
pub(super) struct MatmulProblem {
    /// *m*, *n* and *k*.
    pub(super) sizes: [usize; 3],
    layout: &'static str,
    tf32: bool,
    seed: u64,
    number: NumberType,
}

impl MatmulProblem {
    /// Returns the layouts of *A* and *B*.
    pub(super) fn operands(&self) -> [MatrixLayout; 2] {
        let [m, n, k] = self.sizes;
        let layout = |rows, columns, is_transposed| match is_transposed {
            true => MatrixLayout::row_major(columns, rows).t(),
            false => MatrixLayout::row_major(rows, columns),
        };
        [layout(m, k, self.layout.starts_with('t')), layout(k, n, self.layout.ends_with('t'))]
    }

    pub(super) fn options(&self, rung: Option<MatmulRung>) -> MatmulOptions {
        let [a, b] = self.operands();
        MatmulOptions { tf32: self.tf32, rung, ..MatmulOptions::new(a, b) }
    }

    /// Runs the product of zeros by the kernel that runs by default.
    fn run_default(&self, device: &Device) -> Result<(), WorkbenchError> {
        let ([a, b], [m, n, k]) = (self.operands(), self.sizes);
        typed!(self.number, [f32 f64 f16 bf16 i8], T => {
            let mut product = Matmul::<T>::with_options(device, &self.options(None))?;
            let (left, right) = (device.zeroed::<T>(m * k)?, device.zeroed::<T>(k * n)?);
            let mut c = device.zeroed::<<T as MatmulElement>::Result>(m * n)?;
            let c = MatrixMut::row_major(&mut c, m, n)?;
            Ok(product.run(device.queue(), Matrix::new(left.view(), a)?, Matrix::new(right.view(), b)?, c)?)
        })
    }

    /// Returns the number of elements of *A*, and the index at which *B* begins: at a multiple of 16 bytes.
    fn parts(&self) -> (usize, usize) {
        let [m, _, k] = self.sizes;
        let len = m.saturating_mul(k);
        (len, len.checked_next_multiple_of(16 / self.number.bytes()).unwrap_or(usize::MAX))
    }

    /// Returns the reference for operands that `fill` has written to `host`.
    pub(super) fn reference<'h, T: Number>(&self, host: &'h HostVector, is_exact: bool) -> Product<'h, T> {
        let (x, (len, start)) = (host.elements::<T>(), self.parts());
        let epsilon = if T::TYPE == NumberType::F64 { f64::EPSILON } else { f64::from(f32::EPSILON) };
        let rounding = if self.tf32 { 1.0 / 512.0 } else { 0.0 };
        let [epsilon, rounding] = [epsilon, rounding].map(|error| if is_exact { 0.0 } else { error });
        Product { operands: [&x[..len], &x[start..]], layouts: self.operands(), epsilon, rounding }
    }

    /// Returns the element type of *C*.
    fn result(&self) -> NumberType {
        if self.number == NumberType::I8 { NumberType::I32 } else { self.number }
    }

    fn plan(&self, device: &Device, rung: Option<MatmulRung>) -> Result<Plan, WorkbenchError> {
        let options = self.options(rung);
        typed!(self.number, [f32 f64 f16 bf16 i8], T => {
            Ok(Plan::new::<T, <T as MatmulElement>::Result>(device, &options)?)
        })
    }
}

impl VectorProblem for MatmulProblem {
    fn heading(&self) -> String {
        let [m, n, k] = self.sizes;
        let number = if self.tf32 { "tf32" } else { self.number.name() };
        format!("matmul, {number}, {n}x{m}, k = {k}, {}", self.layout)
    }

    fn properties(&self) -> Vec<(&'static str, Fact)> {
        let [m, n, k] = self.sizes.map(|size| Fact::Count(size as u64));
        let number = ("type", Fact::Name(self.number.name()));
        vec![
            ("width", n),
            ("height", m),
            ("k", k),
            number,
            ("layout", Fact::Name(self.layout)),
            ("tf32", Fact::Flag(self.tf32)),
        ]
    }

    fn distinction(&self) -> Option<String> {
        let [_, n, k] = self.sizes;
        let precision = if self.tf32 { "tf32-" } else { "" };
        let length = if k == n { String::new() } else { format!("-{k}") };
        Some(format!("{precision}{}{length}", self.layout))
    }

    fn on_team<'a>(&'a self, team: &'a Team<'a>, rung: &Rung) -> Result<Box<dyn SplitWork + 'a>, WorkbenchError> {
        typed!(self.number, [f32 f64 f16 bf16 i8], T => Split::<T>::boxed(self, team, rung_of(rung)?))
    }

    fn ladder(&self) -> &'static [Rung] {
        MatmulRung::RUNGS
    }

    fn layouts(&self) -> Layouts {
        let [m, n, k] = self.sizes;
        let len = self.parts().1.saturating_add(k.saturating_mul(n));
        let x = Layout { number: self.number, from: 0, len };
        Layouts { x, y: Layout { number: self.result(), from: 0, len: m.saturating_mul(n) }, accesses: 1 }
    }

    fn moved_bytes(&self) -> u64 {
        let Layouts { x, y, .. } = self.layouts();
        let bytes = |vector: Layout| (vector.len as u64).saturating_mul(vector.number.bytes() as u64);
        bytes(x).saturating_add(bytes(y))
    }

    fn counted_operations(&self) -> Option<u64> {
        // A multiplication and an addition for each summand.
        Some(self.sizes.iter().fold(2, |product: u64, &size| product.saturating_mul(size as u64)))
    }

    fn supports(&self, device: &Device, rung: &Rung) -> Result<(), WorkbenchError> {
        self.plan(device, Some(rung_of(rung)?)).map(drop)
    }

    fn default_rung(&self, device: &Device) -> &'static Rung {
        self.plan(device, None).map_or(MatmulRung::LAST, |plan| plan.rung()).rung()
    }

    fn has_exact_input(&self) -> bool {
        true
    }

    fn fill(&self, is_exact: bool, x: &mut HostVector) -> Result<(), WorkbenchError> {
        let random = RandomVector::<u64>::new(self.seed, 0);
        typed!(self.number, [f32 f64 f16 bf16 i8], T => {
            // Normal bytes have a standard deviation of 40.
            let scale = if <T as Number>::EPSILON.is_none() { 40.0 } else { 1.0 };
            x.fill(|index| match is_exact {
                true => T::from_f64((random.bits(index) >> 32) as f64 % 7.0 - 3.0),
                false => T::from_f64(scale * normal(random.bits(index))),
            });
            Ok(())
        })
    }

    fn computation(&self, device: &Device, rung: &Rung) -> Result<Box<dyn Computation + '_>, WorkbenchError> {
        let options = self.options(Some(rung_of(rung)?));
        typed!(self.number, [f32 f64 f16 bf16 i8], T => {
            let product = Matmul::<T>::with_options(device, &options)?;
            Ok(Box::new(MatmulComputation { problem: self, product }))
        })
    }
}

/// Returns an approximately normal number with the mean 0 and the variance 1, from 64 random bits: the scaled sum of
/// four uniform numbers.
fn normal(bits: u64) -> f64 {
    let sum: u64 = (0..4).map(|i| bits >> (16 * i) & 0xffff).sum();
    (sum as f64 / 65536.0 - 2.0) * 3.0_f64.sqrt()
}

struct MatmulComputation<'p, T: MatmulElement> {
    problem: &'p MatmulProblem,
    product: Matmul<T>,
}

impl<T: MatmulElement<Result: Number> + Number> Computation for MatmulComputation<'_, T> {
    fn run(&mut self, queue: Queue<'_>, Vectors { x, y, .. }: Vectors<'_>) -> Result<(), WorkbenchError> {
        let [m, n, _] = self.problem.sizes;
        let ([a, b], (len, start)) = (self.problem.operands(), self.problem.parts());
        let x = x.view::<T>()?;
        let (a, b) = (Matrix::new(x.part(0, len), a)?, Matrix::new(x.part(start, x.len() - start), b)?);
        let c = MatrixMut::new(y.view_mut::<T::Result>()?, MatrixLayout::row_major(m, n))?;
        Ok(self.product.run(queue, a, b, c)?)
    }

    fn compare(&mut self, Vectors { y, host, is_exact, .. }: Vectors<'_>) -> Result<Deviation, WorkbenchError> {
        let Layout { number, len, .. } = self.problem.layouts().y;
        let mut found = HostVector::new(number, len)?;
        y.download(&mut found)?;
        self.problem.fill(is_exact, host)?;
        Ok(self.problem.reference::<T>(host, is_exact).deviation(found.elements::<T::Result>()))
    }

    fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
        self.product.hold(held);
    }

    fn workspace_bytes(&self) -> u64 {
        self.product.temporary_bytes()
    }
}
