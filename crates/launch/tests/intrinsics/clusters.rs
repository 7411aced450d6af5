//! Tests clusters: positions, the cluster's barrier, and the shared memory of other blocks.

use cuda_std::Kernel;
use launch::{Dim3, Error, LaunchConfig};

use super::devices;
use super::kernels::clusters::{
    THREADS, cluster_counts, cluster_of_four, cluster_positions, cluster_relay, cluster_relay_by_fences,
    cluster_rotates, cluster_splits,
};

/// Clusters of these numbers of blocks, in grids of whole clusters.
const SIZES: [(u32, u32); 4] = [(1, 3), (2, 6), (4, 8), (8, 16)];

fn config(blocks: u32, cluster: u32) -> LaunchConfig {
    LaunchConfig::new(blocks, THREADS as u32).cluster(cluster)
}

#[test]
fn each_block_knows_its_position() -> Result<(), Error> {
    for device in devices() {
        for (grid, cluster) in [((6, 4, 2), (3, 2, 1)), ((4, 2, 2), (2, 1, 2)), ((3, 2, 1), (1, 1, 1))] {
            let (grid, cluster) = (Dim3::from(grid), Dim3::from(cluster));
            let mut out = device.zeroed(16 * grid.count() as usize)?;
            device.launch(LaunchConfig::new(grid, 32).cluster(cluster), cluster_positions(out.view_mut()))?;
            for (i, found) in out.download()?.chunks(16).enumerate() {
                let block = grid.index(i as u64);
                let index = [block.x % cluster.x, block.y % cluster.y, block.z % cluster.z];
                let rank = (index[2] * cluster.y + index[1]) * cluster.x + index[0];
                let blocks = cluster.count() as u32;
                let expected = [
                    [block.x / cluster.x, block.y / cluster.y, block.z / cluster.z],
                    [grid.x / cluster.x, grid.y / cluster.y, grid.z / cluster.z],
                    index,
                    [cluster.x, cluster.y, cluster.z],
                ];
                assert_eq!(found[..12], *expected.as_flattened(), "{grid}, {cluster}");
                assert_eq!(found[12..], [rank, blocks, 32 * rank, 32 * blocks]);
            }
        }
    }
    Ok(())
}

#[test]
fn values_of_each_type_pass_between_blocks() -> Result<(), Error> {
    for device in devices() {
        for (cluster, blocks) in SIZES {
            let mut out = device.zeroed(4 * THREADS * blocks as usize)?;
            let config = config(blocks, cluster).shared_bytes(THREADS as u32);
            device.launch(config, cluster_rotates(out.view_mut()))?;
            for (i, found) in out.download()?.chunks(4).enumerate() {
                let (block, thread) = ((i / THREADS) as u64, i % THREADS);
                let (first, rank) = (block / u64::from(cluster) * u64::from(cluster), block % u64::from(cluster));
                let next = first + (rank + 1) % u64::from(cluster);
                let before = (rank + u64::from(cluster) - 1) % u64::from(cluster);
                let pair = 1 + thread as u64 % 63;
                let expected = [
                    1000 * next + (THREADS - 1 - thread) as u64,
                    (1000 * next + pair) << 1 | u64::from(pair.is_multiple_of(3)),
                    [1000 * (first + before) + thread as u64, before, rank, 7]
                        .iter()
                        .fold(0, |all, one| all * 10_000 + one),
                    thread as u64 + before,
                ];
                assert_eq!(found, expected, "{cluster}, {block}, {thread}");
            }
        }
    }
    Ok(())
}

#[test]
fn all_blocks_update_the_memory_of_one() -> Result<(), Error> {
    for device in devices() {
        for (cluster, blocks) in SIZES {
            let clusters = (blocks / cluster) as usize;
            let mut out = device.zeroed(8 * clusters)?;
            device.launch(config(blocks, cluster), cluster_counts(out.view_mut()))?;
            let threads = u64::from(cluster) * THREADS as u64;
            let expected = [
                threads * (threads + 1) / 2,
                5,
                threads - 1,
                u64::MAX,
                2 * threads,
                (threads << 32) | (3 * threads),
                u64::from((threads as u32).wrapping_neg()),
                threads / 2,
            ];
            assert_eq!(out.download()?, expected.repeat(clusters));
        }
    }
    Ok(())
}

#[test]
fn a_value_passes_from_block_to_block() -> Result<(), Error> {
    for device in devices() {
        for (cluster, blocks) in SIZES {
            let expected: Vec<u32> = (0..blocks).map(|block| 100 + block % cluster).collect();
            let mut out = device.zeroed(blocks as usize)?;
            device.launch(config(blocks, cluster), cluster_relay(out.view_mut()))?;
            assert_eq!(out.download()?, expected);
            let (mut flags, mut out) = (device.zeroed(blocks as usize)?, device.zeroed(blocks as usize)?);
            device.launch(config(blocks, cluster), cluster_relay_by_fences(flags.view_mut(), out.view_mut()))?;
            assert_eq!(out.download()?, expected);
        }
    }
    Ok(())
}

#[test]
fn an_arrival_may_precede_the_wait() -> Result<(), Error> {
    for device in devices() {
        for (cluster, blocks) in SIZES {
            let mut out = device.zeroed(THREADS * blocks as usize)?;
            device.launch(config(blocks, cluster), cluster_splits(out.view_mut()))?;
            let own = |i: u32| (0..i % THREADS as u32 % 7).fold(i, |own, _| own.wrapping_mul(3));
            let value = |i: u32| {
                let (block, thread) = (i / THREADS as u32, i % THREADS as u32);
                let before = block / cluster * cluster + (block + cluster - 1) % cluster;
                (before * THREADS as u32 + thread).wrapping_sub(own(i))
            };
            assert_eq!(out.download()?, (0..blocks * THREADS as u32).map(value).collect::<Vec<_>>());
        }
    }
    Ok(())
}

#[test]
fn a_kernel_may_fix_the_size_of_its_clusters() -> Result<(), Error> {
    for device in devices() {
        let expected = [1 + 4 + 5, 2 + 3 + 6 + 7].map(|sum| [sum; 2]).concat().repeat(2);
        let config = LaunchConfig::new((4, 2), 64);
        let mut out = device.zeroed(8)?;
        device.launch(config, cluster_of_four(out.view_mut()))?;
        assert_eq!(out.download()?, expected);
        let mut graph = device.record(device.zeroed(8)?, |queue, out: &mut launch::Buffer<u32>| {
            queue.launch(config.cluster((2, 2)), cluster_of_four(out.view_mut()))
        })?;
        graph.launch()?;
        assert_eq!(graph.into_resources().download()?, expected);
        for (config, reason) in [
            (config.cluster(2), "compiled for (2, 2, 1): leave out `.cluster(…)`"),
            (LaunchConfig::new((4, 3), 64), "the grid's y is 3"),
        ] {
            let error = device.launch(config, cluster_of_four(out.view_mut())).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
        assert!(device.max_active_clusters(<cluster_of_four as Kernel>::INFO, config)? > 0);
    }
    Ok(())
}

/// Clusters of 16 blocks are possible on some GPUs only.
#[test]
fn large_clusters_run_where_they_fit() -> Result<(), Error> {
    for device in devices() {
        let (config, kernel) = (config(32, 16), <cluster_relay as Kernel>::INFO);
        if device.max_active_clusters(kernel, config)? > 0 {
            let mut out = device.zeroed(32)?;
            device.launch(config, cluster_relay(out.view_mut()))?;
            assert_eq!(out.download()?, (0..32).map(|block| 100 + block % 16).collect::<Vec<u32>>());
        }
    }
    Ok(())
}

#[test]
fn clusters_run_in_streams_and_graphs_and_cooperatively() -> Result<(), Error> {
    for device in devices() {
        let expected: Vec<u32> = (0..8).map(|block| 100 + block % 4).collect();
        let mut out = device.zeroed(8)?;
        device.streams(1, |streams| streams[0].launch(config(8, 4), cluster_relay(out.view_mut())))?;
        assert_eq!(out.download()?, expected);
        let mut graph = device.record(device.zeroed(8)?, |queue, out: &mut launch::Buffer<u32>| {
            queue.launch(config(8, 4), cluster_relay(out.view_mut()))
        })?;
        graph.launch()?;
        assert_eq!(graph.into_resources().download()?, expected);
        let mut out = device.zeroed(8)?;
        device.launch(config(8, 4).cooperative(), cluster_relay(out.view_mut()))?;
        assert_eq!(out.download()?, expected);
    }
    Ok(())
}

#[test]
fn an_invalid_cluster_is_refused() -> Result<(), Error> {
    for device in devices() {
        for (blocks, cluster, reason) in [
            (6, 4, "the grid's x is 6, which is not a multiple of the cluster's 4: use a multiple, such as 8"),
            (34, 17, "a cluster has 17 blocks, and this device allows 16"),
            (4, 0, "has no block"),
        ] {
            let mut out = device.zeroed(64)?;
            let error = device.launch(config(blocks, cluster), cluster_relay(out.view_mut())).unwrap_err();
            assert!(matches!(error, Error::InvalidLaunch { .. }) && error.to_string().contains(reason), "{error}");
        }
    }
    Ok(())
}
