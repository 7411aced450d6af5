//! Histogram of keys split over members.

use gpu::histogram::Key;
use launch::Buffer;

use crate::error::MultiError;
use crate::team::{Team, gathered};
use gridstride::histogram::{Bins, Histogram, HistogramRung};

/// A histogram of keys whose parts have the lengths that it was made for, with its memory. A part may have as many keys
/// as 32 bits count, all of them together more.
pub struct SplitHistogram<'t> {
    team: &'t Team<'t>,
    members: Vec<(Histogram, Buffer<u32>)>,
    bins: Bins,
}

impl<'t> SplitHistogram<'t> {
    /// For keys with parts as long as those of `keys`, by `rung`.
    ///
    /// # Errors
    /// As for [`Histogram::new`]; when there is not a buffer for each of the rank's devices.
    pub fn new<K: Key>(
        team: &'t Team<'t>,
        rung: HistogramRung,
        bins: Bins,
        keys: &[Buffer<K>],
    ) -> Result<Self, MultiError> {
        team.check("count the keys of parts", keys)?;
        let members = keys.iter().zip(team.devices()).map(|(keys, device)| {
            let counts = device.zeroed(bins.count() as usize)?;
            Ok((Histogram::new::<K>(device, rung, keys.len(), bins)?, counts))
        });
        Ok(Self { team, members: members.collect::<Result<_, MultiError>>()?, bins })
    }

    /// Asks all devices for the histograms of their parts. On GPUs it returns at once.
    ///
    /// # Errors
    /// As for [`Histogram::run`].
    pub fn run<K: Key>(&mut self, keys: &[Buffer<K>]) -> Result<(), MultiError> {
        self.team.check("count the keys of parts", keys)?;
        let members = self.members.iter_mut().zip(self.team.devices());
        let mut members = members.zip(keys);
        Ok(members.try_for_each(|(((histogram, counts), device), keys)| histogram.run(device, keys, counts))?)
    }

    /// Returns the number of keys in each bin, counted by the last [`run`](Self::run), on all ranks.
    ///
    /// # Errors
    /// When a launch made before failed, or another rank has ended.
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
