//! Compares boards in bands with the reference implementation, for all rungs, classes of rules and topologies, and for
//! several numbers of members and ranks.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use launch::GroupChoice;

use super::*;
use crate::{Grid, RuleAndTopology, reference};
use multi::ranks::{alone, in_threads};

fn group(members: usize) -> Group {
    let choice: GroupChoice = format!("sim:{members}").parse().unwrap();
    Group::open(&choice, &[]).unwrap()
}

fn spec(text: &str, (width, height): (usize, usize)) -> BoardSpec {
    let RuleAndTopology { rule, grid } = text.parse().unwrap();
    let topology = grid.map_or(Topology::TORUS, |grid| grid.topology);
    BoardSpec { width, height, rule, topology, from: 1 }
}

/// Makes a soup in which all states of the rule occur.
fn board((width, height): (usize, usize), rule: &Rule) -> Board {
    let mut board = Board::with_states(width, height, rule.states()).unwrap();
    for (i, (x, y)) in Board::random(width, height, 0.4, 5).unwrap().cells().enumerate() {
        board.set_state(x, y, (1 + i % usize::from(rule.states() - 1)) as u8);
    }
    board
}

impl From<Option<usize>> for Overrides {
    fn from(halo: Option<usize>) -> Self {
        Self { halo, ..Self::default() }
    }
}

/// Returns the boards that the reference implementation computes from generation 1 on: one after each batch of
/// generations, and a last one after one more generation.
///
/// The boards are cached, because tests with different ranks, members and rungs need the same boards.
fn expected(text: &str, size: (usize, usize), batches: &[u64]) -> Arc<Vec<Board>> {
    type Key = (String, (usize, usize), Vec<u64>);
    static KNOWN: Mutex<Option<HashMap<Key, Arc<Vec<Board>>>>> = Mutex::new(None);
    let mut known = KNOWN.lock().unwrap();
    let boards = known.get_or_insert_default().entry((text.to_owned(), size, batches.to_vec())).or_insert_with(|| {
        let BoardSpec { rule, topology, from, .. } = spec(text, size);
        let (mut board, mut generation) = (board(size, &rule), from);
        let after = batches.iter().chain(&[1]).map(|&batch| {
            board = reference::advance_by(&board, &rule, topology, generation, batch);
            generation += batch;
            board.clone()
        });
        Arc::new(after.collect())
    });
    Arc::clone(boards)
}

/// Compares bands with the reference implementation after each batch of generations, from generation 1 on.
fn check(
    text: &str,
    size: (usize, usize),
    workers: Workers<'_>,
    overrides: impl Into<Overrides>,
    ranks: &dyn Communicator,
    batches: &[u64],
) {
    let overrides = overrides.into();
    let spec = spec(text, size);
    let what = format!("{text} {size:?}, {overrides:?}, rank {} of {}", ranks.rank(), ranks.size());
    let mut life = Bands::with(ranks, workers, spec, overrides).unwrap();
    let first = board(size, &spec.rule);
    life.put::<LifeError>(|rows| Ok(first.part(rows)?)).unwrap();
    let expected = expected(text, size, batches);
    for (&batch, expected) in batches.iter().zip(expected.iter()) {
        life.advance(batch).unwrap();
        let now = life.rows(0..size.1).unwrap();
        assert_eq!(now.is_some(), ranks.rank() == 0);
        assert!(now.is_none_or(|now| now == *expected), "{what}: after {batch} generations");
        assert_eq!(life.population().unwrap(), expected.population(), "{what}");
        assert_eq!(life.hash().unwrap(), expected.hash(), "{what}");
    }
    let [.., last, next] = &expected[..] else { panic!("no batches") };
    let (copied, hash) = (life.copy().unwrap(), life.fingerprint().unwrap());
    let changes = life.advance_counting().unwrap();
    assert_eq!(life.fingerprint().unwrap() == hash, next == last, "{what}");
    assert_eq!(changes, last.changes(next), "{what}");
    assert_eq!(life.equals(&copied).unwrap(), next == last, "{what}");
    life.put_copy(&copied).unwrap();
    assert!(life.equals(&copied).unwrap(), "{what}");
    assert_eq!((life.hash().unwrap(), life.fingerprint().unwrap()), (last.hash(), hash), "{what}");
}

const BATCHES: [u64; 4] = [1, 0, 7, 13];

#[test]
fn members_agree_with_the_reference_by_every_rung() {
    for members in [2, 3, 7] {
        let group = group(members);
        for rung in <LifeRung as cuda_std::Ladder>::ALL {
            for size in [(70, 23), (256, 50)] {
                for halo in [Some(5), None] {
                    let size = if matches!(rung, LifeRung::Block | LifeRung::Shared) { (33, 17) } else { size };
                    check("B3/S23", size, Workers::Kernels(&group, Some(*rung)), halo, &alone(), &BATCHES);
                }
            }
        }
    }
}

#[test]
fn members_agree_with_the_reference_by_every_class_of_rules() {
    let group = group(3);
    for (text, rung) in [
        ("B36/S23", LifeRung::Streaming),
        ("B36/S23", LifeRung::Bitpacked),
        ("B03/S23", LifeRung::Streaming),
        ("B03/S23", LifeRung::Bitpacked),
        ("B2-a/S12", LifeRung::Bitpacked),
        ("/2/3", LifeRung::Bitpacked),
        ("345/26/4", LifeRung::Bitpacked),
    ] {
        check(text, (75, 31), Workers::Kernels(&group, Some(rung)), Some(6), &alone(), &BATCHES);
    }
}

#[test]
fn boards_of_fewer_rows_than_members_have_fewer_bands() {
    let group = group(7);
    for height in [1, 2, 3, 6, 8] {
        for rung in [LifeRung::Bitpacked, LifeRung::Streaming, LifeRung::Global] {
            check("B3/S23", (40, height), Workers::Kernels(&group, Some(rung)), Some(9), &alone(), &[1, 12]);
        }
    }
    in_threads(4, |ranks| {
        for text in ["B3/S23", "B3/S23:P40,3", "B3/S23:K40*,3", "B3/S23:T40,3+1"] {
            (1..=3).for_each(|height| check(text, (40, height), Workers::Cores, None, ranks, &[1, 20]));
        }
    });
}

#[test]
fn ranks_agree_with_the_reference_by_every_rule_and_topology() {
    let rules = ["Life", "HighLife", "B2-a/S12", "B2/S34H", "W30", "345/26/5", "B03/S23", "AntiLife"];
    let suffixes = [
        ":P33,21",
        ":T33,21",
        ":T0,21",
        ":T33,0",
        ":T33+2,21",
        ":T33,21-3",
        ":K33*,21",
        ":K34*+1,21",
        ":K33,21*",
        ":K33,22*+1",
        ":C33,21",
        ":S33",
    ];
    for size in 1..=4 {
        in_threads(size, |ranks| {
            for text in rules.iter().flat_map(|rule| suffixes.iter().map(move |suffix| format!("{rule}{suffix}"))) {
                let Grid { width, height, .. } = text.parse::<RuleAndTopology>().unwrap().grid.unwrap();
                let board = (width.max(33 * usize::from(width == 0)), height.max(21 * usize::from(height == 0)));
                check(&text, board, Workers::Cores, None, ranks, &BATCHES);
            }
        });
    }
}

#[test]
fn ranks_with_members_agree_with_the_reference() {
    for size in 1..=4 {
        in_threads(size, |ranks| {
            // Different ranks may have different numbers of members.
            let group = group(1 + ranks.rank() % 2);
            for (text, rung) in [
                ("B3/S23", LifeRung::Streaming),
                ("B3/S23", LifeRung::Temporal),
                ("B3/S23", LifeRung::Global),
                ("/2/3", LifeRung::Bitpacked),
            ] {
                check(text, (70, 40), Workers::Kernels(&group, Some(rung)), None, ranks, &BATCHES);
            }
        });
    }
}

/// Checks both transports of halos. In this test the ranks are threads, so their simulated devices can read each
/// other's memory unless the test disables it.
#[test]
fn halos_of_ranks_come_directly_or_late() {
    in_threads(3, |ranks| {
        let group = group(1 + ranks.rank() % 2);
        for (text, rung) in [
            ("B3/S23", LifeRung::Streaming),
            ("B03/S23", LifeRung::Streaming),
            ("B3/S23", LifeRung::Temporal),
            ("B3/S23", LifeRung::Global),
            ("345/26/4", LifeRung::Bitpacked),
        ] {
            let workers = Workers::Kernels(&group, Some(rung));
            let direct = Bands::dead(ranks, workers, spec(text, (70, 60))).unwrap();
            assert_eq!(direct.transport(), Some(HaloTransport::Direct));
            check(text, (70, 60), workers, Some(7), ranks, &BATCHES);
            // Each of the five bands has 12 rows. A halo of more than 12 rows therefore takes rows from several bands.
            for (halo, late) in [(7, 3), (6, 0), (17, 4), (5, 4)] {
                let overrides = Overrides { halo: Some(halo), late: Some(late), by_messages: true };
                let life = Bands::with(ranks, workers, spec(text, (70, 60)), overrides).unwrap();
                assert_eq!((life.transport(), life.halo()), (Some(HaloTransport::Messages), halo - late));
                check(text, (70, 60), workers, overrides, ranks, &BATCHES);
            }
        }
    });
}

#[test]
fn soups_are_those_of_one_device() {
    let (group, ranks) = (group(3), alone());
    for (size, density) in [((70, 20), 0.3), ((129, 7), 1.0), ((40, 2), 0.5)] {
        let spec = BoardSpec { width: size.0, height: size.1, rule: Rule::LIFE, topology: Topology::TORUS, from: 0 };
        let expected = Board::random(size.0, size.1, density, 9).unwrap();
        let after = reference::advance(&expected, 30);
        for rung in [LifeRung::Streaming, LifeRung::Bitpacked, LifeRung::Global] {
            let workers = Workers::Kernels(&group, Some(rung));
            let mut life = Bands::soup(&ranks, workers, spec, density, 9).unwrap();
            assert_eq!(life.rows(0..size.1).unwrap().unwrap(), expected);
            life.advance(30).unwrap();
            assert_eq!(life.rows(0..size.1).unwrap().unwrap(), after);
        }
        in_threads(3, |ranks| {
            let mut life = Bands::soup(ranks, Workers::Cores, spec, density, 9).unwrap();
            life.advance(30).unwrap();
            assert_eq!(life.hash().unwrap(), after.hash());
        });
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let spec = BoardSpec { width: 64, height: 64, rule: Rule::LIFE, topology: Topology::TORUS, from: 0 };
    let (group, ranks) = (group(2), alone());
    let errors = in_threads(2, |ranks| {
        let workers = if ranks.rank() == 0 { Workers::Cores } else { Workers::Kernels(&group, None) };
        Bands::dead(ranks, workers, spec).err().unwrap().to_string()
    });
    assert!(errors.iter().all(|error| error.contains("the same --device")), "{errors:?}");
    let none = Bands::dead(&ranks, Workers::Cores, BoardSpec { height: 0, ..spec }).err().unwrap();
    assert!(none.to_string().contains("64x0"), "{none}");
    let small = Group::open(&"sim:3x1".parse().unwrap(), &[]).unwrap();
    let large = BoardSpec { width: 4096, height: 3 * 4096, ..spec };
    let error = Bands::dead(&ranks, Workers::Kernels(&small, Some(LifeRung::Bitpacked)), large).err().unwrap();
    let error = std::iter::successors(Some(&error as &dyn std::error::Error), |error| error.source());
    let error: Vec<String> = error.map(|error| error.to_string()).collect();
    assert!(error[0].contains("band 1 of 3") && error[0].contains("member 1 of 3"), "{error:?}");
    assert!(error.iter().any(|error| error.contains("memory")), "{error:?}");
    let life = Bands::dead(&ranks, Workers::Kernels(&group, None), spec).unwrap();
    assert!(life.rows(60..65).err().unwrap().to_string().contains("the rows 0..64"));
}
