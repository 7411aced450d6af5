//! Tests the kernels of Life that take a rule as an argument. The results are compared with the definition of the rule,
//! on every device.

use gpu::life::{AGES_WORDS, ROWS_PER_THREAD, life_counts, life_generations, life_table};
use launch::{Device, LaunchConfig};
use life::circuits::{count_tables, tables};
use life::{Board, Rule};
use rand::Rng;
use tests::{all_devices, random};

const SIZES: [(usize, usize); 9] = [(1, 1), (2, 3), (31, 5), (32, 1), (33, 40), (64, 7), (95, 33), (1, 70), (130, 21)];

/// A torus of cells with several states.
#[derive(Clone, PartialEq, Debug)]
struct Torus {
    width: usize,
    height: usize,
    cells: Vec<u8>,
}

impl Torus {
    fn random(width: usize, height: usize, states: u16, seed: u64) -> Self {
        let mut random = random(seed);
        let cells = (0..width * height).map(|_| (random.next_u64() % u64::from(states)) as u8).collect();
        Self { width, height, cells }
    }

    fn after(&self, rule: &Rule) -> Self {
        let (width, height) = (self.width, self.height);
        let cell = |x: usize, y: usize| self.cells[y % height * width + x % width];
        let next = |i: usize| {
            let (x, y) = (i % width + width, i / width + height);
            let nine =
                [y - 1, y, y + 1].into_iter().flat_map(|y| [x - 1, x, x + 1].map(|x| usize::from(cell(x, y) == 1)));
            rule.next(cell(x, y), nine.fold(0, |bits, alive| bits << 1 | alive))
        };
        Self { width, height, cells: (0..width * height).map(next).collect() }
    }

    /// Returns the words of a board that contain bit `bit` of the cells' states.
    fn words(&self, bit: u8) -> Vec<u32> {
        let mut board = Board::new(self.width, self.height).unwrap();
        for (i, cell) in self.cells.iter().enumerate() {
            board.set(i % self.width, i / self.width, cell >> bit & 1 != 0);
        }
        board.words().to_vec()
    }
}

fn config(width: usize, height: usize) -> LaunchConfig {
    LaunchConfig::new((width.div_ceil(32).div_ceil(2) as u32, height.div_ceil(20) as u32), (2, 8))
}

fn conforms(rules: &[Rule], tables: impl Fn(&Rule) -> &'static [u8], is_counted: bool) {
    for device in all_devices() {
        for (i, rule) in rules.iter().enumerate() {
            for (width, height) in SIZES {
                let torus = Torus::random(width, height, 2, i as u64);
                let cells = device.upload(&torus.words(0)).unwrap();
                let mut next = device.alloc::<u32>(cells.len()).unwrap();
                let config = config(width, height).tables(tables(rule));
                if is_counted {
                    device.launch(config, life_counts(cells.view(), next.view_mut(), width, height)).unwrap();
                } else {
                    device.launch(config, life_table(cells.view(), next.view_mut(), width, height)).unwrap();
                }
                assert_eq!(next.download().unwrap(), torus.after(rule).words(0), "{rule:?}, {width}x{height}");
            }
        }
    }
}

/// Returns rules that count neighbours: B3/S23, HighLife, Seeds, Day & Night, a rule with nearly all births and all
/// survivals, a rule with no births and no survivals, and random rules.
fn counting() -> Vec<Rule> {
    let mut random = random(3);
    let fixed = [(8, 12), (0b100_1000, 12), (4, 0), (0b1_1100_1000, 0b1_1101_1000), (0x1FE, 0x1FF), (0, 0)];
    let others = (0..4).map(|_| random.next_u64()).map(|bits| ((bits & 0x1FF) as u16, (bits >> 9 & 0x1FF) as u16));
    fixed.into_iter().chain(others).map(|(birth, survival)| Rule::outer_totalistic(birth, survival)).collect()
}

#[test]
fn rules_that_count_conform() {
    let of = |rule: &Rule| rule.totalistic().map(|(birth, survival)| count_tables(birth, survival)).unwrap();
    conforms(&counting(), of, true);
}

#[test]
fn any_rule_conforms() {
    let any = (0..4).map(|seed| {
        let mut random = random(seed);
        let bits: Vec<u64> = (0..8).map(|_| random.next_u64()).collect();
        Rule::of(|i| bits[i / 64] >> (i % 64) & 1 != 0)
    });
    conforms(&any.chain(counting().into_iter().take(2)).collect::<Vec<_>>(), tables, false);
}

fn generations(device: &Device, torus: &Torus, rule: &Rule) -> [Vec<u32>; 2] {
    let [low, high] = [0, 1].map(|bit| device.upload(&torus.words(bit)).unwrap());
    let [mut next_low, mut next_high] = [0; 2].map(|_| device.alloc::<u32>(low.len()).unwrap());
    let (birth, survival) = rule.totalistic().unwrap();
    let (width, height, states) = (torus.width, torus.height, rule.states().into());
    let grid = (width.div_ceil(32).div_ceil(AGES_WORDS) as u32, height.div_ceil(2 * ROWS_PER_THREAD) as u32);
    let config = LaunchConfig::new(grid, (32, 2)).tables(count_tables(birth, survival));
    let planes = [&mut next_low, &mut next_high].map(|plane| plane.view_mut());
    let [next_low_view, next_high_view] = planes;
    let call = life_generations(low.view(), high.view(), next_low_view, next_high_view, width, height, states);
    device.launch(config, call).unwrap();
    [next_low, next_high].map(|plane| plane.download().unwrap())
}

#[test]
fn generations_of_three_and_four_states_conform() {
    for device in all_devices() {
        for states in [3, 4] {
            for (i, rule) in counting().into_iter().filter(|rule| !rule.is_alive(0)).enumerate() {
                let rule = rule.with_states(states).unwrap();
                for (width, height) in SIZES {
                    let torus = Torus::random(width, height, states, i as u64);
                    let after = torus.after(&rule);
                    let found = generations(&device, &torus, &rule);
                    assert_eq!(found, [0, 1].map(|bit| after.words(bit)), "{rule:?}, {states}, {width}x{height}");
                }
            }
        }
    }
}
