//! Runs the program as one of several processes: `mpirun -n 4 host …`.
//!
//! Every rank runs the same command. [`communicator`] connects the ranks, and [`is_first`] returns true in the process
//! that prints and writes files. The program calls [`begin`] before a command and [`finish`] after it.

use std::fs::File;
use std::hash::{DefaultHasher, Hasher};
use std::io::{BufRead, BufReader};
use std::process::ExitCode;
use std::sync::OnceLock;
use std::time::Duration;

use anyhow::{Context, bail};
use launch::{DeviceChoice, GroupChoice};
#[cfg(feature = "mpi")]
use multi::ranks::Mpi;
use multi::ranks::{Alone, Communicator, RanksError, alone};

use crate::error::{self, OutputClosed, UsageError};

/// The environment variables by which implementations of `mpirun` pass the number of ranks and the number of this rank.
const STARTED: [(&str, &str); 2] = [("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"), ("PMI_SIZE", "PMI_RANK")];

/// The time that a failing rank waits, multiplied by its number, before it prints its error. If all ranks fail, rank 0
/// therefore prints the error and ends the others, so that the error appears once.
const PATIENCE: Duration = Duration::from_millis(200);
/// The maximum time that a rank waits before it prints its error.
const MAX_PATIENCE: Duration = Duration::from_secs(5);

/// The ranks of this run: this process alone, or the processes that MPI connects.
enum Ranks {
    Alone(Alone),
    #[cfg(feature = "mpi")]
    Mpi(Mpi),
}

impl Ranks {
    fn communicator(&self) -> &dyn Communicator {
        match self {
            Self::Alone(alone) => alone,
            #[cfg(feature = "mpi")]
            Self::Mpi(mpi) => mpi,
        }
    }

    /// Ends all ranks.
    fn abort(&self, code: u8) -> ! {
        match self {
            Self::Alone(_) => std::process::exit(code.into()),
            #[cfg(feature = "mpi")]
            Self::Mpi(mpi) => mpi.abort(code.into()),
        }
    }
}

static RANKS: OnceLock<Ranks> = OnceLock::new();

/// Returns the communicator of the ranks. It has one rank if `mpirun` did not start several.
pub fn communicator() -> &'static dyn Communicator {
    RANKS.get_or_init(|| Ranks::Alone(alone())).communicator()
}

/// Returns true on the rank that prints and writes files.
pub fn is_first() -> bool {
    communicator().rank() == 0
}

/// Fails if there are several ranks, because `command` runs as one process.
///
/// # Errors
/// A [`UsageError`] that says what to type instead.
pub fn one_alone(command: &str) -> Result<(), UsageError> {
    match communicator().size() {
        1 => Ok(()),
        size => {
            let program = units::program();
            let text = format!("{program} {command} runs as one process, and {size} were started: leave out mpirun");
            Err(UsageError(text))
        }
    }
}

/// Joins the other ranks, if `mpirun` has started this process.
///
/// # Errors
/// [`UsageError`] if the program was built without MPI; another error if MPI does not start, or the ranks are different
/// builds.
pub fn begin() -> anyhow::Result<()> {
    let number = |name| std::env::var(name).ok()?.parse::<usize>().ok();
    let started = STARTED.iter().find_map(|(size, rank)| Some((number(size)?, number(rank)?)));
    let Some((size, rank)) = started else { return Ok(()) };
    join(size, rank)?;
    check_builds(communicator())
}

#[cfg(feature = "mpi")]
fn join(_size: usize, _rank: usize) -> anyhow::Result<()> {
    let mpi = multi::ranks::mpi()?;
    RANKS.set(Ranks::Mpi(mpi)).map_err(|_| RanksError::Unusable("this program has already joined its ranks").into())
}

#[cfg(not(feature = "mpi"))]
fn join(size: usize, rank: usize) -> anyhow::Result<()> {
    match (size, rank) {
        (1, _) => Ok(()),
        (_, 0) => Err(UsageError::of(RanksError::NotBuilt { size }).into()),
        // The first rank prints the error. It ends this rank while this rank waits.
        _ => {
            std::thread::sleep(patience());
            std::process::exit(2)
        }
    }
}

/// Returns the maximum time that a rank waits: [`MAX_PATIENCE`], or the milliseconds that a test sets.
#[cfg(not(feature = "mpi"))]
fn patience() -> Duration {
    let milliseconds = std::env::var("GRIDSTRIDE_TEST_PATIENCE_MS").ok().and_then(|text| text.parse().ok());
    milliseconds.map_or(MAX_PATIENCE, Duration::from_millis)
}

/// Fails if the ranks are different builds of the program. Such ranks could wait for each other forever.
fn check_builds(ranks: &dyn Communicator) -> anyhow::Result<()> {
    if ranks.size() == 1 {
        return Ok(());
    }
    let builds = ranks.all_gather(&fingerprint()?.to_le_bytes())?;
    same_builds(&builds)
}

fn same_builds(builds: &[Vec<u8>]) -> anyhow::Result<()> {
    match builds.iter().position(|build| *build != builds[0]) {
        Some(rank) => bail!("rank {rank} is another build of the program than rank 0: start the same one on all hosts"),
        None => Ok(()),
    }
}

/// Returns a hash of the program's file.
fn fingerprint() -> anyhow::Result<u64> {
    let path = std::env::current_exe().context("cannot find the program's own file")?;
    let failed = || format!("cannot read the program's own file '{}'", path.display());
    let mut file = BufReader::with_capacity(1 << 20, File::open(&path).with_context(failed)?);
    // The keys of this hasher are constants, so that all processes compute the same hash.
    let mut hasher = DefaultHasher::new();
    loop {
        let bytes = file.fill_buf().with_context(failed)?;
        let len = bytes.len();
        if len == 0 {
            return Ok(hasher.finish());
        }
        hasher.write(bytes);
        file.consume(len);
    }
}

/// Ends a command as [`error::finish`] does. A rank that fails prints its number with its error, and ends the others.
pub fn finish(result: anyhow::Result<()>) -> ExitCode {
    let ranks = RANKS.get_or_init(|| Ranks::Alone(alone()));
    let (rank, size) = (ranks.communicator().rank(), ranks.communicator().size());
    let Err(error) = result else {
        #[cfg(feature = "mpi")]
        if let Ranks::Mpi(mpi) = ranks {
            mpi.finalise();
        }
        return ExitCode::SUCCESS;
    };
    if size == 1 {
        return error::finish(Err(error));
    }
    std::thread::sleep((PATIENCE * rank as u32).min(MAX_PATIENCE));
    let code = error::code(&error);
    if !error.is::<OutputClosed>() {
        error::print_line(&error, &format!("rank {rank} of {size}: "));
    }
    ranks.abort(code)
}

/// Returns the devices in `choice` that this rank uses. Several GPUs are divided among the ranks of a host. If `choice`
/// is a GPU without a number, the host's GPUs are assigned to the ranks in rotation. All ranks use the same simulated
/// devices, and the same GPU if `choice` has its number.
pub fn devices(choice: &GroupChoice, ranks: &dyn Communicator) -> GroupChoice {
    if ranks.size() == 1 {
        return choice.clone();
    }
    let gpus = launch::gpus().map_or(0, |gpus| gpus.len());
    share(choice, gpus, ranks.local_rank(), ranks.local_size())
}

/// Returns the devices as [`devices`] does, for rank `rank` of the `ranks` ranks on a host with `gpus` GPUs.
fn share(choice: &GroupChoice, gpus: usize, rank: usize, ranks: usize) -> GroupChoice {
    let named: Vec<u32> = match (choice.as_one(), choice.to_string().strip_prefix("gpu:")) {
        (Some(DeviceChoice::Auto | DeviceChoice::Gpu(None)), _) if gpus > 0 => {
            return DeviceChoice::Gpu(u32::try_from(rank % gpus).ok()).into();
        }
        (Some(_), _) | (None, None) => return choice.clone(),
        (None, Some("all")) => (0..gpus).filter_map(|gpu| u32::try_from(gpu).ok()).collect(),
        (None, Some(list)) => list.split(',').filter_map(|gpu| gpu.parse().ok()).collect(),
    };
    let own = match named.len() {
        0 => return choice.clone(),
        len if len < ranks => &named[rank % len..][..1],
        len => &named[len * rank / ranks..len * (rank + 1) / ranks],
    };
    let own: Vec<String> = own.iter().map(u32::to_string).collect();
    format!("gpu:{}", own.join(",")).parse().unwrap_or_else(|_| choice.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(choice: &str, gpus: usize, ranks: usize) -> Vec<String> {
        let choice = choice.parse().unwrap();
        (0..ranks).map(|rank| share(&choice, gpus, rank, ranks).to_string()).collect()
    }

    #[test]
    fn each_rank_has_gpus_of_its_own_as_far_as_there_are() {
        assert_eq!(shares("auto", 2, 3), ["gpu:0", "gpu:1", "gpu:0"]);
        assert_eq!(shares("gpu", 4, 2), ["gpu:0", "gpu:1"]);
        assert_eq!(shares("auto", 0, 2), ["auto", "auto"]);
        assert_eq!(shares("gpu:all", 8, 3), ["gpu:0,1", "gpu:2,3,4", "gpu:5,6,7"]);
        assert_eq!(shares("gpu:all", 2, 2), ["gpu:0", "gpu:1"]);
        assert_eq!(shares("gpu:all", 2, 4), ["gpu:0", "gpu:1", "gpu:0", "gpu:1"]);
        assert_eq!(shares("gpu:3,1", 4, 2), ["gpu:3", "gpu:1"]);
        for same in ["sim", "sim:3", "gpu:1"] {
            assert_eq!(shares(same, 2, 2), [same, same]);
        }
        assert_eq!(shares("gpu:all", 0, 2), ["gpu:all", "gpu:all"]);
    }

    #[test]
    fn ranks_of_different_builds_are_refused() {
        let own = fingerprint().unwrap().to_le_bytes().to_vec();
        assert_eq!(fingerprint().unwrap().to_le_bytes().to_vec(), own);
        assert!(same_builds(&[own.clone(), own.clone()]).is_ok());
        let message = same_builds(&[own.clone(), own, vec![0; 8]]).unwrap_err().to_string();
        assert!(message.starts_with("rank 2 is another build"), "{message}");
    }

    #[test]
    fn one_process_is_one_rank() {
        assert_eq!((communicator().size(), is_first()), (1, true));
        assert!(one_alone("list").is_ok());
    }
}
