//! Tests the cells, costs and faults that pictures show.

use cuda_std::{Global, GlobalMut, kernel, shared_array, thread};
use launch::LaunchConfig;
use simt::{Checks, Schedule, Simulator};

use super::*;
use crate::profile::profile;

/// Loads every eighth element, and reads a column of shared memory without a barrier.
#[kernel]
fn strided(x: Global<u32>, y: GlobalMut<u32>) {
    let tile = shared_array![u32; 1024];
    let i = thread::thread_idx_x() as usize;
    tile.store(32 * i, x.load(8 * i));
    y.store(i, tile.load(32 * (31 - i)));
}

fn run(device: &launch::Device) -> Result<(), launch::Error> {
    let (x, mut y) = (device.upload(&[1_u32; 256])?, device.zeroed::<u32>(32)?);
    device.launch(LaunchConfig::new(1, 32), strided(x.view(), y.view_mut()))
}

fn picture(fault: Option<&Fault>) -> Picture {
    let profile = profile(run).unwrap();
    Picture::new(&profile.kernels[0].steps, fault)
}

#[test]
fn sectors_and_banks_are_drawn_with_their_lanes() {
    let text = picture(None).text(false);
    for part in [
        "global load x  32 sectors where 4 would do",
        " x[0] [0.......]  x[8] [1.......]",
        "and 24 more sectors",
        "shared store tile  32 passes where 1 would do",
        " tile[32] [1...............................]\n",
        " tile[0] [v...............................]\n",
        "and 24 more rows",
        "global store y  4 sectors\n",
        " y[8] [89abcdef]",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let coloured = picture(None).text(true);
    assert!(coloured.contains("\x1b[31m32 sectors") && coloured.contains("\x1b[32m4 sectors"), "{coloured:?}");
    let plain: String =
        coloured.split('\x1b').map(|part| part.split_once('m').map_or(part, |(_, rest)| rest)).collect();
    assert!(plain.contains("global store y  4 sectors\n"), "{plain}");
}

#[test]
fn the_threads_of_a_race_lead_to_their_element() {
    let simulator = Simulator::new().with_checks(Checks::default()).with_schedule(Schedule::Natural);
    let Err(launch::Error::Fault(fault)) = run(&launch::Device::simulated(simulator)) else { panic!() };
    let picture = picture(Some(&fault));
    let text = picture.text(false);
    let FaultKind::Race(race) = &fault.kind else { panic!("{fault}") };
    let element = format!("tile[{}]", race.element.index);
    let [one, middle, other] = text.lines().rev().take(3).collect::<Vec<_>>()[..] else { panic!("{text}") };
    assert!(one.contains("load") && other.contains("store") && middle.contains(&element), "{text}");
    assert!(middle.contains("nothing orders the two"), "{text}");
    // Its row is among those that are drawn.
    assert!(text.contains(&format!(" {element} [")), "{text}");
    let svg = picture.svg("a < b");
    for part in ["<title>a &lt; b</title>", "class=\"good\"", "class=\"bad at\"", &element, "32 passes where 1"] {
        assert!(svg.contains(part), "{part}: {svg}");
    }
    assert!(svg.matches("http").count() == 1, "only the name space is a URL");
}

#[test]
fn steps_that_look_alike_are_drawn_once() {
    let profile = profile(run).unwrap();
    let steps = &profile.kernels[0].steps;
    let twice = [steps.as_slice(), steps.as_slice()].concat();
    let text = Picture::new(&twice, None).text(false);
    assert_eq!(text.matches("(2 steps like this)").count(), 4, "{text}");
    assert!(Picture::new(&[], None).is_empty() && !Picture::new(steps, None).is_empty());
}
