//! Frames and keys, on a screen in memory.

use super::*;
use ratatui::Terminal;
use ratatui::backend::TestBackend;

fn app(columns: u16, rows: u16) -> App {
    let mut board = Board::new(8, 4).unwrap();
    for x in 0..8 {
        board.set(x, 3, true);
    }
    App::of(board, 1234, 8, "simulator · bitpacked · 8x4 · seed 7".into(), Rect::new(0, 0, columns, rows))
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
    assert!(app.needs_drawing());
    let lines = screen(&mut app, 132, 4);
    assert!(!app.needs_drawing());
    assert_eq!(lines[0].trim_matches('░'), "        ");
    assert_eq!(lines[1].trim_matches('░'), "▄▄▄▄▄▄▄▄");
    for part in ["gen 1,234 ", "pop 8 ", " cells/s", " gen/s (×1)", "simulator", "bitpacked", "seed 7"] {
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
    assert!(app.is_paused());
    assert_eq!(app.generations_due(), 0);
    app.act(Action::Step);
    app.act(Action::Step);
    assert_eq!(app.generations_due(), 2);
    assert_eq!(app.generations_due(), 0);
    assert!(screen(&mut app, 80, 24)[22].contains("paused"));
    app.act(Action::Pause);
    assert_eq!(app.generations_due(), 2);
    app.act(Action::Step);
    assert!(app.is_paused(), "a step of a moving animation pauses it");
    assert_eq!(app.generations_due(), 1);
}

#[test]
fn keys_change_what_is_seen() {
    let mut app = app(80, 24);
    screen(&mut app, 80, 24);
    app.act(Action::ChangeMarks);
    assert!(app.needs_drawing());
    let lines = screen(&mut app, 80, 24).concat();
    assert!(lines.contains("⣀⣀⣀⣀"), "{lines}");
    app.act(Action::Pan(0, 1));
    assert!(screen(&mut app, 80, 24).concat().contains("⠤⠤⠤⠤"));
    app.act(Action::Recentre);
    assert!(screen(&mut app, 80, 24).concat().contains("▄▄▄▄▄▄▄▄"));
}
