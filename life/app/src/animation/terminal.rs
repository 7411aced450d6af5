//! The terminal: taken over for the animation, and given back whatever happens.

use std::io::{self, IsTerminal};
use std::mem::ManuallyDrop;
use std::sync::Once;

use anyhow::Context;
use crossterm::event::{DisableMouseCapture, EnableMouseCapture};
use crossterm::{execute, terminal};
use ratatui::layout::Rect;
use ratatui::{DefaultTerminal, Terminal, backend::CrosstermBackend};

use super::app::{App, STATUS_ROWS};
use gridstride::Size;

/// The alternate screen in raw mode. Dropping it gives the terminal back as it was.
pub struct Screen {
    /// Never dropped: that would show the cursor, which is restored already, and panic where the terminal has gone.
    terminal: ManuallyDrop<DefaultTerminal>,
    _restore: Restore,
}

impl Screen {
    /// Takes the terminal over.
    ///
    /// # Errors
    /// When it is none, or cannot be controlled. Then it is as it was.
    pub fn enter() -> io::Result<Self> {
        restore_on_panic();
        terminal::enable_raw_mode()?;
        let restore = Restore;
        execute!(
            io::stdout(),
            terminal::EnterAlternateScreen,
            terminal::Clear(terminal::ClearType::All),
            EnableMouseCapture
        )?;
        let mut terminal = Terminal::new(CrosstermBackend::new(io::stdout()))?;
        terminal.hide_cursor()?;
        Ok(Self { terminal: ManuallyDrop::new(terminal), _restore: restore })
    }

    /// The whole screen.
    ///
    /// # Errors
    /// When the terminal does not tell its size.
    pub fn area(&self) -> anyhow::Result<Rect> {
        let size = self.terminal.size().context("cannot find out the terminal's size")?;
        Ok(Rect::from((ratatui::layout::Position::ORIGIN, size)))
    }

    /// Draws one frame, in the terminal's present size.
    ///
    /// # Errors
    /// When the terminal cannot be written to.
    pub fn draw(&mut self, app: &mut App) -> anyhow::Result<()> {
        self.terminal.draw(|frame| app.draw(frame)).context("cannot write to the terminal")?;
        Ok(())
    }
}

/// Gives the terminal back when dropped.
struct Restore;

impl Drop for Restore {
    fn drop(&mut self) {
        restore();
    }
}

/// Gives the terminal back if it is taken. Nobody is left to hear of a failure.
pub fn restore() {
    // After a panic this is called twice: leaving the alternate screen again would move the cursor.
    if terminal::is_raw_mode_enabled().unwrap_or(true) {
        let _ = execute!(io::stdout(), DisableMouseCapture);
        let _ = terminal::disable_raw_mode();
        let _ = execute!(io::stdout(), terminal::LeaveAlternateScreen, crossterm::cursor::Show);
    }
}

/// Has a panic give the terminal back before it writes its message, which the alternate screen would swallow.
fn restore_on_panic() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let inner = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            restore();
            inner(info);
        }));
    });
}

/// The board that fills this terminal in half-blocks, two cells per character, if standard output is a terminal.
pub fn board_size() -> Option<Size> {
    if !io::stdout().is_terminal() || std::env::var_os("TERM").is_some_and(|name| name == "dumb") {
        return None;
    }
    // A terminal that does not know its size says 0: then it is drawn for the usual one.
    let (columns, rows) = terminal::size().ok().filter(|&(columns, rows)| columns > 0 && rows > 0).unwrap_or((80, 24));
    let rows = usize::from(rows.saturating_sub(STATUS_ROWS)).max(1);
    Some(Size { width: usize::from(columns), height: 2 * rows })
}
