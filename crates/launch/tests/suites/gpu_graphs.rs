//! Tests graphs of the GPU back end on machines without a GPU. The stand-in driver used here captures streams.

use super::stand_in::kernels::{LOG, config, fail, greedy, open, saxpy};
use super::stand_in::with_driver;
use launch::{Error, LaunchConfig};

#[test]
fn a_graph_is_captured_once_and_launched_as_a_whole() {
    let log = with_driver("gpu_graphs::a_graph_is_captured_once_and_launched_as_a_whole", LOG, || {
        let device = open()?;
        let (x, mut y, z) = (device.upload(&[1.0, 2.0])?, device.upload(&[50.0, 50.0])?, device.alloc(2)?);
        let mut graph = device.record((&x, &mut y, z), |queue, (x, y, z)| {
            queue.fill_zero(y)?;
            queue.launch(config(), saxpy(2.0, x.view(), y.view_mut()))?;
            queue.copy(y, z)?;
            queue.launch(config(), saxpy(1.0, y.view(), z.view_mut()))
        })?;
        assert_eq!(graph.len(), 4);
        // Recording executes nothing.
        assert_eq!(graph.resources().1.download()?, [50.0, 50.0]);
        for _ in 0..2 {
            graph.launch()?;
            assert_eq!(graph.resources().2.download()?, [4.0, 8.0]);
        }
        // Operations enqueued before and after the graph keep their order.
        graph.resources_mut().1.upload(&[7.0, 7.0])?;
        device.launch(config(), saxpy(1.0, x.view(), graph.resources_mut().2.view_mut()))?;
        graph.launch()?;
        device.launch(config(), saxpy(1.0, x.view(), graph.resources_mut().2.view_mut()))?;
        let (.., z) = graph.into_resources();
        assert_eq!(z.download()?, [5.0, 10.0]);
        assert_eq!(y.download()?, [2.0, 4.0]);
        Ok(())
    });
    let Some(log) = log else { return };
    let graph = ["graph of 4"];
    assert_eq!(log.iter().filter(|line| graph.contains(&line.as_str())).count(), 3, "{log:?}");
    assert!(log.contains(&"1: destroyed".to_owned()), "the capturing stream is not destroyed: {log:?}");
    assert_eq!(log.last().map(String::as_str), Some("left: memory 0, page-locked 0, streams 0, events 0"), "{log:?}");
}

#[test]
fn use_of_memory_that_a_graph_does_not_hold_is_an_error() {
    with_driver("gpu_graphs::use_of_memory_that_a_graph_does_not_hold_is_an_error", &[], || {
        let device = open()?;
        let (x, mut y) = (device.upload(&[1.0, 2.0])?, device.upload(&[50.0, 50.0])?);
        let left_out = device.record(&x, |queue, x| queue.launch(config(), saxpy(2.0, x.view(), y.view_mut())));
        let message = left_out.expect_err("y is not held").to_string();
        assert!(message.starts_with("`saxpy` writes memory that the graph does not hold"), "{message}");
        // The work uses a buffer that is dropped while the graph lives.
        let gone = device.record(&mut y, |queue, y| {
            let x = device.upload(&[1.0, 2.0])?;
            queue.launch(config(), saxpy(2.0, x.view(), y.view_mut()))
        });
        assert!(matches!(gone, Err(Error::NotHeld { user: "saxpy", how: "reads" })), "{gone:?}");

        // A launch returns an error after a buffer was exchanged for another, even if the other has the same address.
        let mut graph =
            device.record((&x, y), |queue, (x, y)| queue.launch(config(), saxpy(2.0, x.view(), y.view_mut())))?;
        graph.launch()?;
        let y = std::mem::replace(&mut graph.resources_mut().1, device.upload(&[0.0, 0.0])?);
        let error = graph.launch().expect_err("another buffer");
        assert!(matches!(error, Error::NotHeld { user: "saxpy", how: "writes" }), "{error:?}");
        graph.resources_mut().1 = y;
        graph.launch()?;
        assert_eq!(graph.resources().1.download()?, [54.0, 58.0]);
        Ok(())
    });
}

#[test]
fn an_invalid_launch_is_refused_when_it_is_recorded() {
    with_driver("gpu_graphs::an_invalid_launch_is_refused_when_it_is_recorded", &[], || {
        let device = open()?;
        let launch = |config| device.record((), |queue, ()| queue.launch(config, fail())).map(drop);
        assert!(matches!(launch(LaunchConfig::new(0, 32)), Err(Error::InvalidLaunch { .. })));
        // The driver detects this error during the capture. The capture must be ended nevertheless.
        let error = device.record((), |queue, ()| {
            queue.launch(config(), fail())?;
            queue.launch(config(), greedy())
        });
        assert!(matches!(error, Err(Error::InvalidLaunch { .. })), "{error:?}");
        launch(config())?;
        // An empty recording creates no graph in the driver.
        let mut nothing = device.record((), |_, ()| Ok::<_, Error>(()))?;
        nothing.launch()?;
        assert!(nothing.is_empty());
        device.synchronize()
    });
}

#[test]
fn a_kernel_that_fails_in_a_graph_is_reported_by_the_next_wait() {
    with_driver("gpu_graphs::a_kernel_that_fails_in_a_graph_is_reported_by_the_next_wait", &[], || {
        let device = open()?;
        let mut graph = device.record((), |queue, ()| queue.launch(LaunchConfig::new((2, 3), 64), fail()))?;
        graph.launch()?;
        let message = device.synchronize().expect_err("the kernel failed").to_string();
        assert!(message.contains("the last kernel launched is `fail`, grid (2, 3, 1)"), "{message}");
        assert_eq!(graph.launch().expect_err("lost").to_string(), message);
        Ok(())
    });
}

#[test]
fn a_bare_launch_is_one_call_of_the_driver() {
    with_driver("gpu_graphs::a_bare_launch_is_one_call_of_the_driver", &[], || {
        let device = open()?;
        let (x, mut y) = (device.upload(&[1.0, 2.0])?, device.zeroed(2)?);
        let mut bare = device.bare_launch(config(), saxpy(2.0, x.view(), y.view_mut()))?;
        for _ in 0..3 {
            bare.launch()?;
        }
        drop(bare);
        assert_eq!(y.download()?, [6.0, 12.0]);
        assert!(device.bare_launch(LaunchConfig::new(0, 1), fail()).is_err());
        Ok(())
    });
}
