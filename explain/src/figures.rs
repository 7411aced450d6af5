//! The figures of a kernel's launches, per line and in sum.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use simt::{BytesInFlight, Profile, SourceLocation, WarpStep};

use crate::bulk::{BulkSite, BulkTotals, Pipeline};
use crate::gpus::Gpu;
use crate::meaning;
use crate::occupancy::{LocalMemory, Multiprocessor, Occupancy, Resources};
use crate::sites::{AccessSite, BranchSite, Kind, Memory, SECTOR, Traffic, add_fields};
use crate::sources::Sources;
use crate::tensor::{ProductSite, ProductTotals};

/// The memory traffic of loads, stores and atomic updates.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct TrafficByKind {
    /// The traffic of loads.
    pub load: Traffic,
    /// The traffic of stores.
    pub store: Traffic,
    /// The traffic of atomic updates.
    pub atomic: Traffic,
}

impl TrafficByKind {
    fn of(&mut self, kind: Kind) -> &mut Traffic {
        match kind {
            Kind::Load => &mut self.load,
            Kind::Store => &mut self.store,
            Kind::Atomic => &mut self.atomic,
        }
    }

    /// Adds the counts of `other` to `self`.
    pub fn add(&mut self, other: &Self) {
        self.load.add(&other.load);
        self.store.add(&other.store);
        self.atomic.add(&other.atomic);
    }

    /// Returns the sum of the traffic of all kinds.
    pub fn all(&self) -> Traffic {
        let mut all = self.load;
        all.add(&self.store);
        all.add(&self.atomic);
        all
    }
}

/// The counts of a kernel, summed over several launches.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Totals {
    /// The traffic in global memory.
    pub global: TrafficByKind,
    /// The traffic in shared memory.
    pub shared: TrafficByKind,
    /// The bulk copies.
    #[serde(default, skip_serializing_if = "BulkTotals::is_empty")]
    pub bulk: BulkTotals,
    /// The products of tensor cores.
    #[serde(default, skip_serializing_if = "ProductTotals::is_empty")]
    pub products: ProductTotals,
    /// The number of barriers that blocks reached.
    pub barriers: u64,
    /// The number of warp synchronisations, shuffles and votes. Each group of lanes that executes one counts once.
    pub warp_operations: u64,
    /// The number of executed fences, counted per thread.
    pub fences: u64,
    /// The number of different sectors of global memory that a launch read, summed over the launches.
    pub sectors_read: u64,
    /// The number of different sectors of global memory that a launch wrote, summed over the launches.
    pub sectors_written: u64,
    /// The number of times that a warp executed a branch.
    pub branches: u64,
    /// The number of times that a warp executed a branch and only some of its lanes took it.
    pub divergent_branches: u64,
}

impl Totals {
    fn of(profile: &Profile) -> Self {
        let mut totals = Self {
            bulk: BulkTotals::of(&profile.bulk_copies),
            products: ProductTotals::of(&profile.products),
            barriers: profile.barriers,
            warp_operations: profile.warp_operations,
            fences: profile.fences,
            sectors_read: profile.sectors_read,
            sectors_written: profile.sectors_written,
            branches: profile.branches.iter().map(|branch| branch.executions).sum(),
            divergent_branches: profile.branches.iter().map(|branch| branch.divergent).sum(),
            ..Self::default()
        };
        for access in &profile.accesses {
            let (memory, kind) = (Memory::of(access.space), Kind::of(access.kind));
            let memory = if memory == Memory::Global { &mut totals.global } else { &mut totals.shared };
            memory.of(kind).add(&Traffic::of(access));
        }
        totals
    }

    /// Adds the counts of `other` to `self`.
    pub fn add(&mut self, other: &Self) {
        self.global.add(&other.global);
        self.shared.add(&other.shared);
        self.bulk.add(&other.bulk);
        self.products.add(&other.products);
        add_fields!(self, other: barriers warp_operations fences sectors_read sectors_written);
        add_fields!(self, other: branches divergent_branches);
    }
}

impl Totals {
    /// Returns the traffic in global memory of requests and bulk copies: of loads, and of stores and atomic updates.
    pub(crate) fn read_and_written(&self) -> [Traffic; 2] {
        let (mut read, mut written) = (self.global.load, self.global.store);
        read.add(&self.bulk.load.requests());
        written.add(&self.global.atomic);
        written.add(&self.bulk.store.requests());
        [read, written]
    }

    /// Returns the traffic in global memory of requests and bulk copies.
    pub(crate) fn all_global(&self) -> Traffic {
        let [mut all, written] = self.read_and_written();
        all.add(&written);
        all
    }
}

/// The launches of a kernel that have the same grid, block and size of dynamic shared memory.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Launches {
    /// The number of blocks along x, y and z.
    pub grid: [u32; 3],
    /// The number of threads of a block along x, y and z.
    pub block: [u32; 3],
    /// The dynamic shared memory of a block, in bytes.
    pub dynamic_shared_bytes: u32,
    /// The number of these launches.
    pub launches: u64,
    /// The counts, summed over these launches.
    #[serde(flatten)]
    pub totals: Totals,
}

impl Launches {
    /// Returns the number of blocks of one launch's grid.
    pub fn blocks(&self) -> u64 {
        self.grid.iter().map(|&extent| u64::from(extent)).product()
    }

    /// Returns the number of threads of a block.
    pub fn threads(&self) -> u32 {
        self.block.iter().product()
    }
}

/// A kernel and the figures of its launches.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct KernelFigures {
    /// The name of the kernel's function.
    pub family: &'static str,
    /// The kernel's name in the PTX.
    pub entry: &'static str,
    /// The first paragraph of the kernel's documentation.
    pub summary: &'static str,
    /// The path of the kernel's source file.
    pub file: String,
    /// The line of the kernel's definition, from 1.
    pub line: u32,
    /// The source lines of the kernel's function from `line` on; empty if the source is not known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub listing: Vec<String>,
    /// The launches, grouped by grid, block and dynamic shared memory. Groups are in the order of their first launches.
    pub launches: Vec<Launches>,
    /// The counts, summed over all launches.
    pub totals: Totals,
    /// The number of blocks of the largest grid.
    #[serde(rename = "most_blocks")]
    pub max_blocks: u64,
    /// The time in seconds that the GPU's memory needs to move all touched sectors.
    pub moved_seconds: f64,
    /// The time in seconds that the GPU's shared memories need for all wavefronts.
    pub shared_seconds: f64,
    /// The registers and static shared memory that the kernel takes on the GPU, if they are known.
    pub resources: Option<Resources>,
    /// The spilled registers and the local memory of the kernel on the GPU, if they are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub local: Option<LocalMemory>,
    /// The kernel's occupancy, if its resources are known.
    pub occupancy: Option<Occupancy>,
    /// The source positions that access memory, sorted by the time that ideal accesses would save there, the longest
    /// first.
    pub sites: Vec<AccessSite>,
    /// The source positions that begin bulk copies.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bulk_copies: Vec<BulkSite>,
    /// The latency that the bulk loads in flight hide, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pipeline: Option<Pipeline>,
    /// The source positions that execute products of tensor cores.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub products: Vec<ProductSite>,
    /// The minimum time in seconds that the GPU's tensor cores need for the products, if their peaks are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tensor_seconds: Option<f64>,
    /// The branches of the kernel. The branch that diverges most often comes first.
    pub branches: Vec<BranchSite>,
    /// The source sites of the barriers, each with the number of times that a block has reached it, in source order.
    #[serde(skip)]
    pub barrier_sites: BTreeMap<SourceLocation, u64>,
    /// The most bytes of bulk loads that a block had in flight.
    #[serde(skip)]
    pub bytes_in_flight: BytesInFlight,
    /// The first steps of the first warp of the first launch, for a [`Picture`](crate::Picture).
    #[serde(skip)]
    pub steps: Vec<WarpStep>,
}

impl KernelFigures {
    /// Returns the figures of each kernel that `profiles` contain, in the order of the kernels' first launches.
    pub(crate) fn all(profiles: &[Profile], sources: &Sources) -> Vec<Self> {
        let mut kernels: Vec<Self> = Vec::new();
        for profile in profiles {
            let at = kernels.iter().position(|kernel| kernel.entry == profile.kernel.name).unwrap_or(kernels.len());
            if at == kernels.len() {
                kernels.push(Self::new(profile, sources));
            }
            kernels[at].add(profile, sources);
        }
        kernels
    }

    fn new(profile: &Profile, sources: &Sources) -> Self {
        let info = profile.kernel;
        let listing = sources.function(info.file, info.line).unwrap_or_default();
        Self {
            family: info.family,
            entry: info.name,
            summary: info.summary,
            file: sources.path(info.file).unwrap_or(info.file).to_owned(),
            line: info.line,
            listing: listing.into_iter().map(str::to_owned).collect(),
            steps: profile.steps.clone(),
            ..Self::default()
        }
    }

    fn add(&mut self, profile: &Profile, sources: &Sources) {
        let totals = Totals::of(profile);
        self.totals.add(&totals);
        let config = profile.config;
        let [grid, block] = [config.grid, config.block].map(|extent| [extent.x, extent.y, extent.z]);
        let dynamic_shared_bytes = config.shared_bytes;
        let is_same = |there: &&mut Launches| {
            (there.grid, there.block, there.dynamic_shared_bytes) == (grid, block, dynamic_shared_bytes)
        };
        match self.launches.iter_mut().find(is_same) {
            Some(there) => {
                there.launches += 1;
                there.totals.add(&totals);
            }
            None => self.launches.push(Launches { grid, block, dynamic_shared_bytes, launches: 1, totals }),
        }
        if profile.bytes_in_flight.bytes > self.bytes_in_flight.bytes {
            self.bytes_in_flight = profile.bytes_in_flight;
        }
        self.add_sites(profile, sources);
        for (site, count) in &profile.barrier_sites {
            *self.barrier_sites.entry(site.clone()).or_default() += count;
        }
        for branch in &profile.branches {
            let branch = BranchSite::new(branch, sources);
            match self.branches.iter_mut().find(|there| there.place == branch.place) {
                Some(there) => there.add(&branch),
                None => self.branches.push(branch),
            }
        }
    }

    /// Adds the sites of accesses, bulk copies and products.
    fn add_sites(&mut self, profile: &Profile, sources: &Sources) {
        macro_rules! add {
            ($sites:ident: $site:expr) => {{
                let site = $site;
                match self.$sites.iter_mut().find(|there| there.is_same(&site)) {
                    Some(there) => there.add(&site),
                    None => self.$sites.push(site),
                }
            }};
        }
        profile.accesses.iter().for_each(|access| add!(sites: AccessSite::new(access, sources)));
        profile.bulk_copies.iter().for_each(|copies| add!(bulk_copies: BulkSite::new(copies, sources)));
        profile.products.iter().for_each(|product| add!(products: ProductSite::new(product, sources)));
    }

    /// Computes the figures that depend on the GPU, and sorts the sites by the time that ideal accesses would save.
    pub(crate) fn finish(&mut self, gpu: &Gpu, resources: Option<Resources>, local: Option<LocalMemory>) {
        // The launch with the most blocks.
        let main = self.launches.iter().max_by_key(|launches| launches.blocks());
        self.max_blocks = main.map_or(0, Launches::blocks);
        let used = gpu.used_by(self.max_blocks);
        self.moved_seconds = used.memory_seconds(self.totals.all_global().sectors * SECTOR);
        self.shared_seconds = used.shared_seconds(self.totals.shared.all().wavefronts);
        for site in &mut self.sites {
            site.finish(&used);
            site.meaning = meaning::of_access(site);
        }
        self.bulk_copies.iter_mut().for_each(|site| site.finish(&used));
        self.tensor_seconds = self.totals.products.seconds(&used);
        for branch in &mut self.branches {
            branch.finish();
            branch.meaning = meaning::of_branch(branch);
        }
        let by_loss = |a: &AccessSite, b: &AccessSite| b.lost_seconds().total_cmp(&a.lost_seconds());
        self.sites.sort_by(|a, b| by_loss(a, b).then_with(|| b.seconds.total_cmp(&a.seconds)));
        self.branches.sort_by_key(|branch| (Reverse(branch.divergent), Reverse(branch.executions)));
        self.resources = resources;
        self.local = local;
        self.occupancy = main
            .zip(self.resources)
            .zip(Multiprocessor::of(gpu.arch))
            .map(|((main, taken), sm)| sm.occupancy(taken, main.threads(), main.dynamic_shared_bytes));
        // A small grid has fewer blocks than the multiprocessors could run.
        let resident = self.occupancy.as_ref().map_or(1, |occupancy| u64::from(occupancy.blocks));
        let resident = resident.min(self.max_blocks.div_ceil(gpu.multiprocessors.into())).max(1);
        self.pipeline = Pipeline::of(self.bytes_in_flight, resident, gpu);
    }

    /// Returns the number of barriers that a block reaches, for the launches with the most.
    pub fn barriers_per_block(&self) -> f64 {
        let per_block = |launches: &Launches| {
            launches.totals.barriers as f64 / (launches.launches * launches.blocks()).max(1) as f64
        };
        self.launches.iter().map(per_block).fold(0.0, f64::max)
    }

    /// Returns the number of requests to shared memory that the warps of a block make, on average over all launches.
    pub fn shared_requests_per_block(&self) -> f64 {
        let blocks: u64 = self.launches.iter().map(|launches| launches.launches * launches.blocks()).sum();
        self.totals.shared.all().requests as f64 / blocks.max(1) as f64
    }

    /// Returns the number of all launches of the kernel.
    pub fn launch_count(&self) -> u64 {
        self.launches.iter().map(|launches| launches.launches).sum()
    }
}
