//! Checks suffixes and topologies against the behaviour of Golly.

use proptest::prelude::*;

use super::*;

fn parsed(text: &str) -> RuleAndTopology {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

/// Draws a board of letters, row by row, including the cells one step beyond each edge.
fn ring(suffix: &str) -> String {
    let Grid { topology, width, height } = parsed(&format!("B3/S23{suffix}")).grid.unwrap();
    let letter = |(x, y): (usize, usize)| char::from(b'A' + (y * width + x) as u8);
    let row = |y: i64| -> String {
        (-1..=width as i64).map(|x| topology.source(width, height, x, y).map_or('0', letter)).collect()
    };
    (-1..=height as i64).map(row).collect::<Vec<_>>().join(" ")
}

/// Checks the joined edges against the diagrams in Golly's help: https://golly.sourceforge.io/Help/bounded.html
#[test]
fn edges_are_joined_as_in_golly_s_diagrams() {
    for (suffix, expected) in [
        (":P4,3", "000000 0ABCD0 0EFGH0 0IJKL0 000000"),
        (":T4,3", "LIJKLI DABCDA HEFGHE LIJKLI DABCDA"),
        (":T4+1,3", "KLIJKL DABCDA HEFGHE LIJKLI ABCDAB"),
        (":T4,3+1", "HIJKLA LABCDE DEFGHI HIJKLA LABCDE"),
        (":K4*,3", "ILKJIL DABCDA HEFGHE LIJKLI ADCBAD"),
        (":K4,3*", "DIJKLA LABCDI HEFGHE DIJKLA LABCDI"),
        // Golly 3.3 shows these cells. In the diagram of its help, the shift is larger by two.
        (":K4*+1,3", "LKJILK DABCDA HEFGHE LIJKLI DCBADC"),
        (":K3,4*+1", "LJKLJ IABCG FDEFD CGHIA LJKLJ IABCG"),
        (":C4,3", "ALKJID LABCDI HEFGHE DIJKLA IDCBAL"),
        (":S3", "AADGC AABCG BDEFH CGHII GCFII"),
    ] {
        assert_eq!(ring(suffix), expected, "{suffix}");
    }
}

#[test]
fn suffixes_are_printed_as_golly_prints_them() {
    for (text, golly) in [
        ("B3/S23:t30,20", "B3/S23:T30,20"),
        ("B3/S23:T30", "B3/S23:T30,30"),
        ("B3/S23:T30,20-2", "B3/S23:T30,20-2"),
        ("B3/S23:T30+35,20", "B3/S23:T30+5,20"),
        ("Life:T0,20", "B3/S23:T0,20"),
        ("Life:P30,0", "B3/S23:P30,0"),
        ("Life:K30,20", "B3/S23:K30,20*"),
        ("Life:K30*+3,20", "B3/S23:K30*+1,20"),
        ("Life:K30,20*-1", "B3/S23:K30,20*+1"),
        ("Life:C30,20", "B3/S23:C30,20"),
        ("Life:s30", "B3/S23:S30"),
        ("Life:T0,0", "B3/S23"),
        ("Life:", "B3/S23"),
        ("/2/3:P5,6", "/2/3:P5,6"),
    ] {
        let read = parsed(text);
        assert_eq!(read.to_string(), golly, "{text}");
        assert_eq!(parsed(golly), read, "{text}");
    }
}

#[test]
fn what_is_no_grid_is_refused_with_those_there_are() {
    for (text, part) in [
        ("X3,4", "the letter must be T, P, K, C or S"),
        ("T3*,4", "only a Klein bottle can be twisted: leave out the `*`, or write :K3*,4"),
        ("P3+1,4", "can be shifted: leave out the shift"),
        ("T3+1,4+1", "both sides have a shift: leave one out"),
        ("K3*,4*", "both sides have a `*`: leave one out"),
        ("K4*,4+1", "where it is twisted"),
        ("K31*+3,20", "a shifted Klein bottle needs an even width, but 31 was given: use 30 or 32"),
        ("K6,7*-1", "needs an even height, but 7 was given: use 6 or 8"),
        ("C3,0", ":C needs two bounded sides, but 3 and 0 were given"),
        ("S0", ":S needs two bounded sides, but 0 and 0 were given"),
        ("T3+99999999999999999999,4", "less than 2^63, but +99999999999999999999 was given"),
        ("S3,4", "needs equal sides, but 3 and 4 were given: use :S3 or :S4"),
        ("T0+1,20", "needs two bounded sides, but one has 0 cells"),
        ("T3,4,5", "a side is a number"),
        ("T3000000000,4", "2,000,000,000"),
        ("T99999999999999999999999,4", "2,000,000,000"),
    ] {
        let message = format!("B3/S23:{text}").parse::<RuleAndTopology>().unwrap_err().to_string();
        assert!(message.contains(part) && message.contains(":K30*,20"), "{text}: {message}");
    }
}

proptest! {
    /// Checks that the orthogonal neighbours are symmetric: if cell B is a neighbour of cell A, then A is a neighbour
    /// of B.
    #[test]
    fn neighbours_are_each_others(which in 0..9_usize, width in 1..7_usize, height in 1..7_usize) {
        let topology = [
            Topology::Plane,
            Topology::TORUS,
            Topology::Torus { across: 2, down: 0 },
            Topology::Torus { across: 0, down: -1 },
            Topology::Tube(Edges::Horizontal),
            Topology::Klein { twisted: Edges::Horizontal, is_shifted: false },
            Topology::Klein { twisted: Edges::Vertical, is_shifted: false },
            Topology::CrossSurface,
            Topology::Sphere,
        ][which];
        let height = if topology == Topology::Sphere { width } else { height };
        let beside = |x: usize, y: usize| {
            let (x, y) = (x as i64, y as i64);
            [(x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)].map(|(x, y)| topology.source(width, height, x, y))
        };
        for (x, y) in (0..width * height).map(|i| (i % width, i / width)) {
            for (other_x, other_y) in beside(x, y).into_iter().flatten() {
                let there = beside(x, y).into_iter().flatten().filter(|&cell| cell == (other_x, other_y)).count();
                let back = beside(other_x, other_y).into_iter().flatten().filter(|&cell| cell == (x, y)).count();
                prop_assert_eq!(there, back, "({}, {}) and ({}, {})", x, y, other_x, other_y);
            }
        }
    }

    #[test]
    fn no_suffix_makes_it_panic(text in any::<String>(), near in "[TPKCStpkcs]?[0-9*+,-]{0,30}") {
        let _ = format!("B3/S23:{text}").parse::<RuleAndTopology>();
        if let Ok(read) = format!("B3/S23:{near}").parse::<RuleAndTopology>() {
            prop_assert_eq!(parsed(&read.to_string()), read);
        }
    }
}

#[test]
fn a_topology_is_shown_in_words_and_as_golly_writes_it() {
    for (suffix, text) in [
        ("T64,64+3", "a shifted torus (:TW,H+3)"),
        ("T64-2,64", "a shifted torus (:TW-2,H)"),
        ("T64,64", "a torus (:TW,H)"),
        ("T0,64", "a tube (:T0,H)"),
        ("T64,0", "a tube (:TW,0)"),
        ("P64,64", "a bounded plane (:PW,H)"),
        ("K64*+1,64", "a Klein bottle (:KW*+1,H)"),
        ("K64,64*", "a Klein bottle (:KW,H*)"),
        ("C64,64", "a cross-surface (:CW,H)"),
        ("S64", "a sphere (:SW)"),
    ] {
        assert_eq!(parsed(&format!("B3/S23:{suffix}")).grid.unwrap().topology.to_string(), text);
    }
}
