//! The keys, and what they do.

use crossterm::event::{Event, KeyCode, KeyEventKind, KeyModifiers};

/// What somebody at the keyboard wants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// End the animation.
    Quit,
    /// Pause, or go on.
    Pause,
    /// Pause if need be, and do one generation.
    Step,
    /// Twice as fast.
    Faster,
    /// Half as fast.
    Slower,
    /// Change between half-blocks and braille.
    ChangeMarks,
    /// Show half as many cells across.
    ZoomIn,
    /// Show twice as many cells across.
    ZoomOut,
    /// Back to the view of the beginning.
    Recentre,
    /// Move the view right and down by so many steps.
    Pan(i32, i32),
    /// The terminal has another size.
    Redraw,
}

/// The keys in one line, for the status.
pub const HELP: &str = "q quit · space pause · s step · +/- speed · b dots · i/o zoom · arrows move · c centre";

impl Action {
    /// What an event asks for, if anything.
    pub fn of(event: &Event) -> Option<Self> {
        let key = match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => key,
            Event::Resize(..) => return Some(Self::Redraw),
            _ => return None,
        };
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            return matches!(key.code, KeyCode::Char('c' | 'd')).then_some(Self::Quit);
        }
        Some(match key.code {
            KeyCode::Char('q') | KeyCode::Esc => Self::Quit,
            KeyCode::Char(' ' | 'p') => Self::Pause,
            KeyCode::Char('s' | '.') => Self::Step,
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
    fn ctrl_c_quits_and_other_control_keys_do_not_act_as_letters() {
        assert_eq!(press(KeyCode::Char('c'), KeyModifiers::CONTROL), Some(Action::Quit));
        assert_eq!(press(KeyCode::Char('s'), KeyModifiers::CONTROL), None);
    }

    #[test]
    fn a_key_that_is_let_go_does_nothing() {
        let mut key = KeyEvent::new(KeyCode::Char('q'), KeyModifiers::NONE);
        key.kind = KeyEventKind::Release;
        assert_eq!(Action::of(&Event::Key(key)), None);
        assert_eq!(Action::of(&Event::Resize(80, 24)), Some(Action::Redraw));
    }
}
