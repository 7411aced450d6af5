//! The products of tensor cores of a kernel, per line and in sum, and the roofs of a GPU for them.

use serde::{Deserialize, Serialize};
use simt::{Factors, ProductProfile};
use units::{Rate, Seconds, grouped};

use crate::gpus::Gpu;
use crate::sites::{SourceSite, add_fields};
use crate::sources::Sources;
use crate::summary::Summary;

/// The GPUs whose peaks are known by their names in [`Gpu::ALL`], with the peaks in 10¹² operations per second for
/// `f16` and `bf16`, `tf32`, `f64`, floats of 8 bits, and `i8`. They are those of NVIDIA's datasheets, for dense
/// matrices, with sums of 32 bits. A zero stands for a type that the tensor cores do not have.
const PEAKS: &[(&str, [f64; 5])] = &[
    ("a100", [312.0, 156.0, 19.5, 0.0, 624.0]),
    ("h100", [989.4, 494.7, 66.9, 1978.9, 1978.9]),
    ("h200", [989.4, 494.7, 66.9, 1978.9, 1978.9]),
];

/// The types of factors, in the order of the peaks.
const FACTORS: [Factors; 5] = [Factors::F16, Factors::Tf32, Factors::F64, Factors::F8, Factors::I8];

/// Returns the name of a type of factors.
const fn name(factors: Factors) -> &'static str {
    match factors {
        Factors::F16 => "f16 or bf16",
        Factors::Tf32 => "tf32",
        Factors::F64 => "f64",
        Factors::F8 => "fp8",
        Factors::I8 => "i8",
        _ => "other",
    }
}

impl Gpu {
    /// Returns the peak of the GPU's tensor cores for a type of factors, in operations per second: that of the
    /// datasheet for dense matrices. Returns `None` if it is not known, or if the tensor cores do not have the type.
    pub fn tensor_peak(&self, factors: Factors) -> Option<f64> {
        // A GPU of this machine has another name and a measured memory. One multiprocessor is a part of a GPU.
        let is_same = |gpu: &&Self| {
            (gpu.arch, gpu.megahertz) == (self.arch, self.megahertz)
                && [1, gpu.multiprocessors].contains(&self.multiprocessors)
        };
        let peaks = |gpu: &'static Self| PEAKS.iter().find(|(id, _)| *id == gpu.id).map(|(_, peaks)| (gpu, peaks));
        let (gpu, peaks) = Self::ALL.iter().filter(is_same).find_map(peaks)?;
        let peak = peaks[FACTORS.iter().position(|there| *there == factors)?];
        let part = f64::from(self.multiprocessors) / f64::from(gpu.multiprocessors);
        (peak > 0.0).then_some(1e12 * peak * part)
    }
}

/// The products of tensor cores, summed: executions, and operations by the type of the factors. An operation is a
/// multiplication or an addition: a product of m × k and k × n elements has 2·m·n·k.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ProductTotals {
    /// The number of times that a warp executed a product. A product of a warpgroup counts in each of its four warps.
    pub executions: u64,
    /// The operations with factors of the types `f16` and `bf16`.
    pub f16: u64,
    /// The operations with factors of the type `tf32`.
    pub tf32: u64,
    /// The operations with factors of the type `f64`.
    pub f64: u64,
    /// The operations with factors of 8 bits: `e4m3` and `e5m2`.
    pub fp8: u64,
    /// The operations with factors of the types `i8` and `u8`.
    pub i8: u64,
}

impl ProductTotals {
    pub(crate) fn of(products: &[ProductProfile]) -> Self {
        let mut totals = Self::default();
        for product in products {
            totals.executions += product.executions;
            match product.instruction.factors {
                Factors::F16 => totals.f16 += product.operations(),
                Factors::Tf32 => totals.tf32 += product.operations(),
                Factors::F64 => totals.f64 += product.operations(),
                Factors::F8 => totals.fp8 += product.operations(),
                _ => totals.i8 += product.operations(),
            }
        }
        totals
    }

    /// Returns true if there are no products.
    pub fn is_empty(&self) -> bool {
        self.executions == 0
    }

    /// Adds the counts of `other` to `self`.
    pub fn add(&mut self, other: &Self) {
        add_fields!(self, other: executions f16 tf32 f64 fp8 i8);
    }

    /// Returns the types of factors that occur, each with its operations.
    fn by_factors(&self) -> impl Iterator<Item = (Factors, u64)> {
        let operations = [self.f16, self.tf32, self.f64, self.fp8, self.i8];
        FACTORS.into_iter().zip(operations).filter(|(_, operations)| *operations > 0)
    }

    /// Returns the number of operations with all types of factors.
    pub fn operations(&self) -> u64 {
        self.by_factors().map(|(_, operations)| operations).sum()
    }

    /// Returns the minimum time in seconds that the tensor cores of `gpu` need. Returns `None` if there are no
    /// products, or if a peak is not known.
    pub(crate) fn seconds(&self, gpu: &Gpu) -> Option<f64> {
        let seconds = |(factors, operations)| Some(operations as f64 / gpu.tensor_peak(factors)?);
        (!self.is_empty()).then(|| self.by_factors().map(seconds).sum::<Option<f64>>())?
    }
}

/// A position in a kernel's source that executes products of tensor cores.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ProductSite {
    /// The position in the source.
    #[serde(flatten)]
    pub place: SourceSite,
    /// The numbers m, n and k of the instruction's shape.
    pub shape: [u32; 3],
    /// The type of the factors, such as `f16 or bf16`.
    pub factors: &'static str,
    /// The number of warps that execute the instruction together: 4 for `wgmma`, 1 for `mma`.
    pub warps: u32,
    /// The number of times that a warp executed the instruction.
    pub executions: u64,
    /// The number of operations: 2·m·n·k per product.
    pub operations: u64,
}

impl ProductSite {
    pub(crate) fn new(product: &ProductProfile, sources: &Sources) -> Self {
        Self {
            place: SourceSite::new(&product.location, sources),
            shape: product.instruction.shape,
            factors: name(product.instruction.factors),
            warps: product.instruction.warps,
            executions: product.executions,
            operations: product.operations(),
        }
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        (self.shape, self.factors, self.warps) == (other.shape, other.factors, other.warps) && self.place == other.place
    }

    pub(crate) fn add(&mut self, other: &Self) {
        add_fields!(self, other: executions operations);
    }

    /// Returns a text that names the instruction, such as `wgmma m64n256k16, f16 or bf16`.
    pub fn what(&self) -> String {
        let [m, n, k] = self.shape;
        format!("{} m{m}n{n}k{k}, {}", if self.warps > 1 { "wgmma" } else { "mma" }, self.factors)
    }
}

/// A kernel's place under the roofs of a GPU's memory and tensor cores. Rates are in operations per second.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct TensorRoofline {
    /// The number of operations.
    pub operations: u64,
    /// The operations per byte that must move, each sector once per launch; `None` if no byte moves.
    pub intensity: Option<f64>,
    /// The operations per byte that moves without caches; `None` if no byte moves.
    pub intensity_as_accessed: Option<f64>,
    /// The time in seconds in which the memory moves the bytes that must move.
    pub memory_seconds: f64,
    /// The time in seconds that the tensor cores need, if their peaks are known.
    pub tensor_seconds: Option<f64>,
    /// The peak of the tensor cores for the types that occur, if it is known.
    pub peak: Option<f64>,
    /// The rate below which the kernel must stay, because of the memory or of the tensor cores.
    pub rate: Option<f64>,
    /// The cause of that limit.
    pub limit: Option<TensorLimit>,
}

/// The part of a GPU that limits the rate of products.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TensorLimit {
    /// The memory, which moves the factors and the sums.
    Memory,
    /// The tensor cores.
    TensorCores,
}

impl TensorRoofline {
    /// Returns the place of a kernel with the figures `summary` under the roofs of `gpu`; `None` if it has no products.
    pub fn of(summary: &Summary, gpu: &Gpu) -> Option<Self> {
        let Summary { products, floor_bytes, moved_bytes, tensor_seconds, .. } = *summary;
        let operations = products.operations();
        let per_byte = |bytes: u64| (bytes > 0).then(|| operations as f64 / bytes as f64);
        let memory_seconds = gpu.used_by(summary.max_blocks).memory_seconds(floor_bytes);
        let peak = tensor_seconds.map(|seconds| operations as f64 / seconds);
        let is_memory = |seconds: f64| memory_seconds > seconds;
        (!products.is_empty()).then_some(Self {
            operations,
            intensity: per_byte(floor_bytes),
            intensity_as_accessed: per_byte(moved_bytes),
            memory_seconds,
            tensor_seconds,
            peak,
            rate: tensor_seconds.map(|seconds| operations as f64 / seconds.max(memory_seconds)),
            limit: tensor_seconds
                .map(is_memory)
                .map(|is| if is { TensorLimit::Memory } else { TensorLimit::TensorCores }),
        })
    }

    /// Returns lines about the operations, the peak, and the roof that binds. `products` are those of the kernel.
    pub(crate) fn lines(&self, products: &ProductTotals) -> Vec<String> {
        let unit = if products.i8 > 0 { "TOP/s" } else { "TFLOP/s" };
        let by_type: Vec<String> = products
            .by_factors()
            .map(|(factors, operations)| format!("{} operations with {} factors", grouped(operations), name(factors)))
            .collect();
        let time = match (self.tensor_seconds, self.peak) {
            (Some(seconds), Some(peak)) => format!("{} at {} {unit}", Seconds(seconds), Rate(peak / 1e12)),
            _ => "the peak of this GPU's tensor cores is not known here".into(),
        };
        let mut lines = vec![format!("tensor cores: {}: {time}", by_type.join(", "))];
        if let Some(intensity) = self.intensity {
            let as_accessed = self
                .intensity_as_accessed
                .map_or_else(String::new, |intensity| format!("; {} per byte as accessed", Rate(intensity)));
            let ridge = self.memory_seconds / self.tensor_seconds.unwrap_or(f64::INFINITY) * intensity;
            let why = match (self.limit, self.rate) {
                (Some(TensorLimit::Memory), Some(rate)) => format!(
                    ", at most {} {unit}, because of the memory (which limits up to {} per byte)",
                    Rate(rate / 1e12),
                    Rate(ridge)
                ),
                (Some(TensorLimit::TensorCores), Some(rate)) => format!(
                    ", at most {} {unit}, because of the tensor cores (which limit from {} per byte on)",
                    Rate(rate / 1e12),
                    Rate(ridge)
                ),
                _ => String::new(),
            };
            lines.push(format!(
                "tensor roofline: {} operations per byte that must move{as_accessed}{why}",
                Rate(intensity)
            ));
        }
        lines
    }
}
