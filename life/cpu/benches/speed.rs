//! Measures the cell updates per second and hashes of each instruction set, by size, rule and topology:
//! `cargo bench -p gridstride-life-cpu --bench speed [PART]`. With PART, measures only the cases whose names contain
//! it. `RAYON_NUM_THREADS` sets the number of threads. Then measures patterns on the unbounded plane.

use std::time::Instant;

use life_cpu::plane::{Plane, Run};
use life_cpu::{Automaton, Edges, FirstBoard, Instructions, Rule, Topology};

/// Makes a rule from a function. A cell is alive in the next generation if `is_alive` returns true for the number of
/// its neighbourhood.
fn rule(states: u16, is_alive: impl Fn(usize) -> bool) -> Rule {
    let mut table = [0; 8];
    (0..512).filter(|&i| is_alive(i)).for_each(|i| table[i / 64] |= 1 << (i % 64));
    Rule { phases: [table; 2], states }
}

/// Prints the time that patterns need on the unbounded plane.
fn plane(part: &str) -> Result<(), life_cpu::plane::PlaneError> {
    let soup: Vec<u64> = (1..=32 * 2048).map(|i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)).collect();
    let soup: Vec<Vec<u64>> = soup.chunks(32).map(|row| row.iter().map(|word| word & word << 7).collect()).collect();
    let of = |rows: &[u64]| rows.iter().map(|&row| vec![row.reverse_bits() >> 24]).collect::<Vec<_>>();
    let gun = of(&[
        0x00_0000_8000,
        0x00_0002_8000,
        0x00_0c0c_000c,
        0x00_1110_c00c,
        0xc0_2090_c000,
        0xc0_22d0_2800,
        0x00_2080_8000,
        0x00_1110_0000,
        0x00_0c00_0000,
    ]);
    let glider = of(&[0b010 << 37, 0b001 << 37, 0b111 << 37]);
    let pentomino = of(&[0b011 << 37, 0b110 << 37, 0b010 << 37]);
    for (name, rows, generations) in [
        ("glider", &glider, 20_000),
        ("R-pentomino", &pentomino, 30_000),
        ("Gosper gun", &gun, 30_000),
        ("soup of 2048x2048", &soup, 1000),
    ] {
        let what = format!("{name} on the plane, {generations} generations");
        if !what.contains(part) {
            continue;
        }
        let mut life = Plane::new(&Rule::LIFE, 0);
        for (y, row) in rows.iter().enumerate() {
            for x in (0..64 * row.len()).filter(|x| row[x / 64] >> (x % 64) & 1 == 1) {
                life.set_run(Run { x: x as i64, y: y as i64, length: 1 })?;
            }
        }
        let begun = Instant::now();
        life.advance(generations)?;
        let (seconds, population) = (begun.elapsed().as_secs_f64(), life.population());
        println!("{what}: {seconds:.4} s, {population} cells are alive, {} KiB of tiles", life.bytes() >> 10);
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let part = std::env::args().skip(1).find(|argument| argument != "--bench").unwrap_or_default();
    let count = |i: usize| (i & 0o757).count_ones();
    let is_live = |i: usize| i & 0o020 != 0;
    let high_life = rule(2, |i| count(i) == 3 || if is_live(i) { count(i) == 2 } else { count(i) == 6 });
    // The logic of this table has the maximum number of leaves.
    let scattered = rule(2, |i| i > 0 && (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 63 == 1);
    let brain = rule(3, |i| !is_live(i) && count(i) == 2);
    let star_wars = rule(4, |i| if is_live(i) { (3..=5).contains(&count(i)) } else { count(i) == 2 });
    let torus = Topology::TORUS;
    let klein = Topology::Klein { twisted: Edges::Horizontal, is_shifted: false };
    let sizes = [(256, 256), (1024, 1024), (4096, 4096), (4000, 4000), (16384, 16384), (65536, 8192)];
    let mut cases: Vec<_> = sizes.map(|size| ("B3/S23", Rule::LIFE, "torus", torus, size)).to_vec();
    for (name, rule) in [("B36/S23", high_life), ("a table", scattered), ("/2/3", brain), ("345/2/4", star_wars)] {
        cases.push((name, rule, "torus", torus, (4096, 4096)));
    }
    let shifted = Topology::Torus { across: 0, down: 5 };
    for (name, topology) in [
        ("plane", Topology::Plane),
        ("shifted torus", shifted),
        ("Klein bottle", klein),
        ("cross-surface", Topology::CrossSurface),
        ("sphere", Topology::Sphere),
    ] {
        for size in [(1024, 1024), (4096, 4096)] {
            cases.push(("B3/S23", Rule::LIFE, name, topology, size));
        }
    }
    for (rule_name, rule, topology_name, topology, (width, height)) in cases {
        let words: Vec<u32> = (0..width / 32 * height).map(|i: usize| (i as u32).wrapping_mul(0x9e37_79b9)).collect();
        for instructions in Instructions::available() {
            let what = format!("{rule_name}, {topology_name}, {width}x{height}, {instructions}");
            if !what.contains(&part) {
                continue;
            }
            let first = FirstBoard { width, height, words: &words, ages: &[], generation: 0 };
            let mut life = Automaton::with(instructions, &first, &rule, topology)?;
            let mut generations = 16;
            let seconds = loop {
                let begun = Instant::now();
                life.advance(generations);
                let took = begun.elapsed().as_secs_f64();
                if took > 0.5 {
                    break took;
                }
                generations *= 2;
            };
            let rate = (width * height) as f64 * generations as f64 / seconds;
            let begun = Instant::now();
            let (mut hashes, mut sum) = (0, 0_u64);
            while begun.elapsed().as_secs_f64() < 0.1 {
                sum ^= life.fingerprint(0..height);
                hashes += 1;
            }
            std::hint::black_box(sum);
            let hash = begun.elapsed().as_secs_f64() / f64::from(hashes) / (seconds / generations as f64);
            println!("{what}, {} cores: {rate:.3e} cells/s, a hash takes {hash:.2} generations", Automaton::threads());
        }
    }
    plane(&part)?;
    Ok(())
}
