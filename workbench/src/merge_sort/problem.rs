//! The implementation of [`Algorithm`] for merge sort.

use std::sync::OnceLock;

use cuda_std::{ArgumentId, Ladder, Rung};
use launch::{Device, Held, Queue, Resources};

use crate::algorithm::{Algorithm, Fact, Measurement, Options, Problem, ProblemOption, Shape, rung_of};
use crate::deviation::Deviation;
use crate::error::WorkbenchError;
use crate::sort::kind::Kind;
use crate::vectors::{Computation, HostVector, Layout, Layouts, VectorProblem, Vectors};
use gridstride::capabilities::of_operator;
use gridstride::merge_sort::{Less, MergeSortRung, MergeSorter};
use gridstride::numbers::NumberType;

/// The algorithm merge sort, which sorts random elements by a comparison.
pub struct MergeSortAlgorithm;

impl Algorithm for MergeSortAlgorithm {
    fn rungs(&self) -> &'static [Rung] {
        MergeSortRung::RUNGS
    }

    fn about(&self) -> &'static str {
        "Measure the sort of random elements by a comparison and check it\n\n\
         Elements are u32, and the comparison is <. Times are medians of several runs after a warm-up, by device events \
         on a GPU and by the clock in the simulator. Bandwidth counts each element once read and once written, in GB of \
         10⁹ bytes. It is shown beside the speed of the device's own copy in the same run. The elements must be exactly \
         those of the standard library's sort."
    }

    fn options(&self) -> &'static [ProblemOption] {
        const TYPE: ProblemOption = ProblemOption { default: "u32", ..ProblemOption::NUMBER };
        const { &[TYPE, Kind::OPTION, ProblemOption::FROM] }
    }

    fn types(&self) -> Vec<NumberType> {
        vec![NumberType::U32]
    }

    fn problem(&self, shape: Shape, options: &Options) -> Result<Box<dyn Problem>, WorkbenchError> {
        options.element_type(self.name(), &self.types())?;
        Ok(Box::new(MergeSortProblem {
            n: shape.elements(),
            from: options.value("from", 0)?,
            seed: options.seed,
            kind: Kind::parse(options.get("keys").unwrap_or("uniform"))?,
            expected: OnceLock::new(),
        }))
    }

    fn measurements(&self) -> Vec<Measurement> {
        let of = Measurement::vectors("u32");
        vec![of.variant("uniform", &[]).ladder().small(), of.variant("sorted", &[("keys", "sorted")])]
    }
}

/// The problem of sorting `n` random elements by `<`.
struct MergeSortProblem {
    n: usize,
    from: usize,
    seed: u64,
    kind: Kind,
    /// The sorted elements, computed when they are first needed.
    expected: OnceLock<Vec<u32>>,
}

impl MergeSortProblem {
    fn element(&self, index: usize) -> u32 {
        self.kind.key(self.seed, self.n, index)
    }

    fn expected(&self) -> &[u32] {
        self.expected.get_or_init(|| {
            let mut elements: Vec<u32> = (0..self.n).map(|index| self.element(index)).collect();
            elements.sort_unstable();
            elements
        })
    }
}

impl VectorProblem for MergeSortProblem {
    fn heading(&self) -> String {
        format!("merge sort, {} elements of u32, n = {}", self.kind.name(), self.n)
    }

    fn properties(&self) -> Vec<(&'static str, Fact)> {
        vec![
            ("n", Fact::Count(self.n as u64)),
            ("type", Fact::Name(NumberType::U32.name())),
            ("keys", Fact::Name(self.kind.name())),
        ]
    }

    fn distinction(&self) -> Option<String> {
        Some(format!("{} elements", self.kind.name()))
    }

    fn ladder(&self) -> &'static [Rung] {
        MergeSortRung::RUNGS
    }

    fn instance(&self) -> Vec<ArgumentId> {
        of_operator::<u32, Less>().to_vec()
    }

    fn layouts(&self) -> Layouts {
        let x = Layout { number: NumberType::U32, from: self.from, len: self.n };
        Layouts { x, y: x, accesses: 2 }
    }

    fn workspace_bytes(&self, _device: &Device, _rung: &Rung) -> u64 {
        self.layouts().x.len as u64 * 4
    }

    fn supports(&self, _device: &Device, rung: &Rung) -> Result<(), WorkbenchError> {
        rung_of::<MergeSortRung>(rung).map(drop)
    }

    fn default_rung(&self, _device: &Device) -> &'static Rung {
        gridstride::merge_sort::default_rung().rung()
    }

    fn fill(&self, _is_exact: bool, x: &mut HostVector) -> Result<(), WorkbenchError> {
        x.fill::<u32>(|index| self.element(index));
        Ok(())
    }

    fn computation(&self, device: &Device, rung: &Rung) -> Result<Box<dyn Computation + '_>, WorkbenchError> {
        let sorter = MergeSorter::new(device, rung_of(rung)?, self.n)?;
        Ok(Box::new(MergeSortComputation { problem: self, sorter }))
    }
}

struct MergeSortComputation<'p> {
    problem: &'p MergeSortProblem,
    sorter: MergeSorter<u32, Less>,
}

impl Computation for MergeSortComputation<'_> {
    fn run(&mut self, queue: Queue<'_>, Vectors { x, y, .. }: Vectors<'_>) -> Result<(), WorkbenchError> {
        Ok(self.sorter.sort_views(queue, Less, x.view()?, y.view_mut()?)?)
    }

    fn compare(&mut self, Vectors { y, host, .. }: Vectors<'_>) -> Result<Deviation, WorkbenchError> {
        y.download(host)?;
        let expected = self.problem.expected();
        Ok(Deviation::of_exact(host.elements::<u32>(), |index| expected[index]))
    }

    fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
        self.sorter.hold(held);
    }

    fn workspace_bytes(&self) -> u64 {
        self.sorter.temporary_bytes()
    }

    fn is_for_series(&self) -> bool {
        true
    }
}
