//! Histograms of keys that are split over a team, the devices of all ranks.

use gpu::histogram::Key;
use launch::Buffer;

use crate::error::MultiError;
use crate::team::{Team, gathered};
use gridstride::histogram::{Bins, Histogram, HistogramRung};

/// A histogram of keys that are split over a team. It owns the device memory that it needs. A segment may have at most
/// 2³² − 1 keys.
pub struct SplitHistogram<'t> {
    team: &'t Team<'t>,
    members: Vec<(Histogram, Buffer<u32>)>,
    bins: Bins,
}

impl<'t> SplitHistogram<'t> {
    /// Returns a histogram that `rung` computes. The keys of each run must have segments of the same lengths as `keys`.
    ///
    /// # Errors
    /// Returns the errors of [`Histogram::new`], and an error if `keys` does not have one buffer per device of this
    /// rank.
    pub fn new<K: Key>(
        team: &'t Team<'t>,
        rung: HistogramRung,
        bins: Bins,
        keys: &[Buffer<K>],
    ) -> Result<Self, MultiError> {
        team.check("count the keys of segments", keys)?;
        let members = keys.iter().zip(team.devices()).map(|(keys, device)| {
            let counts = device.zeroed(bins.count() as usize)?;
            Ok((Histogram::new::<K>(device, rung, keys.len(), bins)?, counts))
        });
        Ok(Self { team, members: members.collect::<Result<_, MultiError>>()?, bins })
    }

    /// Enqueues the histogram of each segment on its device. On GPUs this function returns before the kernels have
    /// finished.
    ///
    /// # Errors
    /// Returns the errors of [`Histogram::run`].
    pub fn run<K: Key>(&mut self, keys: &[Buffer<K>]) -> Result<(), MultiError> {
        self.team.check("count the keys of segments", keys)?;
        let members = self.members.iter_mut().zip(self.team.devices());
        let mut members = members.zip(keys);
        Ok(members.try_for_each(|(((histogram, counts), device), keys)| histogram.run(device, keys, counts))?)
    }

    /// Returns the number of keys in each bin that the last [`run`](Self::run) counted on all ranks.
    ///
    /// # Errors
    /// Returns an error if an earlier launch failed, or if another rank has ended.
    pub fn counts(&self) -> Result<Vec<u64>, MultiError> {
        let mut own = vec![0_u64; self.bins.count() as usize];
        for (_, counts) in &self.members {
            add(&mut own, counts.download()?.into_iter().map(u64::from));
        }
        let mut all = vec![0; own.len()];
        gathered(self.team.ranks(), &own)?.into_iter().for_each(|counts| add(&mut all, counts.into_iter()));
        Ok(all)
    }
}

fn add(sums: &mut [u64], counts: impl Iterator<Item = u64>) {
    sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
}
