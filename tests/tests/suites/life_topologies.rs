//! Compares the rung `streaming` of Life with the plain reference on Golly's bounded grids, on every device. An
//! argument of the kernel describes how the edges are joined.

use gpu::life::Surface;
use life::topology::Edges;
use life::{Board, LifeRung, Rule, RuleAndTopology, Simulation, Topology, check_topology, reference};
use tests::{all_devices, devices};

/// Topologies in Golly's notation. Some boards have one cell, a few cells or partial words. Others are about as large
/// as the smallest board whose corners the kernel repairs, have enough rows for many folds, or are wider than a tile.
const GRIDS: [&str; 56] = [
    ":T1+0,7-3",
    ":T5+2,4",
    ":T31,33+7",
    ":T33-16,20",
    ":T40+20,1",
    ":T70,300-129",
    ":T4097+2000,9",
    ":T4090,20+7",
    ":P1,1",
    ":P2,3",
    ":P31,33",
    ":P33,20",
    ":P64,7",
    ":P7,64",
    ":P40,170",
    ":P16,8",
    ":P113,290",
    ":P4081,9",
    ":P4097,13",
    ":P497,40",
    ":T0,1",
    ":T0,20",
    ":T0,33",
    ":T20,0",
    ":T33,0",
    ":T1,0",
    ":K1*,1",
    ":K2*+1,3",
    ":K31*,20",
    ":K32*+1,20",
    ":K20,33*",
    ":K33,32*+1",
    ":K20*,300",
    ":K70,290*+1",
    ":K4090*,9",
    ":K9,4096*+1",
    ":K4097,10*",
    ":C1,1",
    ":C2,3",
    ":C20,40",
    ":C40,20",
    ":C23,24",
    ":C24,24",
    ":C25,24",
    ":C33,47",
    ":C40,290",
    ":C4090,25",
    ":C130,30",
    ":S1",
    ":S2",
    ":S7",
    ":S23",
    ":S24",
    ":S25",
    ":S33",
    ":S140",
];

fn grid(text: &str) -> (Topology, (usize, usize)) {
    let RuleAndTopology { grid, .. } = format!("Life{text}").parse().unwrap();
    let grid = grid.unwrap();
    // A side of 0 is unbounded. For the test it has 27 cells, and patterns reach its ends.
    let side = |side: usize| if side == 0 { 27 } else { side };
    (grid.topology, (side(grid.width), side(grid.height)))
}

fn conforms(grids: &[&str], rule: &str, steps: &[u64], first: impl Fn(usize, usize) -> Board) {
    let rule: Rule = rule.parse().unwrap();
    for text in grids {
        let (topology, (width, height)) = grid(text);
        let board = first(width, height);
        let mut expected = vec![board.clone()];
        for (i, &generations) in steps.iter().enumerate() {
            let from = 1 + steps[..i].iter().sum::<u64>();
            expected.push(reference::advance_by(&expected[i], &rule, topology, from, generations));
        }
        for device in devices() {
            let life = Simulation::with_rule(&device, LifeRung::Streaming, &board, &rule, 1).unwrap();
            let mut life = life.on(topology).unwrap();
            for (&generations, expected) in steps.iter().zip(&expected[1..]) {
                life.advance(generations).unwrap();
                assert!(life.board().unwrap() == *expected, "{rule}{text} after {generations}, {}", device.name());
                assert_eq!(life.population().unwrap(), expected.population(), "{rule}{text}");
            }
        }
    }
}

fn soup(width: usize, height: usize) -> Board {
    Board::random(width, height, 0.4, (width + height) as u64).unwrap()
}

/// Tests every topology with `B3/S23`, for 1 and 9 generations.
#[test]
fn every_topology_conforms() {
    conforms(&GRIDS, "B3/S23", &[1, 9], soup);
}

/// Tests rules that count neighbours. If a rule has births without neighbours (B0), the kernel alternates between two
/// rules. The cells beyond the edges of a plane are dead under both rules.
#[test]
fn every_topology_conforms_for_rules_that_count() {
    let grids = [
        ":T40+3,30",
        ":T33,20-7",
        ":P40,30",
        ":P4090,8",
        ":T0,20",
        ":T20,0",
        ":K40*+1,30",
        ":K30,41*",
        ":C30,29",
        ":C9,9",
        ":S30",
        ":S9",
    ];
    for rule in ["B36/S23", "B3678/S34678", "B03/S23", "B01/S", "B0123478/S34678"] {
        conforms(&grids, rule, &[7, 6], soup);
    }
}

/// Tests gliders in all directions on an otherwise empty board. They cross every edge and every corner.
#[test]
fn gliders_cross_every_edge() {
    let gliders = |width: usize, height: usize| {
        let mut board = Board::new(width, height).unwrap();
        let (right, bottom) = (width - 9, height - 9);
        for (x, y, turned) in [(6, 6, 0), (right, 6, 1), (6, bottom, 2), (right, bottom, 3), (width / 2, height / 2, 0)]
        {
            for (i, j) in [(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)] {
                // The outer gliders move away from the middle, two of them towards edges and two towards corners.
                let (i, j) = (if turned & 1 == 0 { 2 - i } else { i }, if turned & 2 == 0 { 2 - j } else { j });
                board.set(x + i, y + j, true);
            }
        }
        board
    };
    let grids = [
        ":T40+5,36",
        ":T36,40-7",
        ":P40,36",
        ":T0,36",
        ":T36,0",
        ":K40*,36",
        ":K40*+1,36",
        ":K36,40*+1",
        ":C40,36",
        ":S40",
        ":C25,24",
    ];
    conforms(&grids, "B3/S23", &[16, 50], gliders);
}

/// Tests that the kernels' `Surface` returns the same source cell as the topology, near the edges and in the whole
/// margin.
#[test]
fn surfaces_are_the_topologies() {
    for text in GRIDS {
        let (topology, (width, height)) = grid(text);
        let size = (width as u32, height as u32);
        let surface = match topology {
            Topology::Plane => Surface::plane(true, true),
            Topology::Tube(joined) => Surface::plane(joined == Edges::Horizontal, joined == Edges::Vertical),
            Topology::Torus { across, down } => Surface::torus(size, across, down),
            Topology::Klein { twisted, is_shifted } => Surface::klein(twisted == Edges::Horizontal, is_shifted),
            Topology::CrossSurface => Surface::CROSS_SURFACE,
            Topology::Sphere => Surface::SPHERE,
        };
        let near = |side: usize| (-8..side as i32 + 9).filter(move |i| *i < 20 || *i > side as i32 - 20);
        for (x, y) in near(height).flat_map(|y| near(width).map(move |x| (x, y))) {
            let expected = topology.source(width, height, x.into(), y.into()).map(|(x, y)| (x as u32, y as u32));
            assert_eq!(surface.source(size, x, y), expected, "{text}, {x}, {y}");
        }
    }
}

#[test]
fn other_rungs_are_for_a_torus_without_a_shift() {
    for device in all_devices() {
        let board = soup(40, 30);
        let life = Simulation::new(&device, LifeRung::Bitpacked, &board).unwrap();
        let error = life.on(Topology::Plane).err().unwrap().to_string();
        assert!(error.contains("streaming"), "{error}");
    }
    assert!(check_topology(LifeRung::Temporal, Topology::TORUS).is_ok());
    assert!(check_topology(LifeRung::Temporal, Topology::Sphere).is_err());
}
