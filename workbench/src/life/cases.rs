//! The cases of Life: every rung in whole simulations of boards with partial words and tiles, and in grids that are
//! smaller than the board.

use std::collections::BTreeMap;

use cuda_std::Ladder;
use gpu::life::{
    VECTOR_ROWS, life_bitpacked, life_bitpacked_vectors, life_changes_words, life_global, life_hash_words, life_pack,
    life_population_cells, life_population_words, life_soup, life_temporal, life_unpack,
};
use launch::{Device, LaunchConfig};

use crate::case::{Case, CaseError, Stage, equal};
use crate::error::WorkbenchError;
use life::soup_census::{CountedObject, MAX_SOUP_SIDE, SoupResults, Spaceship};
use life::{
    Board, Grid, LifeRung, Rule, RuleAndTopology, RuleError, Simulation, SoupCensus, SoupError, Topology, reference,
};

/// A simulation, described by its columns, rows and generations.
type Run = (usize, usize, u64);

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for &rung in LifeRung::ALL {
        let mut add_by = |kernels: &'static [&'static str], what: &str, runs: &'static [Run]| {
            cases.push(Case::new("life", rung.name(), kernels, what, move |stage| {
                runs.iter().try_for_each(|&run| check(stage, rung, run))
            }));
        };
        let mut add = |what: &str, runs| add_by(kernels_of(rung), what, runs);
        add("boards of 1x1, 2x3, 33x2 and 1x40 cells", &[(1, 1, 1), (2, 3, 2), (33, 2, 3), (1, 40, 2)]);
        match rung {
            LifeRung::Global | LifeRung::Bitpacked => {
                add("boards of 70x37 and 300x20 cells, several blocks", &[(70, 37, 2), (300, 20, 2)])
            }
            LifeRung::Block | LifeRung::Shared => {
                add("boards of 31x17 and 40x33 cells, all generations in one launch", &[(31, 17, 6), (40, 33, 3)])
            }
            LifeRung::Temporal => {
                add("a board of 70x40 cells, more generations than one launch computes", &[(70, 40, 10)]);
                add("a board of 1000x260 cells, several tiles", &[(1000, 260, 3)]);
            }
            LifeRung::Resident => {
                add("a board of 70x40 cells, several exchanges of margins per launch", &[(70, 40, 30)]);
                add("a board of 1000x33 cells, several tiles", &[(1000, 33, 26)]);
            }
            LifeRung::Streaming => {
                add("a board of 70x40 cells, more generations than one launch computes", &[(70, 40, 10)]);
                add("a board of 1000x33 cells, several tiles", &[(1000, 33, 7)]);
                add_by(
                    WHOLE_MARGINS,
                    "boards of 104x200 and 1000x128 cells, the kernel for whole vectors",
                    &[(104, 200, 13), (1000, 128, 7)],
                );
            }
        }
    }
    cases.push(Case::new("life", "bitpacked", VECTORS, "boards whose rows are whole vectors", |stage| {
        let rows = VECTOR_ROWS;
        let runs = [(128, 1, 1), (128, 2, 2), (256, rows - 1, 2), (128 * 33, rows, 1), (384, rows + 1, 2)];
        runs.into_iter().try_for_each(|run| check(stage, LifeRung::Bitpacked, run))
    }));
    cases.push(Case::new(
        "life",
        "bitpacked",
        &["life_bitpacked_vectors"],
        "1 x 2 x 3 blocks, more than the board has strips",
        strips_along_z,
    ));
    let mut add = |rung, kernels, work: fn(&Stage) -> Result<(), CaseError>| {
        cases.push(Case::new("life", rung, kernels, "at most 4 blocks, which loop over the board", work));
    };
    add("global", &["life_global", "life_pack", "life_unpack", "life_population_cells"], bytes_wrap);
    add("bitpacked", &["life_bitpacked", "life_population_words"], words_wrap);
    add("temporal", &["life_temporal"], tiles_wrap);
    let kernels: &[_] = &["life_soup", "life_hash_words", "life_changes_words"];
    cases.push(Case::new(
        "life",
        "bitpacked",
        kernels,
        "2 blocks of 32 threads: a random board, its hash, births and deaths",
        soups_hashes_and_changes,
    ));
    let kernels: &[_] = &["life_interleave", "life_soup", "life_deinterleave"];
    cases.push(Case::new("life", "streaming", kernels, "random boards of 1x1, 290x40 and 700x33 cells", |stage| {
        [(1, 1), (290, 40), (700, 33)].into_iter().try_for_each(|(width, height)| {
            let size = (width, height);
            let life = Simulation::soup(&stage.device, LifeRung::Streaming, size, 0.5, 5, &Rule::LIFE)?;
            equal("the soup's words", life.board()?.words(), Board::random(width, height, 0.5, 5)?.words())
        })
    }));
    let kernels: &[_] = &[
        "life_take_rows",
        "life_put_rows",
        "life_interleave",
        "life_interleave_rows",
        "life_soup",
        "life_deinterleave",
    ];
    cases.push(Case::new(
        "life",
        "streaming",
        kernels,
        "copies of rows between two interleaved boards",
        rows_as_they_lie,
    ));
    let kernels: &[_] =
        &["life_hash_interleaved", "life_interleave_rows", "life_streaming", "life_edges", "life_deinterleave"];
    let what = "hashes of rows of boards of 1x1, 70x40 and 1000x33 cells";
    cases.push(Case::new("life", "streaming", kernels, what, |stage| {
        [(1, 1), (70, 40), (1000, 33)].into_iter().try_for_each(|size| hashes_of_rows(stage, size))
    }));
    let kernels: &[_] = &["life_soup_census"];
    cases.push(Case::new("life", "bitpacked", kernels, "a census of two soups; a glider leaves one of them", census));
    for (what, kernels, grids) in GRIDS {
        cases.push(Case::new("life", "streaming", kernels, *what, move |stage| {
            grids.iter().try_for_each(|grid| on_grid(stage, grid))
        }));
    }
    for (rung, kernels, rule) in RULES {
        cases.push(Case::new("life", rung.name(), kernels, format!("the rule {rule}"), move |stage| {
            by_rule(stage, *rung, rule)
        }));
    }
    cases
}

/// Rules other than Life's, each with a rung and the kernels that run the rule.
const RULES: &[(LifeRung, &[&str], &str)] = &[
    (LifeRung::Bitpacked, &["life_counts", "life_population_words"], "B36/S23"),
    (LifeRung::Bitpacked, &["life_table", "life_population_words"], "B2-a/S12"),
    (LifeRung::Bitpacked, &["life_generations"], "/2/3"),
    (LifeRung::Streaming, INTERLEAVED, "B36/S23"),
];

/// Bounded grids, each with the kernels that advance a board on the grid. These kernels fill margins, keep cells beyond
/// the edges dead, and correct corners.
const GRIDS: &[(&str, &[&str], &[&str])] = &[
    (
        "a shifted torus, a Klein bottle and a sphere",
        &["life_streaming", "life_edges_of", "life_interleave_rows", "life_deinterleave"],
        &["B3/S23:T33+5,20", "B36/S23:K20,33*", "B3/S23:S9"],
    ),
    (
        "bounded planes of 70x37 and 33x40 cells",
        &["life_streaming_plane", "life_streaming", "life_edges_of", "life_interleave_rows", "life_deinterleave"],
        &["B3/S23:P70,37", "B36/S23:P33,40"],
    ),
    (
        "a cross-surface and a sphere, with corrected corners",
        &["life_corners", "life_streaming", "life_edges_of", "life_interleave_rows", "life_deinterleave"],
        &["B3/S23:C30,24", "B03/S23:S25"],
    ),
];

fn on_grid(stage: &Stage, text: &str) -> Result<(), CaseError> {
    let parsed = text.parse::<RuleAndTopology>().map_err(|error| WorkbenchError::Options(error.to_string()))?;
    let Some(Grid { topology, width, height }) = parsed.grid else { return Ok(()) };
    let board = soup(width, height)?;
    let life = Simulation::with_rule(&stage.device, LifeRung::Streaming, &board, &parsed.rule, 0)?;
    let mut life = life.on(topology)?;
    life.advance(7)?;
    let expected = reference::advance_by(&board, &parsed.rule, topology, 0, 7);
    equal("the board's words", life.board()?.words(), expected.words())
}

fn by_rule(stage: &Stage, rung: LifeRung, rule: &str) -> Result<(), CaseError> {
    let rule: Rule = rule.parse().map_err(|error: RuleError| WorkbenchError::Options(error.to_string()))?;
    for (width, height, generations) in [(2, 3, 2), (70, 37, 3)] {
        let two = soup(width, height)?;
        let mut board = Board::with_states(width, height, rule.states()).map_err(SoupError::from)?;
        two.cells().for_each(|(x, y)| board.set_state(x, y, 1));
        let expected = reference::advance_by(&board, &rule, Topology::TORUS, 0, generations);
        let mut simulation = Simulation::with_rule(&stage.device, rung, &board, &rule, 0)?;
        simulation.advance(generations)?;
        equal("the board's words", simulation.board()?.words(), expected.words())?;
        equal("the population", &[simulation.population()?], &[expected.population()])?;
    }
    Ok(())
}

/// The kernels of the rung `bitpacked` for boards whose rows are whole vectors.
const VECTORS: &[&str] = &["life_bitpacked_vectors", "life_population_words"];

/// The kernels of the rung whose boards have interleaved bits.
const INTERLEAVED: &[&str] =
    &["life_streaming", "life_interleave_rows", "life_deinterleave", "life_edges", "life_population_interleaved"];

/// The kernels of [`INTERLEAVED`], and the kernel that counts births and deaths.
const INTERLEAVED_COUNTED: &[&str] = &[
    "life_streaming",
    "life_interleave_rows",
    "life_deinterleave",
    "life_edges",
    "life_population_interleaved",
    "life_changes_interleaved",
];

/// The kernels of [`INTERLEAVED_COUNTED`], and the kernel for tori of whole vectors.
const WHOLE_MARGINS: &[&str] = &[
    "life_streaming",
    "life_streaming_torus",
    "life_interleave_rows",
    "life_deinterleave",
    "life_edges",
    "life_population_interleaved",
    "life_changes_interleaved",
];

/// Returns the kernels of `rung` for boards whose rows are not whole vectors.
fn kernels_of(rung: LifeRung) -> &'static [&'static str] {
    match rung {
        LifeRung::Global => &["life_global", "life_unpack", "life_pack", "life_population_cells"],
        LifeRung::Block => &["life_block", "life_unpack", "life_pack", "life_population_cells"],
        LifeRung::Shared => &["life_shared", "life_unpack", "life_pack", "life_population_cells"],
        LifeRung::Bitpacked => &["life_bitpacked", "life_population_words"],
        LifeRung::Temporal => &["life_temporal", "life_population_words"],
        LifeRung::Resident => &["life_resident", "life_population_words"],
        LifeRung::Streaming => INTERLEAVED_COUNTED,
    }
}

fn soup(width: usize, height: usize) -> Result<Board, CaseError> {
    Ok(Board::random(width, height, 0.4, 5)?)
}

fn check(stage: &Stage, rung: LifeRung, (width, height, generations): Run) -> Result<(), CaseError> {
    let board = soup(width, height)?;
    let expected = reference::advance(&board, generations);
    let mut simulation = Simulation::new(&stage.device, rung, &board)?;
    simulation.advance(generations)?;
    equal("the board's words", simulation.board()?.words(), expected.words())?;
    equal("the population", &[simulation.population()?], &[expected.population()])?;
    if rung == LifeRung::Streaming {
        let changes = expected.changes(&reference::advance(&expected, 1));
        equal("births and deaths", &[simulation.advance_counting()?], &[changes])?;
    }
    Ok(())
}

/// Returns a grid that is smaller than the board, so that each thread processes several cells or words. [`Simulation`]
/// launches such a grid only for very large boards.
fn small() -> LaunchConfig {
    LaunchConfig::new(2, 32)
}

fn bytes_wrap(stage: &Stage) -> Result<(), CaseError> {
    let (width, height) = (75, 40);
    let (device, board) = (&stage.device, soup(width, height)?);
    let words = device.upload(board.words())?;
    let (mut cells, mut next) = (device.alloc(width * height)?, device.alloc(width * height)?);
    device.launch(small(), life_unpack(words.view(), cells.view_mut(), width, height))?;
    let grid = LaunchConfig::new((2, 2), (8, 4));
    device.launch(grid, life_global(cells.view(), next.view_mut(), width, height))?;
    let (mut packed, mut total) = (device.alloc(words.len())?, device.zeroed(1)?);
    device.launch(small(), life_pack(next.view(), packed.view_mut(), width, height))?;
    device.launch(small(), life_population_cells(next.view(), total.view_mut()))?;
    let expected = reference::advance(&board, 1);
    equal("the board's words", &packed.download()?, expected.words())?;
    equal("the population", &total.download()?, &[expected.population()])
}

fn words_wrap(stage: &Stage) -> Result<(), CaseError> {
    let (width, height) = (290, 150);
    let (device, board) = (&stage.device, soup(width, height)?);
    let words = device.upload(board.words())?;
    let (mut next, mut total) = (device.alloc(words.len())?, device.zeroed(1)?);
    let grid = LaunchConfig::new((2, 2), (2, 2));
    device.launch(grid, life_bitpacked(words.view(), next.view_mut(), width, height))?;
    device.launch(small(), life_population_words(next.view(), total.view_mut()))?;
    let expected = reference::advance(&board, 1);
    equal("the board's words", &next.download()?, expected.words())?;
    equal("the population", &total.download()?, &[expected.population()])
}

/// Copies rows of one board to another. Some rows are above the border between two folds, some below it, and some on
/// both sides.
fn rows_as_they_lie(stage: &Stage) -> Result<(), CaseError> {
    let (device, width) = (&stage.device, 300);
    for (height, other_height, rows, first) in [(40, 44, 3..17, 20), (41, 40, 0..9, 31), (40, 40, 15..25, 3)] {
        let (board, other) = (Board::random(width, height, 0.5, 5)?, Board::random(width, other_height, 0.5, 6)?);
        let from = Simulation::soup(device, LifeRung::Streaming, (width, height), 0.5, 5, &Rule::LIFE)?;
        let mut to = Simulation::new(device, LifeRung::Streaming, &other)?;
        let layout = from.row_layout().filter(|&layout| to.row_layout() == Some(layout));
        let (words, _) = layout.ok_or_else(|| CaseError::Impossible("the layouts of the boards differ".to_owned()))?;
        let mut staging = device.alloc(words * rows.len())?;
        from.take(rows.clone(), &mut staging, 0, false)?;
        to.put(first..first + rows.len(), &mut staging, 0, false)?;
        let words_per_row = board.words_per_row();
        let mut expected = other.words().to_vec();
        expected[first * words_per_row..(first + rows.len()) * words_per_row]
            .copy_from_slice(&board.words()[rows.start * words_per_row..rows.end * words_per_row]);
        equal("the board's words", to.board()?.words(), &expected)?;
    }
    Ok(())
}

fn soups_hashes_and_changes(stage: &Stage) -> Result<(), CaseError> {
    let (width, height) = (290, 40);
    let (device, first) = (&stage.device, soup(width, height)?);
    let mut before = device.alloc(first.words().len())?;
    let half = 1 << 63;
    device.launch(small(), life_soup(before.view_mut(), width, height, 0, height, gpu::life::mix(5), half))?;
    let board = Board::random(width, height, 0.5, 5)?;
    equal("the soup's words", &before.download()?, board.words())?;
    let now = device.upload(first.words())?;
    let mut totals = device.zeroed(3)?;
    device.launch(small(), life_changes_words(before.view(), now.view(), totals.view_mut()))?;
    let (born, dead) = board.changes(&first);
    equal("births and deaths", &totals.download()?, &[born, dead, 0])?;
    totals.fill_zero()?;
    device.launch(small(), life_hash_words(now.view(), totals.view_mut(), 0))?;
    equal("the hash", &totals.download()?, &[first.hash(), 0, 0])
}

/// Compares hashes of rows of a board with hashes of the same cells in another memory, whose margins differ, and with
/// hashes of boards in which one cell differs.
fn hashes_of_rows(stage: &Stage, (width, height): (usize, usize)) -> Result<(), CaseError> {
    let board = soup(width, height)?;
    let mut life = Simulation::new(&stage.device, LifeRung::Streaming, &board)?;
    life.advance(7)?;
    let mut now = life.board()?;
    let mut again = Simulation::new(&stage.device, LifeRung::Streaming, &now)?;
    let middle = height / 3..height - height / 4;
    for rows in [0..height, middle.clone(), 0..1] {
        equal("the hash", &[again.fingerprint_of(rows.clone())?], &[life.fingerprint_of(rows)?])?;
    }
    let whole = life.fingerprint_of(0..height)?;
    for (x, y) in [(0, 0), (width - 1, height / 2), (width / 2, height - 1)] {
        now.set(x, y, !now.get(x, y));
        again.restart(&now)?;
        now.set(x, y, !now.get(x, y));
        let is_same = again.fingerprint_of(middle.clone())? == life.fingerprint_of(middle.clone())?;
        equal("the hash of other rows is the same", &[is_same], &[!middle.contains(&y)])?;
        equal("the hash of another board is the same", &[again.fingerprint_of(0..height)? == whole], &[false])?;
    }
    Ok(())
}

/// Runs two soups on a device: a glider that leaves the window of a block, and a block and a blinker.
pub(super) fn run_soups(device: &Device) -> Result<SoupResults, launch::Error> {
    const GLIDER: [[u8; 3]; 4] =
        [[0b010, 0b100, 0b111], [0b101, 0b110, 0b010], [0b100, 0b101, 0b110], [0b001, 0b110, 0b011]];
    let phase = |[a, b, c]: [u8; 3]| Spaceship { rows: [a, b, c, 0, 0, 0, 0, 0], velocity: (1, 1) };
    let mut soups = [[0; MAX_SOUP_SIDE]; 2];
    soups[0][MAX_SOUP_SIDE - 3..].copy_from_slice(&GLIDER[0].map(|row| u32::from(row) << (MAX_SOUP_SIDE - 3)));
    (soups[0][0], soups[0][1]) = (0b11, 0b11);
    (soups[1][4], soups[1][5], soups[1][20]) = (0b11, 0b11, 0b111);
    SoupCensus::new(device, 1 << 3, 1 << 2 | 1 << 3, &GLIDER.map(phase))?.run(&soups)
}

fn census(stage: &Stage) -> Result<(), CaseError> {
    let results = run_soups(&stage.device)?;
    equal("the unfinished soups", &results.unfinished, &[])?;
    let cells = |object: &CountedObject| object.rows.iter().map(|row| row.count_ones()).sum::<u32>();
    // The device's table may have two slots for the same object.
    let mut merged = BTreeMap::new();
    for object in &results.objects {
        let (count, first) = merged.entry(cells(object)).or_insert((0, u32::MAX));
        (*count, *first) = (*count + object.count, object.first.min(*first));
    }
    let objects: Vec<_> = merged.into_iter().map(|(cells, (count, first))| (cells, count, first)).collect();
    equal("each object's cells, number and first soup", &objects, &[(3, 1, 1), (4, 2, 0), (5, 1, 0)])
}

/// Runs a grid whose strips are distributed along z, as for boards of a million rows. The grid has more blocks than the
/// board has strips.
fn strips_along_z(stage: &Stage) -> Result<(), CaseError> {
    let (width, height) = (128, 3 * VECTOR_ROWS + 1);
    let board = soup(width, height)?;
    let words = stage.device.upload(board.words())?;
    let mut next = stage.device.alloc(words.len())?;
    let block = (gpu::life::VECTORS_PER_WARP as u32, gpu::life::VECTOR_WARPS);
    let call = life_bitpacked_vectors(words.view(), next.view_mut(), width, height);
    stage.device.launch(LaunchConfig::new((1, 2, 3), block), call)?;
    equal("the board's words", &next.download()?, reference::advance(&board, 1).words())
}

/// Runs one block that processes several tiles, with an odd number of barriers per tile.
fn tiles_wrap(stage: &Stage) -> Result<(), CaseError> {
    let (width, height, generations) = (65, 500, 3);
    let board = soup(width, height)?;
    let words = stage.device.upload(board.words())?;
    let mut next = stage.device.alloc(words.len())?;
    let call = life_temporal(words.view(), next.view_mut(), width, height, generations);
    stage.device.launch(LaunchConfig::new(1, gpu::life::TEMPORAL_THREADS), call)?;
    equal("the board's words", &next.download()?, reference::advance(&board, generations.into()).words())
}
