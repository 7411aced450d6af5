//! Tests launches with clusters on machines without a GPU, with the stand-in driver.

use super::stand_in::kernels::{LOG, config, open, saxpy};
use super::stand_in::with_driver;
use cuda_std::Kernel;
use launch::{Error, LaunchConfig};

/// Returns the message of a failed launch.
fn message(result: Result<(), Error>) -> String {
    match result {
        Err(error @ Error::InvalidLaunch { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_launch_passes_its_clusters() {
    let environment = [LOG, &[("STAND_IN_PTX_ARCH", "90")]].concat();
    let log = with_driver("gpu_clusters::a_launch_passes_its_clusters", &environment, || {
        let device = open()?;
        let (x, mut y) = (device.upload(&[1.0, 2.0])?, device.zeroed(2)?);
        let config = LaunchConfig::new((4, 2), 32);
        device.launch(config.cluster((2, 2)), saxpy(1.0, x.view(), y.view_mut()))?;
        device.launch(config.cluster(4).cooperative(), saxpy(1.0, x.view(), y.view_mut()))?;
        device.launch(config.cluster(1), saxpy(1.0, x.view(), y.view_mut()))?;
        device.streams(1, |streams| streams[0].launch(config.cluster(2), saxpy(1.0, x.view(), y.view_mut())))?;
        let mut graph = device.record((&x, &mut y), |queue, (x, y)| {
            queue.launch(config.cluster((4, 2)), saxpy(1.0, x.view(), y.view_mut()))
        })?;
        graph.launch()?;
        drop(graph);
        assert_eq!(y.download()?, [5.0, 10.0]);
        let clusters = |blocks| device.max_active_clusters(<saxpy as Kernel>::INFO, config.cluster(blocks));
        assert_eq!((clusters(4)?, clusters(16)?), (8, 0));
        let too_large = device.launch(LaunchConfig::new(16, 32).cluster(16), saxpy(1.0, x.view(), y.view_mut()));
        assert!(message(too_large).contains("cannot run a cluster of 16 such blocks"));
        Ok(())
    });
    let Some(log) = log else { return };
    let passed: Vec<_> = log.iter().filter_map(|line| line.strip_prefix("attributes ")).collect();
    let expected = [
        "[(4, [2, 2, 1])]",
        "[(4, [4, 1, 1]), (2, [1, 0, 0])]",
        "[(4, [2, 1, 1])]",
        "[(4, [4, 2, 1])]",
        "[(4, [16, 1, 1])]",
    ];
    assert_eq!(passed, expected);
    assert_eq!(log.iter().filter(|line| *line == "allows large clusters").count(), 2, "{log:?}");
}

#[test]
fn a_gpu_or_a_kernel_without_clusters_is_an_error() {
    const NAME: &str = "gpu_clusters::a_gpu_or_a_kernel_without_clusters_is_an_error";
    for (capability, expected) in
        [("80", "this GPU has no clusters: use a GPU of compute"), ("90", "the PTX of the kernel is for sm_70")]
    {
        with_driver(NAME, &[("STAND_IN_CAPABILITY", capability), ("EXPECTED", expected)], || {
            let device = open()?;
            let (x, mut y) = (device.upload(&[1.0])?, device.zeroed(1)?);
            let expected = std::env::var("EXPECTED").expect("the test sets it");
            let found = message(device.launch(LaunchConfig::new(4, 32).cluster(2), saxpy(1.0, x.view(), y.view_mut())));
            assert!(found.contains(&expected), "{found}");
            if expected.contains("GPU") {
                assert_eq!(device.max_active_clusters(<saxpy as Kernel>::INFO, config().cluster(2))?, 0);
            }
            device.launch(config(), saxpy(1.0, x.view(), y.view_mut()))?;
            assert_eq!(y.download()?, [1.0]);
            Ok(())
        });
    }
}
