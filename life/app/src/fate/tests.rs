//! Tests what well-known patterns become.

use std::collections::HashMap;

use life_formats::rle;

use super::*;

/// Looks at the pattern `text` every 120 generations until it is known what it becomes, at most up to generation
/// `last`. Returns the generation of the look, and the result.
fn fate_of(text: &str, last: u64) -> Option<(u64, Fate, Vec<Vector>)> {
    let pattern = rle::parse(text, 1 << 20).unwrap();
    let mut plane = plane_of(Counts::LIFE, pattern.cells().map(|(x, y)| (x as i64, y as i64))).unwrap();
    let mut watch = Watch::new(Counts::LIFE);
    while plane.generation() <= last {
        let cells: Vec<_> = plane.cells().collect();
        if let Some(fate) = watch.look(&cells, plane.generation()) {
            assert!(fate.is_in(&cells, plane.generation()));
            return Some((plane.generation(), fate, cells));
        }
        plane.advance(INTERVAL).unwrap();
    }
    None
}

fn counts(kinds: &[report::Kind]) -> HashMap<&str, u64> {
    kinds.iter().map(|kind| (kind.name.unwrap_or(&kind.code), kind.count)).collect()
}

#[test]
fn the_r_pentomino_leaves_its_known_objects() {
    let (generation, fate, cells) = fate_of("x = 3, y = 3\nb2o$2o$bo!", 3000).unwrap();
    assert!(generation <= 1320 && !fate.grows() && fate.period() == 2, "{generation}: {fate:?}");
    let outcome = fate.outcome(generation, &cells);
    let rest = [("block", 8), ("beehive", 4), ("blinker", 4), ("boat", 1), ("loaf", 1), ("ship", 1)];
    assert_eq!(counts(&outcome.rest), HashMap::from(rest));
    assert_eq!(counts(&outcome.escaped), HashMap::from([("glider", 6)]));
    assert_eq!(
        outcome.to_string(),
        "became: 8 blocks, 4 blinkers, 4 beehives, 1 boat, 1 ship, 1 loaf; 6 gliders escaped"
    );
}

#[test]
fn guns_emit() {
    let gosper = "x = 36, y = 9\n24bo$22bobo$12b2o6b2o12b2o$11bo3bo4b2o12b2o$2o8bo5bo3b2o$\
                  2o8bo3bob2o4bobo$10bo5bo7bo$11bo3bo$12b2o!";
    let (generation, fate, cells) = fate_of(gosper, 2000).unwrap();
    assert!(generation <= 600 && fate.grows(), "{generation}: {fate:?}");
    let growth = fate.outcome(generation, &cells).growth.unwrap();
    assert_eq!((growth.period, growth.shift, counts(&growth.emits)), (30, None, HashMap::from([("glider", 1)])));
    assert_eq!((growth.leaves.len(), growth.name), (0, Some("Gosper glider gun")));
}

/// The glider-producing switch engine, in the phase whose text is shortest.
pub const GLIDER_PRODUCING: &str = "b3o2$2bo$2b2ob3o$bob4o$bob3o$2b3o$3bo11b3o$14bo2b2o$13bo2bo$2ob2o9b2o$2ob2o$bob2o$2b\
    2o5$34b2o$23bob2o7b2o$23b4o$22bo$23b2o$23b2o3$42b2o$42b2o3$14b2o$14b2o5$37bobo$39bo\
    9b2o$37b3o9bobo$50bo2$28bo13bo$27bobo11bobo$27bo2bo9bo2bo$17b2o9b2o10b3o$16bo2b2o$\
    16b2obo$18b2ob2o$20b3o$22bo$18bo2b2o43b2o$19b3o44b2o$20bo2$55bo$54bobo$41bo12b2o$40b\
    obo$40b2o!";

#[test]
fn switch_engines_leave_their_trails() {
    // The smallest pattern that grows for ever has ten cells.
    let block_laying = "x = 8, y = 6\n6bo$4bob2o$4bobo$4bo$2bo$obo!";
    let (generation, fate, cells) = fate_of(block_laying, 20_000).unwrap();
    let growth = fate.outcome(generation, &cells).growth.unwrap();
    assert_eq!((growth.period, counts(&growth.leaves), growth.emits.len()), (288, HashMap::from([("block", 8)]), 0));
    let (x, y) = growth.shift.unwrap();
    assert_eq!((x.abs(), y.abs(), growth.name), (24, 24, Some("block-laying switch engine")), "{generation}");

    let (generation, fate, cells) = fate_of(GLIDER_PRODUCING, 4_000).unwrap();
    let growth = fate.outcome(generation, &cells).growth.unwrap();
    let leaves = [("blinker", 4), ("block", 3), ("beehive", 2), ("boat", 1), ("ship", 1), ("loaf", 1)];
    assert_eq!((growth.period, counts(&growth.leaves)), (384, HashMap::from(leaves)));
    assert_eq!(counts(&growth.emits), HashMap::from([("glider", 1)]));
    assert_eq!(growth.name, Some("glider-producing switch engine"));
    let text = fate.outcome(generation, &cells).to_string();
    assert!(text.contains("emits 1 glider and leaves 4 blinkers, 3 blocks, 2 beehives, 1 boat,"), "{text}");
}

#[test]
fn a_spaceship_that_may_meet_something_has_not_escaped() {
    // The glider flies to the block, past it on either side, or away from it.
    for (text, is_known) in [
        ("bo$2bo$3o30$35b2o$35b2o!", false),
        ("bo$2bo$3o30$20b2o$20b2o!", true),
        ("bo$2bo$3o30$45b2o$45b2o!", true),
        ("31bo$30bo$30b3o30$2o$2o!", false),
        ("2o$2o40$41bo$42bo$40b3o!", true),
    ] {
        assert_eq!(fate_of(text, 0).is_some(), is_known, "{text}");
    }
    // Two gliders that collide, that pass each other, and that move apart.
    for (text, is_known) in [
        ("bo37bo$2bo35bo$3o35b3o!", false),
        ("bo97bo$2bo95bo$3o95b3o!", false),
        ("bo$2bo$3o48$50b3o$50bo$51bo!", false),
        ("bo$2bo$3o48$30b3o$30bo$31bo!", true),
        ("3o$o$bo50$43bo$44bo$42b3o!", true),
    ] {
        assert_eq!(fate_of(text, 0).is_some(), is_known, "{text}");
    }
}
