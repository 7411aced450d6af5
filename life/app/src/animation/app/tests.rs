//! Tests the frames and keys of the animation on a screen in memory.

use super::editing::line;
use super::*;
use crate::backend::Backend;
use crate::first_board::{BoardSource, PlacedPattern};
use crate::universe::Universe;
use ratatui::Terminal;
use ratatui::backend::TestBackend;

fn app(columns: u16, rows: u16) -> App {
    let mut board = Board::new(8, 4).unwrap();
    for x in 0..8 {
        board.set(x, 3, true);
    }
    let app = App::of(board, 1234, 8, "simulator · bitpacked".into(), Rect::new(0, 0, columns, rows));
    App { seed: Some(7), ..app }
}

fn screen(app: &mut App, columns: u16, rows: u16) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    terminal.draw(|frame| app.draw(frame)).unwrap();
    let buffer = terminal.backend().buffer();
    (0..rows).map(|row| (0..columns).map(|column| buffer[(column, row)].symbol()).collect()).collect()
}

#[test]
fn a_frame_is_the_board_the_status_and_the_keys() {
    let mut app = app(132, 4);
    assert!(app.dirty);
    let lines = screen(&mut app, 132, 4);
    assert!(!app.dirty);
    assert_eq!(lines[0].trim_matches('░'), "        ");
    assert_eq!(lines[1].trim_matches('░'), "▄▄▄▄▄▄▄▄");
    for part in ["gen 1,234 ", "pop 8 ", " cells/s", " gen/s (×1)", "simulator", "bitpacked", "8x4", "seed 7"] {
        assert!(lines[2].contains(part), "{part}: {}", lines[2]);
    }
    assert!(lines[3].contains("space pause") && lines[3].contains("q quit"), "{}", lines[3]);
}

#[test]
fn a_small_screen_keeps_a_row_for_the_board() {
    for (columns, rows) in [(1, 1), (3, 2), (20, 3)] {
        let mut app = app(columns, rows);
        let lines = screen(&mut app, columns, rows);
        assert!(!lines[0].contains("gen"), "{lines:?}");
    }
}

#[test]
fn a_paused_animation_moves_by_steps() {
    let mut app = app(80, 24);
    assert_eq!(app.generations_due(), 1);
    app.act(Action::Faster);
    assert_eq!(app.generations_due(), 2);
    app.act(Action::Pause);
    assert!(app.paused);
    assert_eq!(app.generations_due(), 0);
    app.act(Action::Step);
    app.act(Action::Step);
    assert_eq!(app.generations_due(), 2);
    assert_eq!(app.generations_due(), 0);
    assert!(screen(&mut app, 80, 24)[22].contains("paused"));
    app.act(Action::Pause);
    assert_eq!(app.generations_due(), 2);
    app.act(Action::Step);
    assert!(app.paused, "a step of a moving animation pauses it");
    assert_eq!(app.generations_due(), 1);
}

#[test]
fn keys_change_what_is_seen() {
    let mut app = app(80, 24);
    screen(&mut app, 80, 24);
    app.act(Action::ChangeMarks);
    assert!(app.dirty);
    let lines = screen(&mut app, 80, 24).concat();
    assert!(lines.contains("⣀⣀⣀⣀"), "{lines}");
    app.act(Action::Pan(0, 1));
    assert!(screen(&mut app, 80, 24).concat().contains("⠤⠤⠤⠤"));
    app.act(Action::Recentre);
    assert!(screen(&mut app, 80, 24).concat().contains("▄▄▄▄▄▄▄▄"));
}

fn draw(column: u16, row: u16, lower: bool, on: bool) -> Action {
    Action::Draw { column, row, lower, on }
}

#[test]
fn the_mouse_makes_cells_alive_and_dead() {
    let mut app = app(80, 24);
    screen(&mut app, 80, 24);
    // The board's 8 × 4 cells are in columns 36 to 43 and rows 10 and 11 of the screen. The board's last row is alive.
    app.act(draw(36, 10, false, false));
    app.act(draw(37, 10, true, true));
    assert!(app.paused && app.is_changed());
    assert!(app.shown.board.get(0, 0) && app.shown.board.get(1, 1));
    app.act(draw(36, 11, true, false));
    app.act(draw(37, 11, true, true));
    app.act(draw(38, 11, false, true));
    let alive: Vec<_> = app.shown.board.cells().filter(|&(_, y)| y > 1).collect();
    assert_eq!(alive, (2..8).map(|x| (x, 3)).collect::<Vec<_>>(), "a stroke from a live cell makes cells dead");
    let before = app.shown.board.clone();
    app.act(draw(0, 0, false, false));
    assert_eq!(app.shown.board, before, "a stroke outside the board changes nothing");
}

#[test]
fn a_stroke_that_jumps_leaves_no_gap() {
    let mut board = Board::new(400, 300).unwrap();
    board.set(0, 0, true);
    let mut app = App::of(board, 0, 1, String::new(), Rect::new(0, 0, 80, 24));
    // The window crosses both edges of the torus. Its first cell is (360, 278).
    app.act(Action::Pan(0, 0));
    app.view.centre = (0, 0);
    screen(&mut app, 80, 24);
    app.act(draw(30, 5, false, false));
    app.act(draw(50, 9, false, true));
    let mut cells: Vec<_> = (0..=20).map(|step| ((390 + step) % 400, (288 + (2 * 8 * step + 20) / 40) % 300)).collect();
    cells.push((0, 0));
    let mut drawn: Vec<_> = app.shown.board.cells().collect();
    cells.sort();
    drawn.sort();
    assert_eq!(drawn, cells);
    // A new stroke does not begin at the end of the last one.
    app.act(draw(10, 20, false, false));
    assert_eq!(app.shown.board.population(), 23);
    assert_eq!(line((3, 9), (3, 4)).collect::<Vec<_>>(), [9, 8, 7, 6, 5, 4].map(|y| (3, y)));
}

#[test]
fn a_pattern_is_pasted_into_the_middle_of_the_view() {
    let mut app = app(80, 24);
    screen(&mut app, 80, 24);
    app.paste("x = 3, y = 3, rule = B3/S23\r\nbo$2bo$3o!\r\n");
    assert!(app.paused && app.is_changed());
    let above: Vec<_> = app.shown.board.cells().filter(|&(_, y)| y < 3).collect();
    assert_eq!(above, [(4, 1), (5, 2)]);
    assert!(screen(&mut app, 80, 24)[23].contains("pasted 3x3 cells"));
    app.act(Action::Back);
    assert_eq!(app.shown.board.population(), 8);
    assert!(!screen(&mut app, 80, 24)[23].contains("pasted"));
    for (text, why) in [("9o!", "larger than the grid of 8x4"), ("bCo!", "4 states"), ("hello", "cannot paste: line 1")]
    {
        app.paste(text);
        let lines = screen(&mut app, 80, 24)[20..].concat();
        assert!(lines.contains(why), "{text}: {lines}");
    }
    app.act(Action::TypeRule);
    app.paste("B36/S23\n");
    app.type_in(KeyCode::Enter);
    assert_eq!(app.rule, "HighLife".parse().ok());
}

#[test]
fn a_narrow_screen_shows_the_whole_error_and_the_board() {
    let mut app = app(40, 24);
    app.act(Action::TypeRule);
    "B3/S2x".chars().for_each(|character| app.type_in(KeyCode::Char(character)));
    app.type_in(KeyCode::Enter);
    let lines = screen(&mut app, 40, 24);
    let shown = lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join(" ");
    let error = "B3/S2x".parse::<Rule>().unwrap_err().to_string();
    assert!(shown.contains(&error), "{error}: {lines:?}");
    app.type_in(KeyCode::Esc);
    app.act(Action::ShowMap);
    let lines = screen(&mut app, 40, 24);
    assert!(lines[0].ends_with('┐') && lines[0].chars().position(|mark| mark == '┌') == Some(27), "{lines:?}");
    assert!(lines[11].contains("▄▄▄▄▄▄▄▄"), "{lines:?}");
    assert_eq!(wrapped(" a bc defghi ", 4), [" a ", "bc ", "defg", "hi "]);
}

#[test]
fn a_screen_of_the_c_locale_is_ascii() {
    let mut app = app(80, 24);
    app.is_ascii = true;
    app.act(Action::ShowMap);
    app.act(draw(36, 10, false, false));
    let lines = screen(&mut app, 80, 24);
    assert!(lines.iter().all(|line| line.is_ascii()), "{lines:?}");
    assert!(lines[10].contains('\'') && lines[11].contains("........") && lines[22].contains("gen 1,234 * pop"));
}

#[test]
fn what_was_shown_comes_back_and_goes_on_from_there() {
    let universe = Universe { topology: life::Topology::TORUS, ..Universe::default() };
    let backend = Backend::Cpu(Universe { generation: 10, ..universe });
    let mut board = Board::new(16, 16).unwrap();
    (5..8).for_each(|x| board.set(x, 7, true));
    let mut run = TimedRun::begin(&backend, &BoardSource::Pattern(PlacedPattern::of(board.clone())), 10).unwrap();
    let mut app = App::new(&mut run, None, Rect::new(0, 0, 80, 24)).unwrap();
    for _ in 0..3 {
        run.advance(1, std::time::Duration::ZERO).unwrap();
        app.take_snapshot(&mut run).unwrap();
    }
    assert_eq!((app.shown.generation, app.shown.board == board), (13, false));
    for (generation, is_first) in [(12, true), (11, false), (10, true), (10, true)] {
        app.act(Action::Back);
        app.hand_over(&mut run).unwrap();
        app.take_snapshot(&mut run).unwrap();
        assert_eq!((app.shown.generation, run.generation()), (generation, generation));
        assert_eq!(app.shown.board == board, is_first, "{generation}");
    }
    assert!(app.paused);
    run.advance(1, std::time::Duration::ZERO).unwrap();
    app.take_snapshot(&mut run).unwrap();
    assert_eq!((app.shown.generation, app.population), (11, 3));
    // The run continues from the drawn board, a block next to the blinker.
    screen(&mut app, 80, 24);
    let drawn = app.population + 4;
    let (left, top) = (32, 7);
    for (column, row, lower) in [(left, top, false), (left + 1, top, false), (left, top, true), (left + 1, top, true)] {
        app.act(draw(column, row, lower, false));
    }
    app.hand_over(&mut run).unwrap();
    assert_eq!((run.life.population().unwrap(), run.generation()), (drawn, 11));
    app.act(Action::Back);
    app.hand_over(&mut run).unwrap();
    assert_eq!(run.life.population().unwrap(), drawn - 1, "a stroke is taken back");
}

#[test]
fn the_status_has_the_size_that_the_board_has_now() {
    let backend = Backend::Cpu(Universe::of("B3/S23".parse().unwrap()).0);
    let mut board = Board::new(160, 160).unwrap();
    [(80, 78), (81, 79), (79, 80), (80, 80), (81, 80)].iter().for_each(|&(x, y)| board.set(x, y, true));
    let mut run = TimedRun::begin(&backend, &BoardSource::Pattern(PlacedPattern::of(board)), 0).unwrap();
    let mut app = App::new(&mut run, None, Rect::new(0, 0, 200, 24)).unwrap();
    assert!(screen(&mut app, 200, 24)[22].contains(" 160x160"));
    run.advance(400, std::time::Duration::from_secs(60)).unwrap();
    app.take_snapshot(&mut run).unwrap();
    let (width, height) = run.life.size();
    assert!(width > 160 && screen(&mut app, 200, 24)[22].contains(&format!(" {width}x{height}")));
    app.act(Action::Back);
    assert!(screen(&mut app, 200, 24)[22].contains(" 160x160"));
}

/// Moves the view away from the first board of a run on the plane, and follows a glider that is far away.
#[test]
fn the_view_can_be_anywhere_on_the_plane() {
    let backend = Backend::Cpu(Universe::of("B3/S23".parse().unwrap()).0);
    let mut board = Board::new(160, 160).unwrap();
    [(80, 78), (81, 79), (79, 80), (80, 80), (81, 80)].iter().for_each(|&(x, y)| board.set(x, y, true));
    let mut run = TimedRun::begin(&backend, &BoardSource::Pattern(PlacedPattern::of(board)), 0).unwrap();
    let mut app = App::new(&mut run, None, Rect::new(0, 0, 80, 24)).unwrap();
    app.take_snapshot(&mut run).unwrap();
    let is_alive = |app: &mut App| screen(app, 80, 24)[..22].concat().contains(['▀', '▄', '█']);
    assert!(is_alive(&mut app));
    for _ in 0..40 {
        app.act(Action::Pan(-1, 1));
        app.take_snapshot(&mut run).unwrap();
    }
    assert!(!is_alive(&mut app));
    // A cell that is drawn here is alive on the plane, 400 columns to the left of the middle of the first board.
    app.act(Action::Draw { column: 40, row: 11, lower: false, on: false });
    app.hand_over(&mut run).unwrap();
    assert_eq!(run.life.population().unwrap(), 6);
    let (left, _) = run.life.added();
    assert_eq!(left, 400 - 80);
    // The copy of the plane moves between two cells of a stroke.
    let corner = app.shown.corner;
    app.act(Action::Pan(-1, 0));
    app.take_snapshot(&mut run).unwrap();
    assert_eq!(app.shown.corner, (corner.0 - 10, corner.1));
    app.act(Action::Draw { column: 53, row: 11, lower: false, on: true });
    app.hand_over(&mut run).unwrap();
    assert_eq!(run.life.population().unwrap(), 9);
    app.act(Action::Back);
    app.hand_over(&mut run).unwrap();
    assert_eq!(run.life.population().unwrap(), 5);
    run.advance(40_000, std::time::Duration::from_secs(60)).unwrap();
    app.act(Action::Follow);
    for _ in 0..2 {
        app.take_snapshot(&mut run).unwrap();
    }
    assert!(is_alive(&mut app));
    app.act(Action::Follow);
    app.act(Action::Recentre);
    app.take_snapshot(&mut run).unwrap();
    assert!(!is_alive(&mut app));
    app.act(Action::Back);
    app.hand_over(&mut run).unwrap();
    app.take_snapshot(&mut run).unwrap();
    assert!(is_alive(&mut app));
}

#[test]
fn the_live_cells_are_followed() {
    let mut board = Board::new(400, 400).unwrap();
    board.set(10, 395, true);
    let mut app = App::of(board, 0, 1, String::new(), Rect::new(0, 0, 80, 24));
    assert!(!screen(&mut app, 80, 24)[..22].concat().contains(['▀', '▄', '█']));
    app.act(Action::Follow);
    let lines = screen(&mut app, 80, 24);
    assert!(lines[11].chars().nth(40).is_some_and(|mark| mark != ' '), "{lines:?}");
}

#[test]
fn a_map_shows_the_whole_board() {
    let mut board = Board::new(400, 400).unwrap();
    (0..400).for_each(|x| board.set(x, 399, true));
    let mut app = App::of(board, 0, 400, String::new(), Rect::new(0, 0, 80, 24));
    let before = screen(&mut app, 80, 24);
    app.act(Action::ShowMap);
    let lines = screen(&mut app, 80, 24);
    assert!(lines[0].contains('┌') && lines[9].contains('└'), "{lines:?}");
    let map: String = lines[1..9].iter().flat_map(|line| line.chars().skip(55).take(24)).collect();
    assert!(map.contains('⠤') || map.contains('⣀') || map.contains('⠒') || map.contains('⠉'), "{map}");
    app.act(Action::ShowMap);
    assert_eq!(screen(&mut app, 80, 24), before);
    app.act(Action::ShowMap);
    for (columns, rows) in [(1, 1), (3, 3), (5, 4)] {
        screen(&mut app, columns, rows);
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]

    /// Pastes texts into the window: no text makes it panic, and an accepted one can be taken back.
    #[test]
    fn any_text_can_be_pasted(
        cells in "(x = [0-9]{1,20}, y = [0-9]{1,19}(, rule = [A-Za-z0-9/:,]{0,9})?\n)?([0-9]{0,20}[bo$!.A-Zpq\n]){0,40}!?",
        other in "\\PC{0,30}",
        in_prompt in proptest::bool::ANY,
    ) {
        let mut app = app(80, 24);
        for text in [&cells, &other, &format!("{cells}\n[[ {other} ]]"), &format!("[M2] (golly)\n#R B3/S23\n{cells}")] {
            let before = app.shown.board.clone();
            app.paste(text);
            let said = app.notice.take().unwrap_or_default();
            if said.contains("cannot paste") {
                proptest::prop_assert!(app.shown.board == before);
            } else {
                proptest::prop_assert!(said.contains("pasted"), "{}", said);
                app.act(Action::Back);
                proptest::prop_assert!(app.shown.board == before);
            }
            screen(&mut app, 80, 24);
        }
        if in_prompt {
            app.act(Action::TypeRule);
            app.paste(&other);
            screen(&mut app, 40, 8);
        }
    }
}
