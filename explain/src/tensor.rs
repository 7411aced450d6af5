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
        let Some(intensity) = self.intensity else { return lines };
        let why = match (self.limit, self.rate, self.tensor_seconds) {
            (Some(limit), Some(rate), Some(seconds)) => {
                let (rate, ridge) = (Rate(rate / 1e12), Rate(intensity * self.memory_seconds / seconds));
                let why = match limit {
                    TensorLimit::Memory => format!("the memory (which limits up to {ridge} per byte)"),
                    TensorLimit::TensorCores => format!("the tensor cores (which limit from {ridge} per byte on)"),
                };
                format!(", at most {rate} {unit}, because of {why}")
            }
            _ => String::new(),
        };
        let accessed =
            self.intensity_as_accessed.map(|intensity| format!("; {} per byte as accessed", Rate(intensity)));
        lines.push(format!(
            "tensor roofline: {} operations per byte that must move{why}{}",
            Rate(intensity),
            accessed.unwrap_or_default()
        ));
        lines
    }
}

#[cfg(test)]
mod tests {
    use cuda_std::tensor::mma::{A, Fragment};
    use cuda_std::tensor::{RowMajor, SharedTile, Swizzle128};
    use cuda_std::{bf16, kernel, shared_array, thread};
    use launch::LaunchConfig;

    use super::*;
    use crate::Profile;

    fn summary(products: ProductTotals, floor_bytes: u64, gpu: &Gpu) -> Summary {
        let tensor_seconds = products.seconds(gpu);
        Summary {
            max_blocks: 2,
            products,
            floor_bytes,
            moved_bytes: 2 * floor_bytes,
            tensor_seconds,
            ..Summary::default()
        }
    }

    #[test]
    fn peaks_are_those_of_the_datasheet() {
        let peak = |name, factors| Gpu::find(name).unwrap().tensor_peak(factors).map(|peak| peak / 1e12);
        assert_eq!(FACTORS.map(|factors| peak("h100", factors)), FACTORS.map(|factors| peak("h200", factors)));
        assert_eq!([peak("h200", Factors::F16), peak("h200", Factors::F8)], [Some(989.4), Some(1978.9)]);
        assert_eq!(
            [peak("a100", Factors::F64), peak("a100", Factors::F8), peak("t4", Factors::F16)],
            [Some(19.5), None, None]
        );
        let gpu = Gpu::default_gpu();
        assert_eq!(gpu.used_by(1).tensor_peak(Factors::F16), Some(989.4e12 / 132.0));
        let own = Gpu { id: "gpu", name: "H200", gigabytes_per_second: 1.0, ..*gpu };
        assert_eq!(own.tensor_peak(Factors::F16), Some(989.4e12));
        assert_eq!(Gpu { multiprocessors: 78, ..own }.tensor_peak(Factors::F16), None, "a GPU with fewer of them");
    }

    #[test]
    fn the_lower_roof_binds() {
        let gpu = Gpu::default_gpu();
        // One second of the tensor cores: half of it with factors of 8 bits.
        let products =
            ProductTotals { executions: 1, f16: 494_700_000_000_000, fp8: 989_450_000_000_000, ..Default::default() };
        let of = |floor_bytes| TensorRoofline::of(&summary(products, floor_bytes, gpu), gpu).unwrap();
        let [fast, slow] = [4_225_000_000_000 / 2, 4_225_000_000_000 * 2].map(of);
        assert!((fast.tensor_seconds.unwrap() - 1.0).abs() < 1e-9);
        assert_eq!((fast.limit, fast.rate, fast.memory_seconds), (Some(TensorLimit::TensorCores), fast.peak, 0.5));
        assert_eq!((slow.limit, slow.rate), (Some(TensorLimit::Memory), Some(products.operations() as f64 / 2.0)));
        assert_eq!(slow.intensity, slow.intensity_as_accessed.map(|intensity| 2.0 * intensity));
        let lines = slow.lines(&products);
        assert!(
            lines[0].contains("with f16 or bf16 factors, 989,450,000,000,000 operations with fp8 factors: 1.00 s at"),
            "{lines:?}"
        );
        assert!(
            lines[1].contains(
                "176 operations per byte that must move, at most 742 TFLOP/s, because of the memory (which \
                                   limits up to 351 per byte); 87.8 per byte as accessed"
            ),
            "{lines:?}"
        );
        assert!(fast.lines(&products)[1].contains("the tensor cores (which limit from 351 per byte on)"));
        let unknown = Gpu::find("l4").unwrap();
        let there = TensorRoofline::of(&summary(products, 1 << 40, unknown), unknown).unwrap();
        assert_eq!((there.rate, there.limit), (None, None));
        assert!(there.lines(&products)[0].ends_with("the peak of this GPU's tensor cores is not known here"));
        assert_eq!(TensorRoofline::of(&Summary::default(), gpu), None);
    }

    /// Moves 16 × 16 elements whose rows begin every `pitch` elements from shared memory to registers and back.
    #[kernel]
    fn move_matrix(pitch: usize) {
        let tile = shared_array![bf16; 16 * 64];
        let matrix = Fragment::<A, bf16, 16, 16>::ldmatrix(RowMajor(tile, pitch), 0, 0);
        matrix.stmatrix(RowMajor(tile, pitch), 0, 0);
    }

    /// Stores a column of 32 elements, first in rows of 128 bytes and then in a tile with a swizzle.
    #[kernel]
    fn store_columns() {
        let row = thread::index_in_block() as usize;
        let array = shared_array![bf16; 3 * 1024].aligned(1024).part(0, 2048);
        array.store(64 * row, bf16::from_f32(1.0));
        SharedTile::<bf16, 32, 64, Swizzle128>::at(array, 0).store(row, 0, bf16::from_f32(1.0));
    }

    /// Returns the requests, wavefronts and ideal wavefronts of each access to shared memory, with the worst conflict.
    fn shared(profile: &Profile) -> Vec<(u64, u64, u64, u32)> {
        let mut sites: Vec<_> = profile.kernels[0].sites.iter().collect();
        sites.sort_by_key(|site| site.place.line);
        let counts = |traffic: &crate::Traffic| (traffic.requests, traffic.wavefronts, traffic.ideal_wavefronts);
        sites
            .iter()
            .map(|site| (counts(&site.traffic), site.most_ways))
            .map(|((a, b, c), ways)| (a, b, c, ways))
            .collect()
    }

    #[test]
    fn a_matrix_move_takes_a_wavefront_for_8_rows_in_different_banks() {
        for (pitch, ways) in [(24, 1), (16, 2), (64, 8)] {
            let profile = crate::profile(|device| device.launch(LaunchConfig::new(1, 32), move_matrix(pitch)));
            let profile = profile.unwrap();
            assert_eq!(shared(&profile), [(1, 4 * u64::from(ways), 4, ways); 2], "{pitch}");
            assert_eq!(profile.kernels[0].totals.warp_operations, 0);
        }
    }

    #[test]
    fn a_swizzle_spreads_a_column_over_8_groups_of_banks() {
        let profile = crate::profile(|device| device.launch(LaunchConfig::new(1, 32), store_columns())).unwrap();
        assert_eq!(shared(&profile), [(1, 32, 1, 32), (1, 4, 1, 4)]);
        // Kernels without products and bulk copies have the JSON that they had before these were counted.
        let json = serde_json::to_string(&profile).unwrap();
        for figure in ["bulk", "products", "tensor_seconds", "pipeline"] {
            assert!(!json.contains(figure), "{figure}: {json}");
        }
    }
}
