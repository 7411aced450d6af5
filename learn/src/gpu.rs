//! Times an exercise on a GPU, beside the course's solution, where there is one.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use cuda_builder::CudaBuilder;
use explain::Times;
use launch::{Device, DeviceChoice, PtxImage, PtxModule};
use serde::{Deserialize, Serialize};
use units::{Seconds, number};

use crate::answers::{Answers, filled};
use crate::source::Source;

/// The first argument of a check program that times its kernels. The PTX file's path follows.
pub(crate) const TIME: &str = "--time";

/// The median time of an exercise's launches on a GPU.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Timed {
    /// The GPU.
    gpu: String,
    /// The median time in seconds.
    seconds: f64,
    /// The useful bytes divided by the time, in GB/s of 10⁹ bytes.
    gbps: f64,
}

impl Timed {
    /// Compares the results of `case` on the first GPU and times it there, with the kernels of the PTX file `path`,
    /// whose module is `name`.
    ///
    /// # Errors
    /// A text that says why there is no time, such as a wrong result.
    pub(crate) fn measure(case: &explain::Case, name: &'static str, path: &Path) -> Result<Self, String> {
        let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        // The process ends after this one measurement.
        let images = Box::leak(Box::new([PtxImage::new(70, Box::leak(text.into_boxed_str()))]));
        let modules = Box::leak(Box::new([PtxModule { path: name, images }]));
        let device = Device::open(DeviceChoice::Gpu(None), modules).map_err(|error| error.to_string())?;
        case.compare(&device).map_err(|error| error.to_string())?;
        let (times, useful): (Times, u64) = case.times(&device).map_err(|error| error.to_string())?;
        Ok(Self { gpu: device.summary(), seconds: times.median, gbps: times.gbps(useful as f64) })
    }
}

/// Returns a text with the time of the learner's kernels and of the solution's on the first GPU, or `None` if there is
/// no GPU or the exercise has no kernels of its own. `program` is the program that checks the exercise.
///
/// # Errors
/// A text that says why there is no time.
pub(crate) fn compared(folder: &Path, source: &Source, program: &Path) -> Result<Option<String>, String> {
    if launch::gpus().is_err() || !source.kernel.contains("#[kernel]") {
        return Ok(None);
    }
    let answers = Answers::parse(source.answers)?;
    let solution = filled(source.kernel, Some(answers.solution.code))?;
    let own = fs::read_to_string(source.kernel_in(folder)).map_err(|error| error.to_string())?;
    let timed = |text: &str, name: &str| {
        let ptx = ptx(folder, source, text, name)?;
        let output = Command::new(program).arg(TIME).arg(&ptx).current_dir(folder).output();
        let output = output.map_err(|error| error.to_string())?;
        let errors = || String::from_utf8_lossy(&output.stderr).trim_end().to_owned();
        serde_json::from_slice::<Result<Timed, String>>(&output.stdout).map_err(|_| errors())?
    };
    let (own, reference) = (timed(&own, "own")?, timed(&solution, "course")?);
    let each = |timed: &Timed| format!("{}, {} GB/s", Seconds(timed.seconds), number(timed.gbps));
    Ok(Some(format!("{}: yours {}; the course's {}", own.gpu, each(&own), each(&reference))))
}

/// Compiles the kernel file `text` to PTX, and returns the path of the PTX.
///
/// The kernels are compiled as the module `name` of a crate `name`, as in the program that checks the exercise, because
/// a kernel's name in the PTX depends on its path.
pub(crate) fn ptx(folder: &Path, source: &Source, text: &str, name: &str) -> Result<PathBuf, String> {
    let krate = folder.join("target/exercises").join(source.name).join(name);
    write_crate(folder, &krate, source.name, text).map_err(|error| format!("{}: {error}", krate.display()))?;
    let path = std::path::absolute(krate.join("kernels.ptx")).map_err(|error| error.to_string())?;
    let builder = CudaBuilder::new(&krate).target_dir(folder.join("target/ptx")).copy_to(&path);
    builder.build().map(|_| path).map_err(|error| error.to_string())
}

fn write_crate(folder: &Path, krate: &Path, name: &str, text: &str) -> io::Result<()> {
    let manifest = fs::read_to_string(folder.join("Cargo.toml"))?;
    let cuda_std = manifest.lines().find(|line| line.starts_with("cuda_std = ")).unwrap_or_default();
    let manifest =
        format!("[package]\nname = \"{name}\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n{cuda_std}\n");
    fs::create_dir_all(krate.join("src"))?;
    fs::write(krate.join("Cargo.toml"), manifest)?;
    fs::write(krate.join("src/lib.rs"), format!("#![no_std]\n\npub mod {name};\n"))?;
    fs::write(krate.join(format!("src/{name}.rs")), text)?;
    match fs::copy(folder.join("Cargo.lock"), krate.join("Cargo.lock")) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
