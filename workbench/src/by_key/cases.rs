//! The cases of by key: scans and reductions of short and long runs, with keys and values of 4 and 8 bytes, for views
//! that begin at any element, and with more tiles than a warp reads at once.

use std::fmt::Debug;

use cuda_std::Ladder;
use gpu::operator::{Operator, Sum};

use super::reference::by_key;
use crate::case::{Case, CaseError, Stage, bits, equal};
use gridstride::by_key::{ByKeyElement, ByKeyRung, ByKeyRunner, RunKey, tile};
use gridstride::numbers::Number;
use gridstride::scan::ScanKind;

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |rung: ByKeyRung, what: &str, work: fn(&Stage, ByKeyRung) -> Result<(), CaseError>| {
        let kernels: &[&str] = match rung {
            ByKeyRung::Textbook => &["by_key_step", "by_key_store", "select_mark", "scan_look_back"],
            ByKeyRung::LookBack => &["by_key_look_back"],
        };
        cases.push(Case::new("by_key", rung.name(), kernels, what, move |stage: &Stage| work(stage, rung)));
    };
    for &rung in ByKeyRung::ALL {
        add(rung, "u32 by u32, 0 to 2500 elements, runs of up to 7", |stage, rung| {
            [0, 1, 33, 2500].into_iter().try_for_each(|n| check::<u32, u32>(stage, rung, n, 7))
        });
    }
    add(ByKeyRung::LookBack, "f64 by u32 and f32 by f64, runs over tiles", |stage, rung| {
        check::<u32, f64>(stage, rung, 1700, 900)?;
        check::<f64, f32>(stage, rung, 1700, 900)
    });
    add(ByKeyRung::LookBack, "u64 by i64, 35 tiles", |stage, rung| {
        check::<i64, u64>(stage, rung, 34 * tile(1, 16) + 5, 100)
    });
    cases
}

/// Checks the scans and the reduction of `n` values, from index 1 on, in runs of up to `run` elements.
fn check<K, T>(stage: &Stage, rung: ByKeyRung, n: usize, run: usize) -> Result<(), CaseError>
where
    K: Number + RunKey + Debug,
    T: Number + ByKeyElement<Sum>,
    Sum: Operator<T>,
{
    let keys: Vec<K> = (0..=n).map(|index| K::from_f64((bits(index / run) % 3) as f64)).collect();
    let values: Vec<T> = (0..=n).map(|index| T::from_f64((bits(index) >> 60) as f64)).collect();
    let expected = by_key::<K, T, Sum>(&keys[1..], &values[1..]);
    let (device, runs) = (&stage.device, expected.keys.len());
    let (dkeys, dvalues) = (device.upload(&keys)?, device.upload(&values)?);
    let (keys, values) = (dkeys.view().part(1, n), dvalues.view().part(1, n));
    let mut runner = ByKeyRunner::<K, T, Sum>::with_rung(device, rung, n)?;
    let (mut y_keys, mut y, mut count) = (device.zeroed::<K>(n)?, device.zeroed::<T>(n)?, device.zeroed(1)?);
    for (kind, expected) in [(ScanKind::Inclusive, &expected.inclusive), (ScanKind::Exclusive, &expected.exclusive)] {
        runner.scan(device, kind, keys, values, y.view_mut())?;
        equal("y", &y.download()?, expected)?;
    }
    runner.reduce(device, keys, values, (y_keys.view_mut(), y.view_mut(), count.view_mut()))?;
    equal("count", &count.download()?, &[runs as u64])?;
    equal("y_keys", &y_keys.download()?[..runs], &expected.keys)?;
    equal("y", &y.download()?[..runs], &expected.reduced)
}
