//! Devices that come and go, several at a time: what one has loaded, allocated and given back leaves nothing to the next.

use std::thread;

use gpu::operator::{Max, Min, Operator, Product, Sum};
use gridstride::reduce::inputs::Factor;
use gridstride::reduce::reference::Reference;
use gridstride::reduce::{Plan, ReduceRung, Reducible};
use launch::Device;
use tests::reductions::{check, elements};
use tests::{gpu, simulated};

fn sums<T: Factor + Reducible<O>, O: Operator<T> + Reference<T>>(device: &Device, lengths: &[usize]) {
    let multiprocessors = device.properties().unwrap().multiprocessors;
    for &n in lengths {
        let plan = Plan::new(ReduceRung::GridStride, n, size_of::<T>(), multiprocessors);
        check::<T, O>(device, plan, &elements::<T, O>(n, n as u64));
    }
}

/// Each device takes two kernels of those that differ in an operator alone, and first a few of its multiprocessors, then more.
#[test]
fn devices_that_come_and_go_leave_nothing_to_the_next() {
    const CASES: [fn(&Device, &[usize]); 8] = [
        sums::<f32, Sum>,
        sums::<f32, Product>,
        sums::<f32, Min>,
        sums::<f32, Max>,
        sums::<u32, Sum>,
        sums::<u32, Product>,
        sums::<u32, Min>,
        sums::<u32, Max>,
    ];
    let (threads, rounds, lengths): (usize, usize, &[usize]) = match gpu() {
        Some(_) => (8, 40, &[1, 4097, 65_535, 65_537, 100_003]),
        None => (2, 4, &[1, 4097]),
    };
    thread::scope(|scope| {
        for first in 0..threads {
            scope.spawn(move || {
                for round in 0..rounds {
                    let device = gpu().unwrap_or_else(|| simulated(round as u64));
                    for case in [first + round, first + 3 * round + 1] {
                        CASES[case % CASES.len()](&device, lengths);
                    }
                }
            });
        }
    });
}
