//! Runs one kernel of bulk copies, tensor cores or warpgroups on an H100 and prints the outcome.
//!
//! The repository has no PTX of these kernels. The caller builds it for `sm_90a`, in one file for each of this suite's
//! modules, and runs each kernel in a process of its own: a faulty kernel may end the GPU's context or wait for ever.

use std::fs;
use std::io::Write;
use std::num::NonZeroUsize;

use launch::{Device, DeviceChoice, Error, PtxImage, PtxModule};
use simt::{Schedule, Simulator};

use crate::{Case, What, cases, families};

/// Racy kernels whose output in the simulator is not the intended one, each with a sound kernel that has this output.
const INTENDED: [(&str, &str); 4] = [
    ("loaded_again_too_early", "loaded_again_after_a_barrier"),
    ("multicast_again_while_the_other_block_reads", "multicast_again_after_arrivals"),
    ("box_loaded_again_too_early", "box_loaded_again_after_a_barrier"),
    ("stored_without_barrier", "stored_and_waited"),
];

#[test]
#[ignore = "needs an H100: set CLASSIFIED_PTX to the folder of the files MODULE.ptx, and CLASSIFIED to MODULE/KERNEL"]
fn a_kernel_on_a_gpu() {
    let [folder, name] = ["CLASSIFIED_PTX", "CLASSIFIED"].map(|key| std::env::var(key).unwrap());
    let (module, kernel) = name.split_once('/').unwrap();
    let text: &'static str = fs::read_to_string(format!("{folder}/{module}.ptx")).unwrap().leak();
    let images: &'static [PtxImage] = vec![PtxImage::new(90, text).specific()].leak();
    let modules: &'static [PtxModule] = vec![PtxModule { path: "classified", images }].leak();
    let device = Device::open(DeviceChoice::Gpu(None), modules).unwrap();
    // If the kernel waits for ever, the name remains the last line.
    print!("\n{name}: ");
    std::io::stdout().flush().unwrap();
    let case = cases().find(|case| case.name == kernel && case.source.file.strip_suffix(".rs") == Some(module));
    let outcome = case.map_or_else(|| families::outcome(kernel, &device), |case| outcome(case, &device));
    println!("{}", outcome.replace('\n', " "));
}

/// Returns the output of a launch in the simulator, in which bulk copies take effect at once in the natural order and
/// late in the order [`Schedule::LastFirst`].
fn simulated(case: &Case, schedule: Schedule) -> Result<Vec<u32>, Error> {
    let simulator = Simulator::new().with_workers(NonZeroUsize::MIN).with_schedule(schedule);
    case.output(&Device::simulated(simulator))
}

#[test]
fn outputs_of_sound_kernels_depend_on_no_order() {
    for case in cases().filter(|case| case.what == What::RaceFree && case.source.file.starts_with("bulk_")) {
        let [early, late] = [Schedule::Natural, Schedule::LastFirst].map(|schedule| simulated(case, schedule).unwrap());
        assert!(!early.is_empty(), "{}", case.name);
        assert_eq!(early, late, "{}", case.name);
    }
}

/// Launches a kernel and compares its output with the intended one, if the simulator has an output for it.
fn outcome(case: &Case, device: &Device) -> String {
    let found = match case.output(device) {
        Ok(found) => found,
        Err(error) => return format!("error: {error}"),
    };
    let intended = INTENDED.iter().find(|(faulty, _)| *faulty == case.name).map_or(case.name, |(_, sound)| sound);
    let intended = cases().find(|case| case.name == intended).unwrap();
    match simulated(intended, Schedule::Natural) {
        Err(_) => "ended".to_owned(),
        Ok(words) if words == found => "right".to_owned(),
        Ok(words) => {
            let wrong: Vec<usize> = (0..found.len()).filter(|&i| found[i] != words[i]).collect();
            let i = wrong[0];
            format!("wrong values: {}, such as {:#x} instead of {:#x} at {i}", wrong.len(), found[i], words[i])
        }
    }
}
