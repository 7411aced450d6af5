//! The keys of the animation and their actions.

use crossterm::event::{Event, KeyCode, KeyEventKind, KeyModifiers, MouseButton, MouseEventKind};

/// An action that a key or the mouse triggers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// End the animation.
    Quit,
    /// Pause or continue.
    Pause,
    /// Pause and compute one generation.
    Step,
    /// Double the speed.
    Faster,
    /// Halve the speed.
    Slower,
    /// Switch between half-blocks and braille.
    ChangeMarks,
    /// Show half as many cells across.
    ZoomIn,
    /// Show twice as many cells across.
    ZoomOut,
    /// Return to the initial view.
    Recentre,
    /// Move the view to the right and down by these numbers of steps. Negative numbers move it to the left and up.
    Pan(i32, i32),
    /// Pause and return to the previously shown board.
    Back,
    /// Let the view follow the live cells, or stop following them.
    Follow,
    /// Show or hide a map of the board in a corner.
    ShowMap,
    /// Pause and draw at the character in this column and row of the screen.
    Draw {
        /// The column of the screen.
        column: u16,
        /// The row of the screen.
        row: u16,
        /// False for the upper cell of the character, true for the cell below it.
        lower: bool,
        /// True if the cell continues a stroke. The cell then gets the same state as the stroke's first cell.
        on: bool,
    },
    /// Open the prompt for a rule.
    TypeRule,
    /// Redraw, because the terminal's size changed.
    Redraw,
}

/// The line that explains the keys, in three lengths. The last version fits 80 columns.
const HELP: [&str; 3] = [
    "q quit · space pause · s step · z back · r rule · +/- speed · b dots · i/o zoom · arrows move · c centre · \
     f follow · m map · mouse draws",
    "q quit·space pause·s step·z back·r rule·+- speed·b dots·io zoom·←→↑↓·c centre·f follow·m map·mouse",
    "q quit·space pause·s step·z back·r rule·+-·b·io·←→↑↓·c·f follow·m map·mouse",
];

/// Returns the longest line of `HELP` that fits `columns` characters, or the shortest line if none fits.
pub fn help(columns: usize) -> &'static str {
    HELP.into_iter().find(|line| line.chars().count() <= columns).unwrap_or(HELP[2])
}

/// Returns the key that an event types into the prompt for a rule: a character, Backspace, Enter or Escape. Returns
/// `None` for other events, which [`Action::of`] handles.
pub fn typed(event: &Event) -> Option<KeyCode> {
    let Event::Key(key) = event else { return None };
    let is_typed = matches!(key.code, KeyCode::Char(_) | KeyCode::Backspace | KeyCode::Enter | KeyCode::Esc);
    let is_pressed = key.kind != KeyEventKind::Release && !key.modifiers.contains(KeyModifiers::CONTROL);
    (is_typed && is_pressed).then_some(key.code)
}

impl Action {
    /// Returns the action that an event triggers, or `None` if the event triggers no action.
    pub fn of(event: &Event) -> Option<Self> {
        let key = match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => key,
            Event::Resize(..) => return Some(Self::Redraw),
            Event::Mouse(mouse) => {
                let (lower, on) = match mouse.kind {
                    MouseEventKind::Down(MouseButton::Left) => (false, false),
                    MouseEventKind::Down(MouseButton::Right) => (true, false),
                    MouseEventKind::Drag(MouseButton::Left) => (false, true),
                    MouseEventKind::Drag(MouseButton::Right) => (true, true),
                    _ => return None,
                };
                return Some(Self::Draw { column: mouse.column, row: mouse.row, lower, on });
            }
            _ => return None,
        };
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            return matches!(key.code, KeyCode::Char('c' | 'd')).then_some(Self::Quit);
        }
        Some(match key.code {
            KeyCode::Char('q') | KeyCode::Esc => Self::Quit,
            KeyCode::Char(' ' | 'p') => Self::Pause,
            KeyCode::Char('s' | '.') => Self::Step,
            KeyCode::Char('z' | ',') | KeyCode::Backspace => Self::Back,
            KeyCode::Char('r') => Self::TypeRule,
            KeyCode::Char('f') => Self::Follow,
            KeyCode::Char('m') => Self::ShowMap,
            KeyCode::Char('+' | '=') => Self::Faster,
            KeyCode::Char('-' | '_') => Self::Slower,
            KeyCode::Char('b') => Self::ChangeMarks,
            KeyCode::Char('i') => Self::ZoomIn,
            KeyCode::Char('o') => Self::ZoomOut,
            KeyCode::Char('c') | KeyCode::Home => Self::Recentre,
            KeyCode::Left | KeyCode::Char('h') => Self::Pan(-1, 0),
            KeyCode::Right | KeyCode::Char('l') => Self::Pan(1, 0),
            KeyCode::Up | KeyCode::Char('k') => Self::Pan(0, -1),
            KeyCode::Down | KeyCode::Char('j') => Self::Pan(0, 1),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossterm::event::KeyEvent;

    fn press(code: KeyCode, modifiers: KeyModifiers) -> Option<Action> {
        Action::of(&Event::Key(KeyEvent::new(code, modifiers)))
    }

    #[test]
    fn the_keys_that_the_help_names_work() {
        for (code, action) in [
            (KeyCode::Char(' '), Action::Pause),
            (KeyCode::Char('s'), Action::Step),
            (KeyCode::Char('.'), Action::Step),
            (KeyCode::Char('z'), Action::Back),
            (KeyCode::Char('r'), Action::TypeRule),
            (KeyCode::Char('f'), Action::Follow),
            (KeyCode::Char('m'), Action::ShowMap),
            (KeyCode::Char('+'), Action::Faster),
            (KeyCode::Char('-'), Action::Slower),
            (KeyCode::Char('b'), Action::ChangeMarks),
            (KeyCode::Char('i'), Action::ZoomIn),
            (KeyCode::Char('o'), Action::ZoomOut),
            (KeyCode::Up, Action::Pan(0, -1)),
            (KeyCode::Char('c'), Action::Recentre),
            (KeyCode::Char('q'), Action::Quit),
            (KeyCode::Esc, Action::Quit),
        ] {
            assert_eq!(press(code, KeyModifiers::NONE), Some(action));
        }
        assert_eq!(press(KeyCode::Char('+'), KeyModifiers::SHIFT), Some(Action::Faster));
        assert_eq!(press(KeyCode::Char('x'), KeyModifiers::NONE), None);
    }

    #[test]
    fn a_line_of_keys_fits_its_columns() {
        assert!(help(80).chars().count() <= 80 && help(80).contains("m map·mouse"));
        for columns in [100, 132, 300] {
            let line = help(columns);
            assert!(line.chars().count() <= columns, "{line}");
            for key in ["q quit", "space", "s step", "z back", "r rule", "b dots", "f follow", "m map", "mouse"] {
                assert!(line.contains(key), "{key}: {line}");
            }
        }
    }

    #[test]
    fn ctrl_c_quits_and_other_control_keys_do_not_act_as_letters() {
        assert_eq!(press(KeyCode::Char('c'), KeyModifiers::CONTROL), Some(Action::Quit));
        assert_eq!(press(KeyCode::Char('s'), KeyModifiers::CONTROL), None);
    }

    #[test]
    fn letters_are_no_actions_while_a_rule_is_typed() {
        let press = |code, modifiers| typed(&Event::Key(KeyEvent::new(code, modifiers)));
        assert_eq!(press(KeyCode::Char('q'), KeyModifiers::NONE), Some(KeyCode::Char('q')));
        assert_eq!(press(KeyCode::Char('B'), KeyModifiers::SHIFT), Some(KeyCode::Char('B')));
        assert_eq!(press(KeyCode::Backspace, KeyModifiers::NONE), Some(KeyCode::Backspace));
        assert_eq!(press(KeyCode::Esc, KeyModifiers::NONE), Some(KeyCode::Esc));
        assert_eq!(press(KeyCode::Char('c'), KeyModifiers::CONTROL), None);
        assert_eq!(typed(&Event::Resize(80, 24)), None);
    }

    #[test]
    fn the_mouse_draws_while_a_button_is_down() {
        let event = |kind| {
            let mouse = crossterm::event::MouseEvent { kind, column: 7, row: 3, modifiers: KeyModifiers::NONE };
            Action::of(&Event::Mouse(mouse))
        };
        let draw = |lower, on| Some(Action::Draw { column: 7, row: 3, lower, on });
        assert_eq!(event(MouseEventKind::Down(MouseButton::Left)), draw(false, false));
        assert_eq!(event(MouseEventKind::Drag(MouseButton::Right)), draw(true, true));
        assert_eq!(event(MouseEventKind::Moved), None);
        assert_eq!(event(MouseEventKind::Up(MouseButton::Left)), None);
    }

    #[test]
    fn a_key_that_is_let_go_does_nothing() {
        let mut key = KeyEvent::new(KeyCode::Char('q'), KeyModifiers::NONE);
        key.kind = KeyEventKind::Release;
        assert_eq!(Action::of(&Event::Key(key)), None);
        assert_eq!(Action::of(&Event::Resize(80, 24)), Some(Action::Redraw));
    }
}
