//! Tests pictures of boards on a screen in memory.

use super::*;
use ratatui::Terminal;
use ratatui::backend::TestBackend;

fn board(rows: &[&str]) -> Board {
    let mut board = Board::new(rows[0].len(), rows.len()).unwrap();
    for (y, row) in rows.iter().enumerate() {
        for (x, cell) in row.bytes().enumerate() {
            board.set(x, y, cell == b'O');
        }
    }
    board
}

/// Draws a board on a screen of `columns` and `rows`, and returns the lines of the screen.
fn draw(board: &Board, view: View, (columns, rows): (u16, u16)) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    terminal
        .draw(|frame| frame.render_widget(Picture { board, view, population: board.population() }, frame.area()))
        .unwrap();
    let buffer = terminal.backend().buffer();
    let line = |row| (0..columns).map(|column| buffer[(column, row)].symbol()).collect();
    (0..rows).map(line).collect()
}

#[test]
fn half_blocks_are_two_cells_high() {
    let board = board(&["O.OO", "..OO", ".O.."]);
    let view = View::of((4, 3), (4, 2));
    assert_eq!(draw(&board, view, (4, 2)), ["▀ ██", " ▀  "]);
}

#[test]
fn braille_is_two_cells_wide_and_four_high() {
    let board = board(&["O..O", "....", "....", ".O.O", "OOO."]);
    let mut view = View::of((4, 5), (4, 3));
    view.marks = Marks::Braille;
    assert_eq!(draw(&board, view, (2, 2)), ["⢁⢈", "⠉⠁"]);
}

#[test]
fn every_braille_dot_is_where_its_cell_is() {
    // Each entry is the position of one dot and the character for it in the Unicode standard.
    for (x, y, symbol) in
        [(0, 0, '⠁'), (0, 1, '⠂'), (0, 2, '⠄'), (1, 0, '⠈'), (1, 1, '⠐'), (1, 2, '⠠'), (0, 3, '⡀'), (1, 3, '⢀')]
    {
        let mut board = Board::new(2, 4).unwrap();
        board.set(x, y, true);
        let mut view = View::of((2, 4), (1, 1));
        view.marks = Marks::Braille;
        assert_eq!(draw(&board, view, (1, 1)), [symbol.to_string()], "({x}, {y})");
    }
}

#[test]
fn a_small_board_stands_in_the_middle() {
    let board = board(&["OO", "OO"]);
    assert_eq!(draw(&board, View::of((2, 2), (6, 3)), (6, 3)), ["░░░░░░", "░░██░░", "░░░░░░"]);
}

#[test]
fn a_large_board_is_seen_through_a_window_that_goes_around_it() {
    // The only live cell is in the upper left corner. A move by half the board's size brings it to the middle of the
    // screen.
    let mut board = Board::new(64, 64).unwrap();
    board.set(0, 0, true);
    let (size, screen) = ((64, 64), (16, 8));
    let mut view = View::of(size, screen);
    assert_eq!(view.marks, Marks::HalfBlocks);
    assert!(draw(&board, view, (16, 8)).iter().all(|line| line.trim().is_empty()));
    view.pan((16, 16), size, screen);
    let lines = draw(&board, view, (16, 8));
    assert_eq!(lines[4], "        ▀       ");
}

#[test]
fn zoomed_out_a_dot_is_as_bright_as_its_cells_are_dense() {
    let mut board = Board::new(64, 64).unwrap();
    for y in 0..8 {
        for x in 0..64 {
            board.set(x, y, true);
        }
    }
    board.set(0, 8, true);
    let (size, screen) = ((64, 64), (8, 4));
    let mut view = View::of(size, screen);
    view.zoom_out(size, screen);
    view.zoom_out(size, screen);
    view.zoom_out(size, screen);
    let mut buffer = Buffer::empty(Rect::new(0, 0, 8, 4));
    Picture { board: &board, view, population: board.population() }.render(buffer.area, &mut buffer);
    let colours = |column| (buffer[(column, 0)].fg, buffer[(column, 0)].bg);
    assert_eq!(colours(0), (Color::Indexed(255), Color::Indexed(237)), "a dot with one live cell is still seen");
    assert_eq!(colours(1), (Color::Indexed(255), Color::Indexed(232)));
    view.marks = Marks::Braille;
    assert_eq!(draw(&board, view, (8, 4))[1], "░░⠉⠉⠉⠉░░");
}

#[test]
fn bits_are_counted_across_words() {
    let row = [0xffff_ffff, 0x0000_0001, 0x8000_0000];
    for x in 0..96 {
        for length in 0..=96 - x {
            let expected = (x..x + length).filter(|bit| row[bit / 32] >> (bit % 32) & 1 == 1).count() as u64;
            assert_eq!(count(&row, x, length), expected, "{length} from {x}");
        }
    }
}

#[test]
fn nothing_is_drawn_without_room() {
    let board = board(&["OO", "OO"]);
    let mut buffer = Buffer::empty(Rect::new(0, 0, 5, 0));
    Picture { board: &board, view: View::of((2, 2), (5, 0)), population: 4 }.render(buffer.area, &mut buffer);
}
