//! What is measured: each algorithm's rungs by type, variant and size.

use std::fmt;

use ::launch::Device;
use clap::ValueEnum;

use super::Bench;
use crate::overhead;
use crate::rungs::Rung;

pub(super) mod copy;
mod launch;
mod life;
mod reduce;
mod saxpy;
mod scale;
mod scan;
mod stream;
mod transpose;

/// What can be measured.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum Algorithm {
    /// The device's own copy, and the fastest setting of the copy kernel.
    Copy,
    /// y = a·x + y.
    Saxpy,
    /// y = s·x.
    Scale,
    /// The sum.
    Reduce,
    /// Prefix sums.
    Scan,
    /// The transpose of matrices.
    Transpose,
    /// Conway's Life, by generation.
    Life,
    /// What a launch costs the host.
    Launch,
    /// saxpy on data of the host, copied both ways while it computes.
    Stream,
}

impl Algorithm {
    /// Its name on the command line and in a row.
    pub fn name(self) -> &'static str {
        match self {
            Self::Copy => "copy",
            Self::Saxpy => "saxpy",
            Self::Scale => "scale",
            Self::Reduce => "reduce",
            Self::Scan => "scan",
            Self::Transpose => "transpose",
            Self::Life => "life",
            Self::Launch => "launch",
            Self::Stream => "stream",
        }
    }
}

/// How much is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scope {
    /// Few sizes.
    pub quick: bool,
    /// Small ones.
    pub simulated: bool,
}

impl Scope {
    /// On `device`.
    pub fn on(device: &Device, quick: bool) -> Self {
        Self { quick, simulated: device.is_simulated() }
    }

    /// The lengths of vectors of elements of so many bytes.
    fn lengths(self, element_bytes: usize) -> Vec<Shape> {
        let is_wide = element_bytes > 4;
        let exponents: Vec<u32> = match (self.simulated, self.quick) {
            (true, true) => vec![10, 12],
            (true, false) => vec![10, 12, 14, 16],
            (false, true) => vec![16, 20, if is_wide { 27 } else { 28 }],
            (false, false) => (10..=if is_wide { 29 } else { 30 }).collect(),
        };
        exponents.into_iter().map(|exponent| Shape::vector(1 << exponent)).collect()
    }

    /// Square matrices.
    fn squares(self) -> Vec<Shape> {
        let exponents: Vec<u32> = match (self.simulated, self.quick) {
            (true, true) => vec![5, 6],
            (true, false) => vec![5, 6, 7, 8],
            (false, true) => vec![8, 10, 14],
            (false, false) => (5..=15).collect(),
        };
        exponents.into_iter().map(|exponent| Shape::plane(1 << exponent, 1 << exponent)).collect()
    }

    /// The largest square that every run has, and for no kernel its favourite.
    fn odd(self) -> Shape {
        if self.simulated { Shape::plane(63, 65) } else { Shape::plane(16383, 16385) }
    }

    /// Boards.
    fn boards(self) -> Vec<Shape> {
        let sides: &[usize] = match (self.simulated, self.quick) {
            (true, true) => &[64, 128],
            (true, false) => &[64, 128, 256],
            (false, true) => &[256, 8192, 65_536],
            (false, false) => &[256, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536],
        };
        sides.iter().map(|&side| Shape::plane(side, side)).collect()
    }
}

/// A vector's length, or a matrix's or board's sides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Columns.
    pub width: usize,
    /// Rows; of a vector `None`.
    pub height: Option<usize>,
}

impl Shape {
    fn vector(len: usize) -> Self {
        Self { width: len, height: None }
    }

    fn plane(width: usize, height: usize) -> Self {
        Self { width, height: Some(height) }
    }

    /// How many there are.
    pub fn elements(self) -> usize {
        self.width.saturating_mul(self.height.unwrap_or(1))
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.height {
            Some(height) => write!(f, "{}x{height}", self.width),
            None => write!(f, "{}", self.width),
        }
    }
}

/// Which rungs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rungs {
    /// All of the ladder.
    All,
    /// The one that is called where nobody asks for another.
    Last,
}

/// One algorithm for one type and variant, over several sizes.
#[derive(Clone, PartialEq, Debug)]
pub struct Work {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The element type's name.
    pub number: &'static str,
    /// "inclusive" or "exclusive".
    pub variant: Option<&'static str>,
    /// The rungs.
    pub rungs: Rungs,
    /// The sizes.
    pub shapes: Vec<Shape>,
}

impl Work {
    fn new(algorithm: Algorithm, number: &'static str, rungs: Rungs, shapes: Vec<Shape>) -> Self {
        Self { algorithm, number, variant: None, rungs, shapes }
    }

    fn variant(self, variant: &'static str) -> Self {
        Self { variant: Some(variant), ..self }
    }

    /// Elements of its largest size.
    pub fn largest(&self) -> usize {
        self.shapes.iter().map(|shape| shape.elements()).max().unwrap_or(0)
    }

    /// Its points: sizes × rungs.
    pub fn points(&self) -> usize {
        let rungs = match (self.rungs, self.algorithm) {
            (Rungs::Last, _) => 1,
            (Rungs::All, Algorithm::Copy) => 2,
            (Rungs::All, Algorithm::Saxpy) => crate::saxpy::SaxpyKernel::ALL.len(),
            (Rungs::All, Algorithm::Scale) => crate::scale::ScaleKernel::ALL.len(),
            (Rungs::All, Algorithm::Reduce) => crate::reduce::ReduceKernel::ALL.len(),
            (Rungs::All, Algorithm::Scan) => crate::scan::ScanKernel::ALL.len(),
            (Rungs::All, Algorithm::Transpose) => crate::transpose::TransposeKernel::ALL.len(),
            (Rungs::All, Algorithm::Life) => crate::life::LifeKernel::ALL.len(),
            (Rungs::All, Algorithm::Launch) => launch::KINDS,
            (Rungs::All, Algorithm::Stream) => stream::CHUNKS.len(),
        };
        rungs * self.shapes.len()
    }

    /// Measures it.
    ///
    /// # Errors
    /// When the device fails.
    pub fn run(&self, bench: &mut Bench) -> anyhow::Result<()> {
        match (self.algorithm, self.number) {
            (Algorithm::Copy, _) => copy::run(bench, self),
            (Algorithm::Saxpy, "f64") => saxpy::run::<f64>(bench, self),
            (Algorithm::Saxpy, _) => saxpy::run::<f32>(bench, self),
            (Algorithm::Scale, "i32") => scale::run::<i32>(bench, self),
            (Algorithm::Scale, _) => scale::run::<f32>(bench, self),
            (Algorithm::Reduce, "f64") => reduce::run::<f64>(bench, self),
            (Algorithm::Reduce, "i32") => reduce::run::<i32>(bench, self),
            (Algorithm::Reduce, _) => reduce::run::<f32>(bench, self),
            (Algorithm::Scan, "f64") => scan::run::<f64>(bench, self),
            (Algorithm::Scan, "i32") => scan::run::<i32>(bench, self),
            (Algorithm::Scan, _) => scan::run::<f32>(bench, self),
            (Algorithm::Transpose, "f64") => transpose::run(bench, self, |bits| bits),
            (Algorithm::Transpose, "u8") => transpose::run(bench, self, |bits| bits as u8),
            (Algorithm::Transpose, "u16") => transpose::run(bench, self, |bits| bits as u16),
            (Algorithm::Transpose, _) => transpose::run(bench, self, |bits| bits as u32),
            (Algorithm::Life, _) => life::run(bench, self),
            (Algorithm::Launch, _) => launch::run(bench, self),
            (Algorithm::Stream, _) => stream::run(bench, self),
        }
    }
}

/// The works of an algorithm.
pub fn works(algorithm: Algorithm, scope: Scope) -> Vec<Work> {
    use Rungs::{All, Last};
    let vector = |number, bytes, rungs| Work::new(algorithm, number, rungs, scope.lengths(bytes));
    match algorithm {
        Algorithm::Copy => vec![vector("f32", 4, All)],
        Algorithm::Saxpy => vec![vector("f32", 4, All), vector("f64", 8, Last)],
        Algorithm::Scale => vec![vector("f32", 4, All), vector("i32", 4, Last)],
        Algorithm::Reduce => vec![vector("f32", 4, All), vector("i32", 4, Last), vector("f64", 8, Last)],
        Algorithm::Scan => vec![
            vector("f32", 4, All).variant("inclusive"),
            vector("f32", 4, Last).variant("exclusive"),
            vector("i32", 4, Last).variant("inclusive"),
            vector("i32", 4, Last).variant("exclusive"),
            vector("f64", 8, Last).variant("inclusive"),
            vector("f64", 8, Last).variant("exclusive"),
        ],
        Algorithm::Transpose => {
            let squares = |number, rungs| Work::new(algorithm, number, rungs, scope.squares());
            vec![
                squares("f32", All),
                Work::new(algorithm, "f32", Last, vec![scope.odd()]),
                squares("f64", Last),
                squares("u8", Last),
                squares("u16", Last),
            ]
        }
        Algorithm::Life => vec![Work::new(algorithm, "bit", All, scope.boards())],
        Algorithm::Launch => vec![Work::new(algorithm, "f32", All, vec![Shape::vector(overhead::N)])],
        Algorithm::Stream => {
            vec![Work::new(algorithm, "f32", All, vec![Shape::vector(if scope.simulated { 1 << 12 } else { 1 << 26 })])]
        }
    }
}

/// The rungs of a ladder that a work measures.
fn rungs<R: Rung>(work: &Work, last: R) -> Vec<R> {
    match work.rungs {
        Rungs::All => R::ALL.to_vec(),
        Rungs::Last => vec![last],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_small_in_the_simulator_and_few_in_a_hurry() {
        // The others have one size.
        let over_sizes = |algorithm: &&Algorithm| !matches!(algorithm, Algorithm::Launch | Algorithm::Stream);
        for algorithm in Algorithm::value_variants().iter().filter(over_sizes) {
            for (quick, simulated) in [(true, true), (false, true), (true, false), (false, false)] {
                let all = works(*algorithm, Scope { quick, simulated });
                let most = all.iter().flat_map(|work| &work.shapes).map(|shape| shape.elements()).max().unwrap();
                let least = if simulated { 1 << 12 } else { 1 << 28 };
                assert!(most >= least && (!simulated || most <= 1 << 16), "{algorithm:?}: {most}");
                let points: usize = all.iter().map(Work::points).sum();
                assert!(points <= if quick { 36 } else { 400 }, "{algorithm:?}: {points}");
            }
        }
    }

    /// The sizes that the last rungs are compared with their peers at are in every run on a GPU.
    #[test]
    fn every_run_has_the_sizes_that_are_compared() {
        for quick in [true, false] {
            let scope = Scope { quick, simulated: false };
            let has = |algorithm, number: &str, elements: usize| {
                works(algorithm, scope)
                    .iter()
                    .any(|work| work.number == number && work.shapes.iter().any(|shape| shape.elements() == elements))
            };
            for algorithm in [Algorithm::Saxpy, Algorithm::Reduce, Algorithm::Scan, Algorithm::Copy] {
                for exponent in [16, 20, 28] {
                    assert!(has(algorithm, "f32", 1 << exponent), "{algorithm:?} {exponent}");
                }
            }
            assert!(has(Algorithm::Scan, "f64", 1 << 27) && has(Algorithm::Life, "bit", 1 << 32));
            for number in ["f32", "f64", "u8", "u16"] {
                assert!(has(Algorithm::Transpose, number, 1 << 28), "{number}");
            }
            assert!(has(Algorithm::Transpose, "f32", 16383 * 16385));
        }
    }

    #[test]
    fn shapes_are_written_as_they_are_typed() {
        assert_eq!(Shape::vector(1024).to_string(), "1024");
        assert_eq!(Shape::plane(16383, 16385).to_string(), "16383x16385");
    }
}
