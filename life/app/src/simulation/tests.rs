//! Compares the engines of Life with each other, and tests their errors.

use life::{Board, LifeRung, reference};

use super::*;
use crate::backend::{Backend, DeviceSpec};
use crate::first_board::BoardSource;
use crate::ranks::Ranks;
use crate::universe::Universe;
use life::RuleAndTopology;
use program::error::UsageError;

fn sim(text: &str) -> DeviceSpec {
    DeviceSpec::Device(text.parse().unwrap())
}

#[test]
fn device_specs_are_read_as_they_are_written() {
    for spec in [DeviceSpec::Cpu, sim("auto"), sim("gpu:1")] {
        assert_eq!(spec.to_string().parse(), Ok(spec));
    }
    let message = "avx".parse::<DeviceSpec>().unwrap_err().to_string();
    assert!(message.contains("\"avx\"") && message.contains("gpu:N") && message.contains("cpu"), "{message}");
}

#[test]
fn a_kernel_is_not_for_the_cpu() {
    let error = Backend::open(Ranks::alone(), &DeviceSpec::Cpu, Some(LifeRung::Temporal), (8, 8), Universe::default())
        .err()
        .unwrap();
    assert!(error.is::<UsageError>() && error.to_string().contains("--rung temporal"), "{error}");
    let (backend, line) = Backend::open(Ranks::alone(), &sim("sim"), None, (8, 8), Universe::default()).unwrap();
    assert!(matches!(backend, Backend::Kernel(..)) && line.contains("simulator"), "{line}");
}

#[test]
fn both_engines_agree() {
    let board = Board::random(300, 200, 0.4, 1).unwrap();
    let after = |spec| {
        let (backend, _) = Backend::open(Ranks::alone(), &spec, None, (300, 200), Universe::default()).unwrap();
        let mut life = GrowingBoard::new(&backend, &board).unwrap();
        life.advance(50).unwrap();
        (life.generation(), life.population().unwrap(), life.board().unwrap().words().to_vec())
    };
    assert_eq!(after(DeviceSpec::Cpu), after(sim("sim")));
}

/// Compares simulated kernels with the CPU on all kinds of bounded grids, starting from a board and from a soup. Also
/// checks that a rule that no kernel supports runs on the host's cores.
#[test]
fn engines_agree_on_bounded_grids() {
    let of = |text: &str| Universe::of(text.parse().unwrap()).0;
    for text in [":P40,30", ":T40+3,30", ":K40,30*", ":C40,30", ":S33", ":T0,30", ":P0,30"] {
        let (universe, size) = (of(&format!("B36/S23{text}")), if text == ":S33" { (33, 33) } else { (40, 30) });
        let after = |spec: DeviceSpec| {
            let (backend, _) = Backend::open(Ranks::alone(), &spec, None, size, universe).unwrap();
            assert_eq!(matches!(backend, Backend::Kernel(_, LifeRung::Streaming, _)), spec != DeviceSpec::Cpu);
            let mut life = GrowingBoard::read(&backend, &BoardSource::Soup { size, density: 0.4, seed: 1 }).unwrap();
            life.advance(50).unwrap();
            let board = life.board().unwrap();
            let mut again = GrowingBoard::new(&backend, &board).unwrap();
            let changes = again.advance_counting().unwrap();
            (board, changes, again.board().unwrap())
        };
        assert!(after(DeviceSpec::Cpu) == after(sim("sim")), "{text}");
    }
    let (backend, line) = Backend::open(Ranks::alone(), &sim("sim"), None, (40, 30), of("B2-a/S12:P40,30")).unwrap();
    assert!(matches!(backend, Backend::Cpu(_)) && line.contains("bounded plane"), "{line}");
    let (backend, line) = Backend::open(Ranks::alone(), &sim("sim:2"), None, (40, 30), of("Life:P40,30")).unwrap();
    assert!(matches!(backend, Backend::Cpu(_)) && line.contains("several devices"), "{line}");
    let error = Backend::open(Ranks::alone(), &sim("sim"), Some(LifeRung::Bitpacked), (40, 30), of("Life:P40,30"))
        .err()
        .unwrap();
    assert!(error.is::<UsageError>() && error.to_string().contains("streaming"), "{error}");
}

#[test]
fn engines_make_and_count_alike() {
    for kernel in [None, Some(LifeRung::Global), Some(LifeRung::Bitpacked), Some(LifeRung::Temporal)] {
        let spec = if kernel.is_some() { sim("sim") } else { DeviceSpec::Cpu };
        let (backend, _) = Backend::open(Ranks::alone(), &spec, kernel, (300, 100), Universe::default()).unwrap();
        let mut life =
            GrowingBoard::read(&backend, &BoardSource::Soup { size: (300, 100), density: 0.4, seed: 1 }).unwrap();
        let board = Board::random(300, 100, 0.4, 1).unwrap();
        assert_eq!(life.board().unwrap(), board);
        assert_eq!(life.engine_mut().hash().unwrap(), board.hash());
        let after = reference::advance(&board, 1);
        assert_eq!(life.advance_counting().unwrap(), board.changes(&after), "{kernel:?}");
        assert_eq!((life.board().unwrap(), life.generation()), (after, 1));
    }
}

/// Checks that the board of a glider grows on the unbounded plane, on every back end that needs no GPU.
#[test]
fn the_plane_grows() {
    let glider = [(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)];
    let mut board = Board::new(20, 30).unwrap();
    glider.iter().for_each(|&(x, y)| board.set(x, y, true));
    let (plane, _) = Universe::of("B3/S23".parse().unwrap());
    for (spec, kernel) in [(DeviceSpec::Cpu, None), (sim("sim"), Some(LifeRung::Bitpacked))] {
        let (backend, _) = Backend::open(Ranks::alone(), &spec, kernel, (20, 30), plane).unwrap();
        let mut life = GrowingBoard::new(&backend, &board).unwrap();
        for generations in [1, 3, 0, 396] {
            life.advance(generations).unwrap();
        }
        assert_eq!((life.generation(), life.population().unwrap()), (400, 5));
        let (left, top) = life.added();
        let moved: Vec<_> = glider.iter().map(|&(x, y)| (x + 100 + left, y + 100 + top)).collect();
        assert_eq!(life.board().unwrap().cells().collect::<Vec<_>>(), moved);
        assert_eq!(life.first_window().unwrap().unwrap(), Board::new(20, 30).unwrap());
        assert!(life.size().0 >= 103 && life.size().1 >= 103);
        life.advance_counting().unwrap();
        assert_eq!(life.generation(), 401);
    }
}

#[test]
fn a_tube_grows_along_itself() {
    let text: RuleAndTopology = "B3/S23:T0,20".parse().unwrap();
    let (tube, _) = Universe::of(text);
    let mut board = Board::new(64, 20).unwrap();
    [(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)].iter().for_each(|&(x, y)| board.set(x, y, true));
    let (backend, _) = Backend::open(Ranks::alone(), &DeviceSpec::Cpu, None, (64, 20), tube).unwrap();
    let mut life = GrowingBoard::new(&backend, &board).unwrap();
    life.advance(400).unwrap();
    let (left, _) = life.added();
    let now = life.board().unwrap();
    assert_eq!((now.height(), now.population()), (20, 5));
    assert_eq!(now.cells().next(), Some((101 + left, 0)));
}

#[test]
fn what_no_kernel_can_do_is_refused_or_done_by_the_cores() {
    let (universe, _) = Universe::of("B2-a/S/C3:K30*,20".parse().unwrap());
    let sim = sim("sim");
    let error = Backend::open(Ranks::alone(), &sim, Some(LifeRung::Global), (30, 20), universe).err().unwrap();
    assert!(error.is::<UsageError>() && error.to_string().contains("/2-a/3"), "{error}");
    let (backend, line) = Backend::open(Ranks::alone(), &sim, None, (30, 20), universe).unwrap();
    assert!(matches!(backend, Backend::Cpu(_)) && line.contains("cores (the kernels run rules of two"), "{line}");
    let (universe, _) = Universe::of("B36/S23:T30,20".parse().unwrap());
    let error = Backend::open(Ranks::alone(), &sim, Some(LifeRung::Temporal), (30, 20), universe).err().unwrap();
    assert!(error.is::<UsageError>() && error.to_string().contains("streaming has"), "{error}");
    assert!(matches!(Backend::open(Ranks::alone(), &sim, None, (30, 20), universe), Ok((Backend::Kernel(..), _))));
}
