//! Controls the terminal during the animation, and restores it even after an error or a panic.

use std::io::{self, IsTerminal};
use std::mem::ManuallyDrop;
use std::sync::Once;

use anyhow::Context;
use crossterm::event::{DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture};
use crossterm::{execute, terminal};
use ratatui::layout::Rect;
use ratatui::{DefaultTerminal, Terminal, backend::CrosstermBackend};

use super::app::{App, STATUS_ROWS};
use gridstride::Size;

/// The alternate screen in raw mode. Dropping it restores the terminal.
pub struct Screen {
    /// The terminal. Its `drop` is never called, because that would show the cursor again, and would panic if the
    /// terminal is gone.
    terminal: ManuallyDrop<DefaultTerminal>,
}

impl Screen {
    /// Prepares the terminal for the animation: enables raw mode and enters the alternate screen.
    ///
    /// # Errors
    /// If standard output is not a terminal or cannot be controlled. The terminal is then unchanged.
    pub fn enter() -> io::Result<Self> {
        restore_on_panic();
        terminal::enable_raw_mode()?;
        let terminal = Terminal::new(CrosstermBackend::new(io::stdout())).inspect_err(|_| restore())?;
        // From here on, dropping `screen` restores the terminal.
        let mut screen = Self { terminal: ManuallyDrop::new(terminal) };
        let clear = terminal::Clear(terminal::ClearType::All);
        execute!(io::stdout(), terminal::EnterAlternateScreen, clear, EnableMouseCapture, EnableBracketedPaste)?;
        screen.terminal.hide_cursor()?;
        Ok(screen)
    }

    /// Returns the area of the whole screen.
    ///
    /// # Errors
    /// If the terminal does not report its size.
    pub fn area(&self) -> anyhow::Result<Rect> {
        let size = self.terminal.size().context("cannot read the terminal's size")?;
        Ok(Rect::from((ratatui::layout::Position::ORIGIN, size)))
    }

    /// Draws one frame in the terminal's current size.
    ///
    /// # Errors
    /// If the terminal cannot be written to.
    pub fn draw(&mut self, app: &mut App) -> anyhow::Result<()> {
        self.terminal.draw(|frame| app.draw(frame)).context("cannot write to the terminal")?;
        Ok(())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

/// Restores the terminal if it is in raw mode. Errors are ignored, because they cannot be shown anywhere.
pub fn restore() {
    // After a panic this function runs twice. Leaving the alternate screen again would move the cursor.
    if terminal::is_raw_mode_enabled().unwrap_or(true) {
        let _ = execute!(io::stdout(), DisableBracketedPaste, DisableMouseCapture);
        let _ = terminal::disable_raw_mode();
        let _ = execute!(io::stdout(), terminal::LeaveAlternateScreen, crossterm::cursor::Show);
    }
}

/// Installs a panic hook that restores the terminal before the message is printed. The alternate screen would hide the
/// message.
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

/// Returns the size of a board that fills the terminal if each character shows two cells as half-blocks. Returns `None`
/// if standard output is not a terminal.
pub fn board_size() -> Option<Size> {
    if !io::stdout().is_terminal() || std::env::var_os("TERM").is_some_and(|name| name == "dumb") {
        return None;
    }
    // A terminal that does not know its size reports 0. The usual size of 80 × 24 is used instead.
    let (columns, rows) = terminal::size().ok().filter(|&(columns, rows)| columns > 0 && rows > 0).unwrap_or((80, 24));
    let rows = usize::from(rows.saturating_sub(STATUS_ROWS)).max(1);
    Some(Size { width: usize::from(columns), height: 2 * rows })
}
