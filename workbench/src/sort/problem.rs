//! The implementation of [`Algorithm`] for sort.

use std::sync::OnceLock;

use cuda_std::{Element, Ladder, Rung, Zeroable, bf16, f16};
use gpu::sort::{NoPayload, Words4};
use launch::{Buffer, Device, Held, Queue, Resources};

use super::kind::Kind;
use super::reference::{self, ReferenceKey};
use crate::algorithm::{
    Aim, Algorithm, Fact, Measurement, Options, Other, Problem, ProblemOption, Shape, Target, rung_of,
};
use crate::deviation::Deviation;
use crate::error::{WorkbenchError, invalid};
use crate::vectors::{Computation, HostVector, Layout, Layouts, VectorProblem, Vectors, typed};
use gridstride::numbers::NumberType;
use gridstride::sort::{SortMethod, SortOptions, SortRung, Sorter, default_rung, plan};

/// The algorithm sort, which sorts random keys.
pub struct SortAlgorithm;

/// The types of keys that have a name on the command line.
const TYPES: [NumberType; 11] = {
    use NumberType::*;
    [U32, I32, F32, U64, I64, F64, U16, F16, Bf16, U8, I8]
};

impl Algorithm for SortAlgorithm {
    fn rungs(&self) -> &'static [Rung] {
        SortRung::RUNGS
    }

    fn about(&self) -> &'static str {
        "Measure the sort of random keys and check it\n\n\
         Times are medians of several runs after a warm-up, by device events on a GPU and by the clock in the \
         simulator. Bandwidth counts each key once read and once written, and no value, in GB of 10⁹ bytes. It is shown \
         beside the speed of the device's own copy in the same run. Keys must be exactly those of the standard \
         library's sort, where floats are in the order of total_cmp. Each value must be with its key, and the values of \
         equal keys in their old order."
    }

    fn options(&self) -> &'static [ProblemOption] {
        const TYPE: ProblemOption = ProblemOption { default: "u32", ..ProblemOption::NUMBER };
        const VALUES: ProblemOption = ProblemOption {
            name: "values",
            value: "BYTES",
            help: "Size of the value that moves with each key: 0 (no values), 4, 8 or 16 bytes",
            default: "0",
            check: |text| match text {
                "0" | "4" | "8" | "16" => Ok(()),
                _ => Err("it must be 0, 4, 8 or 16".into()),
            },
        };
        const METHOD: ProblemOption = ProblemOption {
            name: "method",
            value: "METHOD",
            help: "Kernels of rung one_sweep: auto (by the number of keys), block, cluster:N with N blocks, or many",
            default: "auto",
            check: |text| method(text).map(drop),
        };
        const DESCENDING: ProblemOption = ProblemOption::flag("descending", "Sort in descending order");
        &[TYPE, Kind::OPTION, VALUES, DESCENDING, METHOD, ProblemOption::FROM]
    }

    fn types(&self) -> Vec<NumberType> {
        TYPES.to_vec()
    }

    fn problem(&self, shape: Shape, options: &Options) -> Result<Box<dyn Problem>, WorkbenchError> {
        let problem = SortProblem {
            n: shape.elements(),
            from: options.value("from", 0)?,
            seed: options.seed,
            kind: Kind::parse(options.get("keys").unwrap_or("uniform"))?,
            number: options.element_type(self.name(), &self.types())?,
            value_bytes: options.value("values", 0)?,
            order: SortOptions {
                descending: options.has("descending"),
                method: method(options.get("method").unwrap_or("auto")).map_err(WorkbenchError::Options)?,
                ..SortOptions::default()
            },
            expected: OnceLock::new(),
        };
        if problem.from > 0 && problem.value_bytes > 0 {
            return invalid!("values begin at the first element of their buffer: leave out --from or --values");
        }
        Ok(Box::new(problem))
    }

    fn measurements(&self) -> Vec<Measurement> {
        const KEYS: &[Target] = &[Target::Peer(1.2, "CUB")];
        const PAIRS: &[Target] = &[Target::Peer(1.1, "CUB")];
        let (keys, wide) = (Measurement::vectors("u32"), Measurement::vectors("u64"));
        vec![
            keys.variant("uniform", &[])
                .ladder()
                .aims(const { &[Aim::vector("sort of uniform u32", 28, KEYS)] })
                .small(),
            keys.variant("constant", &[("keys", "constant")])
                .aims(const { &[Aim::vector("sort of constant u32", 28, KEYS)] }),
            keys.variant("pairs", &[("values", "4")])
                .aims(const { &[Aim::vector("sort of u32 with values of 4 bytes", 28, PAIRS)] })
                .small(),
            Measurement::vectors("f32")
                .variant("uniform", &[])
                .aims(const { &[Aim::vector("sort of uniform f32", 28, KEYS)] }),
            wide.variant("uniform", &[]).aims(const { &[Aim::vector("sort of uniform u64", 27, PAIRS)] }),
            wide.variant("pairs", &[("values", "4")])
                .aims(const { &[Aim::vector("sort of u64 with values of 4 bytes", 27, PAIRS)] }),
        ]
    }

    fn others(&self) -> &'static [Other] {
        const { &[super::fields::GATHER, CLUSTER] }
    }
}

/// The kernel that sorts few keys in one cluster.
const CLUSTER: Other = Other {
    name: "cluster",
    idea: "Sorts few keys in one launch, by the blocks of one cluster.",
    families: &["sort_cluster"],
    shape: Shape::Vector(1 << 13),
    options: &[("method", "cluster:2")],
    run: |device, shape, options| {
        let (problem, rung) = (SortAlgorithm.problem(shape, options)?, default_rung().rung());
        problem.check(device, rung)?;
        problem.inputs(device)?.prepare(rung)?.run(device.queue())
    },
};

/// Parses a method of the rung `one_sweep`, or `auto` as `None`.
fn method(text: &str) -> Result<Option<SortMethod>, String> {
    if text == "auto" { Ok(None) } else { text.parse().map(Some) }
}

/// The problem of sorting `n` random keys.
struct SortProblem {
    n: usize,
    from: usize,
    seed: u64,
    kind: Kind,
    number: NumberType,
    value_bytes: usize,
    order: SortOptions,
    /// The sorted keys of the reference, computed when they are first needed.
    expected: OnceLock<HostVector>,
}

/// Evaluates `body` with `V` as the type of the problem's values.
macro_rules! with_values {
    ($problem:expr, $V:ident => $body:expr) => {
        match $problem.value_bytes {
            0 => {
                type $V = NoPayload;
                $body
            }
            4 => {
                type $V = u32;
                $body
            }
            8 => {
                type $V = u64;
                $body
            }
            _ => {
                type $V = Words4;
                $body
            }
        }
    };
}

impl SortProblem {
    fn key<K: ReferenceKey>(&self, index: usize) -> K {
        self.kind.key(self.seed, self.n, index)
    }

    /// Returns the sorted keys of the reference.
    fn expected(&self) -> Result<&HostVector, WorkbenchError> {
        if let Some(expected) = self.expected.get() {
            return Ok(expected);
        }
        let mut keys = HostVector::new(self.number, self.n)?;
        self.fill(false, &mut keys)?;
        typed!(self.number, [u32 i32 f32 u64 i64 f64 u16 f16 bf16 u8 i8], K => {
            // Keys that compare equal have the same bits, because no key is NaN.
            keys.elements_mut::<K>().sort_unstable_by(|a, b| reference::compare(a, b, &self.order));
            Ok(())
        })?;
        Ok(self.expected.get_or_init(|| keys))
    }
}

impl VectorProblem for SortProblem {
    fn heading(&self) -> String {
        let direction = if self.order.descending { "descending sort" } else { "sort" };
        let values =
            if self.value_bytes > 0 { format!(" with values of {} bytes", self.value_bytes) } else { String::new() };
        format!("{direction}, {} keys of {}{values}, n = {}", self.kind.name(), self.number, self.n)
    }

    fn properties(&self) -> Vec<(&'static str, Fact)> {
        vec![
            ("n", Fact::Count(self.n as u64)),
            ("type", Fact::Name(self.number.name())),
            ("keys", Fact::Name(self.kind.name())),
            ("values", Fact::Count(self.value_bytes as u64)),
            ("descending", Fact::Flag(self.order.descending)),
        ]
    }

    fn distinction(&self) -> Option<String> {
        let values =
            if self.value_bytes > 0 { format!(", values of {} bytes", self.value_bytes) } else { String::new() };
        let direction = if self.order.descending { ", descending" } else { "" };
        Some(format!("{} keys{values}{direction}", self.kind.name()))
    }

    fn ladder(&self) -> &'static [Rung] {
        SortRung::RUNGS
    }

    fn layouts(&self) -> Layouts {
        let x = Layout { number: self.number, from: self.from, len: self.n };
        Layouts { x, y: x, accesses: 2 }
    }

    fn workspace_bytes(&self, _device: &Device, rung: &Rung) -> u64 {
        // The sizes that do not grow with the number of keys do not matter.
        let n = self.n as u64;
        let between = match rung_of::<SortRung>(rung) {
            Ok(SortRung::BitonicBlock | SortRung::Bitonic) | Err(_) => 0,
            Ok(SortRung::Split) => self.number.bytes() as u64 + 8,
            Ok(SortRung::FourBit | SortRung::OneSweep) => (self.number.bytes() + self.value_bytes) as u64 + 1,
        };
        n.saturating_mul(between + 2 * self.value_bytes as u64)
    }

    fn supports(&self, device: &Device, rung: &Rung) -> Result<(), WorkbenchError> {
        let rung = rung_of::<SortRung>(rung)?;
        typed!(self.number, [u32 i32 f32 u64 i64 f64 u16 f16 bf16 u8 i8], K => {
            Ok(with_values!(self, V => plan::<K, V>(device, rung, self.n, &self.order)).map(drop)?)
        })
    }

    fn default_rung(&self, _device: &Device) -> &'static Rung {
        default_rung().rung()
    }

    fn fill(&self, _is_exact: bool, x: &mut HostVector) -> Result<(), WorkbenchError> {
        typed!(self.number, [u32 i32 f32 u64 i64 f64 u16 f16 bf16 u8 i8], K => {
            x.fill::<K>(|index| self.key(index));
            Ok(())
        })
    }

    fn computation(&self, device: &Device, rung: &Rung) -> Result<Box<dyn Computation + '_>, WorkbenchError> {
        let rung = rung_of(rung)?;
        typed!(self.number, [u32 i32 f32 u64 i64 f64 u16 f16 bf16 u8 i8], K => {
            with_values!(self, V => SortComputation::<K, V>::boxed(self, device, rung))
        })
    }
}

struct SortComputation<'p, K: ReferenceKey, V: Value> {
    problem: &'p SortProblem,
    sorter: Sorter<K, V>,
    values: Buffer<V>,
    values_out: Buffer<V>,
}

/// The type of a value that holds the index of its key.
trait Value: Element {
    fn of_index(index: usize) -> Self;
    fn index(self) -> usize;
}

impl Value for NoPayload {
    fn of_index(_: usize) -> Self {
        Self::zeroed()
    }

    fn index(self) -> usize {
        0
    }
}

macro_rules! values {
    ($($type:ident: $index:ident => $value:expr, $own:ident => $of:expr;)*) => {$(
        impl Value for $type {
            fn of_index($index: usize) -> Self {
                $value
            }

            fn index(self) -> usize {
                let $own = self;
                $of
            }
        }
    )*};
}

values! {
    u32: index => index as u32, value => value as usize;
    u64: index => index as u64, value => value as usize;
    Words4: index => [index as u32, !(index as u32), (index >> 32) as u32, 4], value => {
        // A value whose parts belong to different keys counts as that of no key.
        if value[1] == !value[0] && value[3] == 4 { value[0] as usize | (value[2] as usize) << 32 } else { usize::MAX }
    };
}

impl<'p, K: ReferenceKey, V: Value> SortComputation<'p, K, V> {
    fn boxed(
        problem: &'p SortProblem,
        device: &Device,
        rung: SortRung,
    ) -> Result<Box<dyn Computation + 'p>, WorkbenchError> {
        let n = if problem.value_bytes > 0 { problem.n } else { 0 };
        let values: Vec<V> = (0..n).map(V::of_index).collect();
        Ok(Box::new(Self {
            problem,
            sorter: Sorter::new(device, rung, problem.n, &problem.order)?,
            values: device.upload(&values)?,
            values_out: device.alloc(n)?,
        }))
    }

    /// Checks that each value is with its key, and that the values of equal keys are in ascending order. `keys` are the
    /// sorted keys.
    fn check_values(&self, keys: &[K], deviation: &mut Deviation) -> Result<(), WorkbenchError> {
        let found = self.values_out.download()?;
        let mut before = None;
        for (place, (value, key)) in found.into_iter().zip(keys).enumerate() {
            let index = value.index();
            let is_key = index < keys.len() && self.problem.key::<K>(index).compare(key).is_eq();
            let is_later =
                before.is_none_or(|(earlier, last): (usize, &K)| last.compare(key).is_ne() || earlier < index);
            if !is_key || !is_later {
                deviation.add_exact(place, format!("the value of key {index}"), "another".to_owned());
                break;
            }
            before = Some((index, key));
        }
        Ok(())
    }
}

impl<K: ReferenceKey, V: Value> Computation for SortComputation<'_, K, V> {
    fn run(&mut self, queue: Queue<'_>, Vectors { x, y, .. }: Vectors<'_>) -> Result<(), WorkbenchError> {
        let values = (self.values.view(), self.values_out.view_mut());
        Ok(self.sorter.sort_pairs_views(queue, (x.view()?, values.0), (y.view_mut()?, values.1))?)
    }

    fn compare(&mut self, Vectors { y, host, .. }: Vectors<'_>) -> Result<Deviation, WorkbenchError> {
        y.download(host)?;
        let expected = self.problem.expected()?.elements::<K>();
        let mut deviation = Deviation::of_exact(host.elements::<K>(), |index| expected[index]);
        if self.problem.value_bytes > 0 && deviation.wrong.is_none() {
            self.check_values(host.elements(), &mut deviation)?;
        }
        Ok(deviation)
    }

    fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
        self.sorter.hold(held);
        self.values.hold(held);
        self.values_out.hold(held);
    }

    fn workspace_bytes(&self) -> u64 {
        self.sorter.temporary_bytes() + 2 * (self.values.len() * size_of::<V>()) as u64
    }

    fn is_for_series(&self) -> bool {
        self.problem.value_bytes == 0
    }
}
