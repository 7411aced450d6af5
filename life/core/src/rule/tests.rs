//! Checks the parsing and printing of rules against Golly and LifeWiki.

use proptest::prelude::*;

use super::*;

fn rule(text: &str) -> Rule {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn refusal(text: &str) -> String {
    text.parse::<Rule>().unwrap_err().to_string()
}

#[test]
fn one_rule_has_many_spellings() {
    for text in
        ["B3/S23", "b3s23", "23/3", "s23b3", "S32/B3", "B3_S23", " b3 / s23 ", "Life", "conway's life", "B3/S23/2"]
    {
        assert_eq!(rule(text), Rule::LIFE, "{text}");
        assert_eq!(rule(text).to_string(), "B3/S23");
    }
    for (text, golly) in [
        ("b2", "B2/S"),
        ("/2", "B2/S"),
        ("s12", "B/S12"),
        ("Day & Night", "B3678/S34678"),
        ("day and night", "B3678/S34678"),
        ("b13s012v", "B13/S012V"),
        ("B245/S3h", "B245/S3H"),
        ("B2/S/C3", "/2/3"),
        ("B2/S/G3", "/2/3"),
        ("g5b357s3457", "3457/357/5"),
        ("Brian's Brain", "/2/3"),
        ("/2/3V", "/2/3V"),
        ("12/34/3h", "12/34/3H"),
        ("w30", "W30"),
        ("345/2/4", "345/2/4"),
        ("B13/S012/C4V", "012/13/4V"),
        ("B13/S012V/4", "012/13/4V"),
        ("B2/S34H/C5", "34/2/5H"),
        ("Gnarl", "B1/S1"),
        ("assimilation", "B345/S4567"),
        ("PSEUDO LIFE", "B357/S238"),
        ("pseudolife", "B357/S238"),
        ("Stains", "B3678/S235678"),
        ("Bombers", "345/24/25"),
        ("ebb&flow", "012478/36/18"),
        ("LifeHistory", "B3/S23"),
        ("B3/S23History", "B3/S23"),
        ("HighLife history", "B36/S23"),
    ] {
        assert_eq!(rule(text).to_string(), golly, "{text}");
    }
}

/// Checks that rules with letters are printed as in the examples of Golly's help.
#[test]
fn letters_are_printed_as_golly_prints_them() {
    for (text, golly) in [
        ("B2nic/S", "B2cin/S"),
        ("B2ceikn/S", "B2-a/S"),
        ("B4-qjrtwz/S", "B4aceikny/S"),
        ("B2aceikn3/S", "B23/S"),
        ("B2-3/S", "B23/S"),
        ("B2-aceikn3/S", "B3/S"),
        ("B2cekin/S12", "B2-a/S12"),
        ("/2nic/8", "/2cin/8"),
        ("B3/S2a34", "B3/S2a34"),
        ("tlife", "B3/S2-i34q"),
    ] {
        assert_eq!(rule(text).to_string(), golly, "{text}");
    }
    // The von Neumann neighbourhood written with Hensel's letters, from LifeWiki.
    assert_eq!(rule("B1e2ak3inqy4ny5e/S"), rule("B1/SV"));
}

#[test]
fn letters_part_the_neighbourhoods() {
    for count in 0..=8 {
        let of_count = (0..ALL).filter(|i| i & CENTRE == 0 && i.count_ones() == count).count();
        let images: Vec<_> = hensel::shapes(count as usize).map(|(_, shape)| hensel::images(shape)).collect();
        let mut all: Vec<_> = images
            .iter()
            .flat_map(|images| {
                let mut images = images.to_vec();
                images.sort_unstable();
                images.dedup();
                images
            })
            .collect();
        let len = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!((all.len(), len), if count % 8 == 0 { (0, 0) } else { (of_count, of_count) }, "{count}");
    }
}

/// Checks the letter of each neighbourhood with live and dead neighbours exchanged. According to LifeWiki, the letter
/// stays the same for all counts except four. The table for four is from Golly's help.
#[test]
fn letters_of_inverted_neighbourhoods() {
    let letter_of = |count: usize, neighbourhood: usize| {
        hensel::shapes(count).find(|&(_, shape)| hensel::images(shape).contains(&neighbourhood)).unwrap().0
    };
    let fours = [
        ('c', 'e'),
        ('e', 'c'),
        ('k', 'k'),
        ('a', 'a'),
        ('i', 't'),
        ('n', 'r'),
        ('y', 'j'),
        ('q', 'w'),
        ('j', 'y'),
        ('r', 'n'),
        ('t', 'i'),
        ('w', 'q'),
        ('z', 'z'),
    ];
    for count in 1..8 {
        for (letter, shape) in hensel::shapes(count) {
            let inverted = letter_of(8 - count, shape ^ MOORE);
            let expected = fours.iter().find(|&&(from, _)| count == 4 && from == letter).map_or(letter, |&(_, to)| to);
            assert_eq!(inverted, expected, "{count}{letter}");
        }
    }
}

/// Checks the letters of hexagonal neighbourhoods. The expected neighbourhoods are from lifelib.
#[test]
fn letters_of_hexagons_are_lifelib_s() {
    for (text, some, number) in [
        ("2o", &[3, 9, 136][..], 6),
        ("2m", &[10, 33, 129], 6),
        ("2p", &[40, 130, 257], 3),
        ("3o", &[11, 35, 137, 290], 6),
        ("3m", &[41, 42, 131, 138], 12),
        ("3p", &[161, 266], 2),
        ("4o", &[43, 139, 291, 393], 6),
        ("4m", &[163, 169, 267, 298], 6),
        ("4p", &[170, 297, 387], 3),
    ] {
        let read = rule(&format!("B{text}/SH"));
        assert!(some.iter().all(|&neighbourhood| read.is_alive(neighbourhood)), "{text}");
        let of_hexagons = (0..ALL).filter(|i| i & !HEXAGONAL == 0 && read.is_alive(*i)).count();
        assert_eq!(of_hexagons, number, "{text}");
        assert!((0..ALL).all(|i| read.is_alive(i) == (i & CENTRE == 0 && read.is_alive(i & HEXAGONAL))), "{text}");
        assert_eq!(rule(&read.to_string()), read);
    }
    for (text, same) in [("B2omp3/S4-oH", "B23/S4mpH"), ("b2os3mh", "B2o/S3mH"), ("3m/2o/3H", "B2o/S3mH/3")] {
        assert_eq!(rule(text), rule(same), "{text}");
    }
}

#[test]
fn maps_are_golly_s() {
    let life = "MAPARYXfhZofugWaH7oaIDogBZofuhogOiAaIDogIAAgAAWaH7oaIDogGiA6ICAAIAAaIDogIAAgACAAIAAAAAAAA";
    assert_eq!(rule(life), Rule::LIFE);
    assert_eq!(rule(&format!("{life}==")), Rule::LIFE);
    assert_eq!(rule(&format!("{life}/2")), Rule::LIFE);
    assert_eq!(rule(&format!("{life}==/3")).to_string(), "23/3/3");
    // These examples are from the crate ca-rules.
    assert_eq!(rule("MAPHmlphg").to_string(), "B2/S013V");
    let generations = "MAPARYBFxZpF38WaRd/aZZ//hZpF39pln/+aZZ//pZp/ukWaRd/aZZ//mmWf/6Waf7paZZ//pZp/umWaf7paZbplg/5";
    assert_eq!(rule(generations).to_string(), "3457/357/5");
    // Under this rule, cells only spread to the right.
    let text = Rule::of(|i| i & 0o060 != 0).to_string();
    assert_eq!(text.len(), 9, "{text}");
    assert_eq!(rule(&text), Rule::of(|i| i & 0o060 != 0));
}

/// Checks which cell each bit of an index into a `MAP` table stands for, from the highest bit on. The expected orders
/// are from runs of Golly's `bgolly`. Each run used a table with one set bit and a board with one live cell. For `/3`,
/// `bgolly` ran its Generations algorithm, and otherwise QuickLife and HashLife.
#[test]
fn bits_of_maps_are_the_cells_that_they_are_for_golly() {
    const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const NAMES: [&str; 9] = ["SE", "S", "SW", "E", "C", "W", "NE", "N", "NW"];
    for (states, order) in [
        ("", "NW N NE W C E SW S SE"),
        ("/3", "NW N NE W C E SW S SE"),
        ("", "S SE W C E NW N"),
        ("/2", "NW N W C E S SE"),
        ("/3", "NW N W C E S SE"),
        ("", "N W C E S"),
        ("/3", "N W C E S"),
    ] {
        let count = order.split(' ').count();
        for (name, bit) in order.split(' ').rev().zip(0..) {
            let mut digits = vec![b'A'; (1_usize << count).div_ceil(6)];
            digits[(1 << bit) / 6] = BASE64[32 >> ((1 << bit) % 6)];
            let text = format!("MAP{}{states}", String::from_utf8(digits).unwrap());
            let read = rule(&text);
            let alone: Vec<_> = NAMES.iter().zip(0..).filter(|(_, cell)| read.is_alive(1 << cell)).collect();
            assert_eq!(alone.iter().map(|(name, _)| **name).collect::<Vec<_>>(), [name], "{text}");
            assert_eq!(rule(&read.to_string()), read, "{text}");
            if states != "/2" && name != "C" {
                assert_eq!(read.to_string(), text);
            }
        }
    }
    // For a rule that counts neighbours, it does not matter whether cells are numbered from above or from below.
    assert_eq!(rule("MAPFgFoF2gXgH5oF4B+gH4A6A").to_string(), "B2/S34H");
}

/// Checks the examples of emulated rules in Golly's help: https://golly.sourceforge.io/Help/Algorithms/QuickLife.html
#[test]
fn birth_without_neighbours_is_emulated() {
    for (text, phases) in [
        ("AntiLife", ["B3/S23", "B3/S23"]),
        ("B03/S23", ["B1245678/S0145678", "B56/S58"]),
        ("B0124-k/S1c25", ["B34k5678/S01-c34678", "B367c/S4-k678"]),
    ] {
        assert_eq!(rule(text).phases(), phases.map(rule), "{text}");
    }
    assert_eq!(rule("B36/S23").phases(), [rule("B36/S23"); 2]);
}

#[test]
fn generations_go_through_their_states() {
    let brain = rule("/2/3");
    assert_eq!(brain.states(), 3);
    assert_eq!(brain.next(0, 0o500), 1);
    assert_eq!(brain.next(1, 0o520), 2);
    assert_eq!(brain.next(2, 0o500), 0);
    let star_wars = rule("Star Wars");
    assert_eq!(star_wars.next(1, 0o720), 1);
    assert_eq!(star_wars.next(1, 0o020), 2);
    assert_eq!((star_wars.next(2, 0o700), star_wars.next(3, 0o500)), (3, 0));
}

#[test]
fn counts_are_found() {
    assert_eq!(Rule::LIFE.totalistic(), Some((1 << 3, 0b1100)));
    assert_eq!(rule("B36/S125").totalistic(), Some((0b100_1000, 0b10_0110)));
    assert_eq!(rule("B2-a/S12").totalistic(), None);
    assert_eq!(rule("B2/S34H").totalistic(), None);
}

#[test]
fn what_is_no_rule_is_refused_with_what_is() {
    for (text, part) in [
        ("R5,C0,M1,S34..58,B34..45,NM", "Larger-than-Life"),
        ("R7,C5,S3,B2", "Larger-than-Life"),
        ("5,34,58,34,45", "Larger-than-Life"),
        ("B3,/S23", "','"),
        ("B3/S23:K40*,30", ":K40*,30 is a topology"),
        ("Stainz", "no rule is known by this name"),
        ("nosuchrule", "no rule is known by this name"),
        ("bees", "no rule is known by this name"),
        ("history", "no rule is known by this name"),
        ("/2/3History", "\"3history\""),
        ("WireWorld", "rule tables"),
        ("JvN29", "rule tables"),
        ("", "missing"),
        ("B9/S", "9 neighbours"),
        ("B5/SV", "5 neighbours"),
        ("B2a/SH", "2 has no letter 'a': use letters of \"omp\""),
        ("B5o/SH", "5 has no letter 'o': leave it out"),
        ("B2o/S", "2 has no letter 'o'"),
        ("B2a/SV", "eight neighbours or H"),
        ("CrittersMargolus_emulated", "no rule is known by this name, and rule tables and trees (Golly's .rule files)"),
        ("BriansBrain_variant", "no rule is known by this name"),
        ("B1a/S", "1 has no letter 'a': use letters of \"ce\""),
        ("B5z/S", "5 has no letter 'z'"),
        ("B0c/S", "0 has no letter 'c': leave it out"),
        ("B3/B3", "B and S must have one half of the rule each"),
        ("B3/S2b3", "B and S must stand before"),
        ("1/2/3/4", "slashes"),
        ("23/3/1", "but 1 was given"),
        ("23/3/300", "but 300 was given"),
        ("23/03/3", "B0"),
        ("MAPAAAA", "86"),
        ("MAP******", "base64"),
        ("W31", "an even number from 0 to 254, but 31 was given"),
        ("23", "neither a slash"),
        ("12/34/x", "'x'"),
    ] {
        let message = refusal(text);
        assert!(message.contains(part), "{text}: {message}");
    }
    assert!(refusal("WireWorld").contains("B3/S23"));
    assert!(refusal(&"9".repeat(10_000)).len() < 500);
}

proptest! {
    #[test]
    fn what_is_printed_is_read(words in any::<[u64; 8]>(), states in 2..=256_u16) {
        let any = Rule { table: words, states: 2 };
        prop_assert_eq!(rule(&any.to_string()), any);
        let generations = Rule { table: [words[0] & !1, words[1], words[2], words[3], words[4], words[5], words[6], words[7]], states };
        prop_assert_eq!(rule(&generations.to_string()), generations);
    }

    #[test]
    fn counts_and_letters_are_read_back(birth in 0..512_u16, survival in 0..512_u16, seed in any::<u64>(), which in 0..4_usize) {
        let counted = Rule::outer_totalistic(birth, survival);
        let of = |neighbours: usize| Rule::of(move |i| {
            let counts = if i & CENTRE == 0 { birth } else { survival };
            counts >> (i & neighbours).count_ones() & 1 == 1
        });
        let isotropic = Rule::of(|i| {
            let shape = *hensel::images(i).iter().min().unwrap() as u64;
            (shape ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 63 == 1
        });
        let rule_of: Rule = [counted, of(HEXAGONAL), of(VON_NEUMANN), isotropic][which];
        let text = rule_of.to_string();
        prop_assert!(text.starts_with('B'), "{}", text);
        prop_assert_eq!(rule(&text), rule_of);
        prop_assert_eq!(counted.totalistic(), Some((birth, survival)));
    }

    #[test]
    fn no_text_makes_it_panic(text in any::<String>(), near in "[bsBSMAPW0-9/_:hvcg=a-z-]{0,100}") {
        let _ = text.parse::<Rule>();
        let _ = near.parse::<Rule>();
    }

    #[test]
    fn hexagonal_letters_are_refused_or_read_back(text in "B([0-6]|[0-6]-?[omp]{1,3}){0,4}/S([0-7]|[234]-?[omp]{1,3}){0,4}H(/[3-9])?") {
        if let Ok(read) = text.parse::<Rule>() {
            prop_assert_eq!(rule(&read.to_string()), read, "{}", text);
            // Cells outside the hexagon do not matter.
            prop_assert!((0..512).all(|i| read.is_alive(i) == read.is_alive(i & (HEXAGONAL | CENTRE))), "{}", text);
        } else {
            prop_assert!(refusal(&text).contains(&text), "{}", refusal(&text));
        }
    }

    #[test]
    fn phases_leave_the_empty_plane_empty(words in any::<[u64; 8]>()) {
        let any = Rule { table: words, states: 2 };
        for phase in any.phases() {
            prop_assert!(!phase.is_alive(0));
        }
    }
}
