//! Tests devices that are opened and closed one after the other, several at the same time. A device must not depend on
//! the modules and memory of earlier devices.

use std::thread;

use gpu::operator::{Max, Min, Operator, Product, Sum};
use gridstride::reduce::{Plan, ReduceElement, ReduceRung};
use launch::Device;
use tests::reductions::{check, elements};
use tests::{gpu, simulated};
use workbench::reduce::inputs::Factor;
use workbench::reduce::reference::Reference;

fn reductions<T: Factor + ReduceElement<O>, O: Operator<T> + Reference<T>>(device: &Device, lengths: &[usize]) {
    let multiprocessors = device.multiprocessors();
    for &n in lengths {
        let plan = Plan::new(ReduceRung::GridStride, n, size_of::<T>(), multiprocessors);
        check::<T, O>(device, plan, &elements::<T, O>(n, n as u64));
    }
}

/// Tests several generations of devices. Each device runs two of eight kernels that differ only in type or operator,
/// first on short inputs and then on longer inputs.
#[test]
fn devices_that_come_and_go_leave_nothing_to_the_next() {
    const CASES: [fn(&Device, &[usize]); 8] = [
        reductions::<f32, Sum>,
        reductions::<f32, Product>,
        reductions::<f32, Min>,
        reductions::<f32, Max>,
        reductions::<u32, Sum>,
        reductions::<u32, Product>,
        reductions::<u32, Min>,
        reductions::<u32, Max>,
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
