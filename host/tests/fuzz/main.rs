//! Tests the readers of Life's formats on valid texts with random changes. No reader may panic or allocate more than
//! its limit, and every reader must reject texts of other formats.
//!
//! `FUZZ_SECONDS` sets how long the test runs; the default is one second. The test prints the number of inputs.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::Write;
use std::time::{Duration, Instant};

use life::{Board, Rule, plane};
use life_formats::{Contents, Format, read_contents, read_pattern_bytes};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// An allocator that counts the bytes that each thread has allocated.
struct Counting;

thread_local! {
    static HELD: Cell<usize> = const { Cell::new(0) };
    static MOST: Cell<usize> = const { Cell::new(0) };
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: every call goes to the system's allocator; the counters are `Cell`s of the thread, which allocate nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let held = HELD.get().wrapping_add(layout.size());
        HELD.set(held);
        // This thread may free what other threads allocated, so that the count may fall below 0.
        if held < usize::MAX / 2 {
            MOST.set(MOST.get().max(held));
        }
        // SAFETY: the caller fulfils the contract of `alloc`, which is the same for the system's allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.set(HELD.get().wrapping_sub(layout.size()));
        // SAFETY: the pointer came from `alloc`, which is the system's.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// The maximum number of bytes that a reader may use for a pattern.
const LIMIT: u64 = 1 << 20;

/// The additional bytes that a reader may use for messages and for the state of a decompressor.
const BESIDE: usize = 1 << 18;

/// The number of inputs that are tested before the test reads the clock again.
const CASES: u32 = 1000;

/// Returns the contents of valid files, one or more of each format.
fn seeds() -> Vec<Vec<u8>> {
    let mut seeds: Vec<Vec<u8>> = [
        "#N Glider\n#CXRLE Pos=-1,2 Gen=30\nx = 3, y = 3, rule = B3/S23:T20,10\nbob$2bo$3o!\nend",
        "#C\n#r 23/3\n#P 1 2\nx=12,y=3\n2o3oob2o\r\n$ 5b o$$\n#N in between\n3.A.pAyO2xB!",
        "bo$2bo$3o!",
        "!Name: Glider\n!\n.O.\n..O\nOOO\n",
        "#Life 1.05\n#D Glider\n#N\n#P -1 -1\n.*.\n..*\n#R 23/36\n#P 0 3\n***\n",
        "#Life 1.06\n0 -1\n1 0\n-1 1\n0 1\n4611686018427387904 -4611686018427387904\n",
        "[M2] (golly 4.2)\n#R B3/S23\n#G 12\n.*$..*$***$\n$$*******$\n4 0 2 0 1\n5 3 3 0 3\n6 4 0 4 4\n",
        "[M2]\n#R B2/S/3\n1 0 1 0 2\n1 0 0 255 0\n2 1 2 1 0\n3 3 3 0 3\n4 4 4 4 4\n5 5 5 5 5\n40 0 0 0 0\n",
        "#MCell 4.20\n#GAME Generations\n#RULE /2/200\n#BOARD 30x20\n#WRAP 1\n#L A2.2B$aA\n#L 3$jO.D\n",
        "xq4_153",
        "xp3_co9nas0san9oczgoldlo0oldlogz1047210127401",
        "xs31_0ca178b96z69d871ac",
        "!Name: Glider\n O\n  O\nOOO\n",
        "x = 9, y = 2, rule = LifeHistory:T20,10\n.ABCDEF$F2E3.pAyO!",
        "x = 3, y = 3, rule = B2om3-p/S2-m3opH\nbo$2bo$3o!",
        "[[ THEME 6\nGPS 30 ]]\nx = 3, y = 3\nbo$[[ X ]]2bo$3o!\n[[ Y ]]",
    ]
    .map(|text| text.as_bytes().to_vec())
    .into();
    let mut picture = Vec::new();
    life_formats::picture::write_png(&Board::random(40, 30, 0.3, 1).unwrap(), &mut picture).unwrap();
    seeds.push(picture);
    let archives: Vec<_> = seeds.iter().step_by(4).map(|seed| zipped(seed)).collect();
    seeds.extend(archives);
    seeds
}

/// Returns a zip archive of one file.
fn zipped(content: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut archive = rawzip::ZipArchiveWriter::new(&mut bytes);
    let file = archive.new_file("a.rle").compression_method(rawzip::CompressionMethod::DEFLATE);
    let (mut entry, config) = file.start().unwrap();
    let encoder = flate2::write::DeflateEncoder::new(&mut entry, flate2::Compression::fast());
    let mut writer = config.wrap(encoder);
    writer.write_all(content).unwrap();
    let (encoder, descriptor) = writer.finish().unwrap();
    encoder.finish().unwrap();
    entry.finish(descriptor).unwrap();
    archive.finish().unwrap();
    bytes
}

/// The texts that changes insert.
const WORDS: [&[u8]; 27] = [
    b"18446744073709551615",
    b"9223372036854775807",
    b"-9223372036854775808",
    b"4294967296",
    b"99999",
    b"0",
    b"-",
    b"$",
    b"!",
    b"\n",
    b"#",
    b"#P ",
    b"#L ",
    b"x = ",
    b"[M2]\n",
    b"#Life",
    b"y",
    b"zz",
    b"127 1 1 1 1\n",
    b"\xff",
    "é".as_bytes(),
    b"*",
    b"65535o",
    b"\r",
    b"[[",
    b"]]",
    b"PK\x03\x04",
];

/// A change of an input: its kind, its place, and its length or content.
type Change = (u8, u16, u16);

fn change(bytes: &mut Vec<u8>, others: &[Vec<u8>], (kind, place, what): Change) {
    let at = usize::from(place) % (bytes.len() + 1);
    let what = usize::from(what);
    let end = bytes.len().min(at + 1 + what % 16);
    match kind % 8 {
        0 if at < bytes.len() => bytes[at] = what as u8,
        1 if at < bytes.len() => bytes[at] ^= 1 << (what % 8),
        2 => drop(bytes.splice(at..at, WORDS[what % WORDS.len()].iter().copied())),
        3 => drop(bytes.splice(at..end, WORDS[what % WORDS.len()].iter().copied())),
        4 => drop(bytes.drain(at..end)),
        5 => {
            let part = bytes[at..end].repeat(1 + what % 50);
            drop(bytes.splice(at..at, part));
        }
        6 => bytes.truncate(at),
        _ => {
            let other = &others[what % others.len()];
            bytes.extend_from_slice(&other[usize::from(place) % other.len()..]);
        }
    }
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(bytes).unwrap();
    gzip.finish().unwrap()
}

/// The formats that a file's name can select.
const NAMED: [Option<Format>; 7] = [
    None,
    Some(Format::Rle),
    Some(Format::Cells),
    Some(Format::Life),
    Some(Format::Macrocell),
    Some(Format::Mcell),
    Some(Format::Png),
];

/// Tests texts whose first line no format permits, followed by random lines and comments.
#[test]
fn every_reader_refuses_what_is_none_of_its_format() {
    let line = "([ac-nz&?{<\\\\][ -~]{0,30}|#[ A-KMOQ-Za-z][ -~]{0,10}|\\[[ -LN-~]{0,10}|)";
    let text = prop::collection::vec(line, 0..6);
    let config = Config { cases: 4000, failure_persistence: None, ..Config::default() };
    let refused = TestRunner::new(config).run(&(text, 0..NAMED.len()), |(lines, named)| {
        let read = read_pattern_bytes(lines.join("\n").as_bytes(), NAMED[named], LIMIT);
        prop_assert!(read.is_err(), "{:?} as {:?}: {:?}", lines, NAMED[named], read);
        Ok(())
    });
    refused.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn no_reader_panics_or_takes_more_than_it_may() {
    let seconds = std::env::var("FUZZ_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let end = Instant::now() + Duration::from_secs(seconds);
    let seeds = seeds();
    // A rule with all states that a file can have.
    let rule: Rule = "23/3/256".parse().unwrap();
    let formats = [None, Some(Format::Rle), Some(Format::Cells), Some(Format::Life), Some(Format::Mcell)];
    let input = (0..seeds.len(), prop::collection::vec(any::<Change>(), 0..6), 0..formats.len(), any::<u8>());
    let (mut inputs, mut read) = (0u64, Cell::new(0u64));
    while Instant::now() < end {
        // Every runner has a different random seed.
        let mut runner = TestRunner::new(Config { cases: CASES, failure_persistence: None, ..Config::default() });
        let result = runner.run(&input, |(seed, changes, format, zip)| {
            let mut bytes = seeds[seed].clone();
            changes.iter().for_each(|&by| change(&mut bytes, &seeds, by));
            if zip < 16 {
                bytes = if zip % 2 == 0 { compressed(&bytes) } else { zipped(&bytes) };
                changes.iter().take(1).filter(|_| zip < 8).for_each(|&by| change(&mut bytes, &seeds, by));
            }
            let before = HELD.get();
            MOST.set(before);
            let pattern = read_pattern_bytes(&bytes, formats[format], LIMIT);
            let taken = MOST.get() - before;
            prop_assert!(taken <= LIMIT as usize + BESIDE, "{} bytes of memory for {:?}", taken, bytes);
            if let Ok(Contents::Tree(tree)) = read_contents(&bytes, formats[format], LIMIT) {
                let mut plane = plane::dead(&rule, 0);
                plane.limit_memory(LIMIT);
                if let (Ok(()), Ok(pattern)) = (tree.put_on(&mut plane, (-7, 5), |state| state), &pattern) {
                    let others: usize = pattern.others().iter().map(|(run, _)| run.length).sum();
                    prop_assert_eq!(plane.population(), pattern.population() + others as u64, "{:?}", bytes);
                }
            }
            if let Ok(pattern) = pattern {
                read.set(read.get() + 1);
                prop_assert!(pattern.runs().all(|run| run.y < pattern.height && run.x + run.length <= pattern.width));
                prop_assert!(pattern.runs().is_sorted_by(|a, b| (a.y, a.x + a.length) < (b.y, b.x)));
            }
            Ok(())
        });
        result.unwrap_or_else(|error| panic!("after {inputs} inputs: {error}"));
        inputs += u64::from(CASES);
    }
    let read = *read.get_mut();
    println!("{inputs} inputs, of which {read} are patterns");
    assert!(read * 20 > inputs, "{read} of {inputs} are read: the changes leave too little");
}
