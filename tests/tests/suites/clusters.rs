//! Tests kernels for clusters: the correct ones on every device, and that every order reports the faulty ones with
//! their lines.

use cuda_std::Kernel;
use gpu::device_library::{cluster_reverse, cluster_sum};
use gpu::faults::*;
use launch::{Device, LaunchConfig};
use tests::all_devices;
use tests::reports::{Kind, Marked, assert_reported};

const CLUSTERS: Marked = Marked { file: "clusters.rs", text: include_str!("../../../gpu/src/faults/clusters.rs") };

/// Asserts that each cluster reverses its elements.
fn reverses(device: &Device) {
    let x: Vec<f64> = (0..6 * 64).map(f64::from).collect();
    let (dx, mut dy) = (device.upload(&x).unwrap(), device.zeroed(x.len()).unwrap());
    device.launch(LaunchConfig::new(6, 64), cluster_reverse(dx.view(), dy.view_mut())).unwrap();
    assert!(
        dy.download().unwrap().chunks(128).eq(x.rchunks(128).rev().map(|chunk| chunk
            .iter()
            .rev()
            .copied()
            .collect::<Vec<_>>()))
    );
}

/// Asserts that each cluster adds its elements.
fn adds(device: &Device) {
    let x: Vec<u32> = (0..16 * 64).collect();
    for size in [1, 2, 8, 16] {
        let (dx, mut sums) = (device.upload(&x).unwrap(), device.zeroed(16 / size).unwrap());
        let config = LaunchConfig::new(16, 64).cluster(size as u32);
        // Every GPU with clusters runs those of 8 blocks, but not every one those of 16.
        if size > 8 && device.max_active_clusters(<cluster_sum as Kernel>::INFO, config).unwrap() == 0 {
            continue;
        }
        device.launch(config, cluster_sum(dx.view(), sums.view_mut())).unwrap();
        let expected: Vec<u32> = x.chunks(64 * size).map(|chunk| chunk.iter().sum()).collect();
        assert_eq!(sums.download().unwrap(), expected);
    }
}

#[test]
fn blocks_of_a_cluster_exchange_values_on_every_device() {
    for device in all_devices() {
        reverses(&device);
        adds(&device);
    }
}

macro_rules! faulty {
    ($($test:ident $kernel:ident $kind:ident $array:literal $markers:expr, $right:ident;)*) => {$(
        #[test]
        fn $test() {
            let faulty = |device: &Device| {
                let mut y = device.zeroed(128)?;
                device.launch(LaunchConfig::new(2, 64).cluster(2), $kernel(y.view_mut()))
            };
            assert_reported(faulty, (Kind::$kind, $array, CLUSTERS, &$markers), $right);
        }
    )*};
}

faulty! {
    a_missing_barrier_of_the_cluster cluster_unsynchronised Race "tile" ["write", "read"], reverses;
    an_access_before_the_beginning cluster_not_begun RemoteAccess "tile" ["early access"], reverses;
    an_access_after_the_end cluster_ended RemoteAccess "tile" ["late access"], reverses;
    a_barrier_that_one_block_reaches cluster_barrier_in_branch ClusterBarrierNotReached "" ["barrier"], adds;
    two_arrivals cluster_arrives_twice ClusterMisuse "" ["first arrival", "second arrival"], adds;
    a_rank_out_of_range cluster_without_last ClusterMisuse "" ["rank"], adds;
}
