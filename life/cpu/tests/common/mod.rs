//! Rules for the tests of the engines.

use life_cpu::Rule;

/// Makes a rule from functions. A cell is alive in the next generation if the function returns true for the number of
/// its neighbourhood. Even generations use `even`, and odd generations use `odd`.
pub fn rule(states: u16, even: impl Fn(usize) -> bool, odd: impl Fn(usize) -> bool) -> Rule {
    let mut phases = [[0; 8]; 2];
    for i in 0..512 {
        phases[0][i / 64] |= u64::from(even(i)) << (i % 64);
        phases[1][i / 64] |= u64::from(odd(i)) << (i % 64);
    }
    Rule { phases, states }
}

/// Returns rules of every class. In the tables, one of 2^(64 − `shift`) neighbourhoods has a live cell next.
pub fn rules(shift: u32) -> Vec<(&'static str, Rule)> {
    let live = |i: usize| i & 0o020 != 0;
    let counted = move |birth: u32, survival: u32| {
        move |i: usize| if live(i) { survival } else { birth } >> (i & 0o757).count_ones() & 1 == 1
    };
    let one = |states, birth, survival| rule(states, counted(birth, survival), counted(birth, survival));
    let scattered = |i: usize| i > 0 && (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> shift == 1;
    let hexagonal = |i: usize| (i & 0o653).count_ones() == 2;
    vec![
        ("Life", Rule::LIFE),
        ("HighLife", one(2, 1 << 3 | 1 << 6, 1 << 2 | 1 << 3)),
        ("Day & Night", one(2, 0b1_1100_1000, 0b1_1101_1000)),
        ("all counts", one(2, 0b0_1010_1010, 0b1_0101_0101)),
        ("a table", rule(2, scattered, scattered)),
        ("hexagonal", rule(2, hexagonal, hexagonal)),
        ("B03/S23 emulated", rule(2, counted(0b1_1111_0110, 0b1_1111_0011), counted(0b0_0110_0000, 0b1_0010_0000))),
        ("counts and tables in turn", rule(2, counted(1 << 3, 1 << 2), scattered)),
        ("Brian's Brain", one(3, 1 << 2, 0)),
        ("Star Wars", one(4, 1 << 2, 0b11_1000)),
        ("a table of 7 states", rule(7, scattered, scattered)),
        ("256 states", one(256, 1 << 3 | 1 << 4, 1 << 2 | 1 << 3)),
        ("Replicator", one(2, 0b0_1010_1010, 0b0_1010_1010)),
    ]
}
