//! The state of the animation, and the changes that keys make to it.

use std::time::Instant;

use crossterm::event::KeyCode;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Stylize;
use ratatui::text::{Line, Text};
use ratatui::widgets::{Block, Clear};

use super::history::{History, ShownBoard};
use super::keys::{Action, help};
use super::picture::Picture;
use super::rule_prompt::{PromptState, RulePrompt};
use super::speed::Speed;
use super::speed_meter::SpeedMeter;
use super::view::View;
use crate::simulation::GrowingBoard;
use crate::timed_run::TimedRun;
use life::{Board, Rule};
use program::report::{Rate, grouped};
use units::ascii;

mod editing;
mod following;

/// The number of rows below the board, which show the status.
pub const STATUS_ROWS: u16 = 2;

/// The state of an animation: a copy of the board, the view of the board, and the speed.
pub struct App {
    shown: ShownBoard,
    population: u64,
    labels: String,
    view: View,
    /// The size of the area in which the board is drawn, in characters, as (columns, rows).
    area: (usize, usize),
    speed: Speed,
    meter: SpeedMeter,
    frame: u64,
    /// True while the board advances only when the user asks for a single step.
    pub paused: bool,
    steps: u64,
    /// True if the screen must be redrawn.
    pub dirty: bool,
    history: History,
    /// True if the view has moved to another part of the plane. The cells of that part must then be copied.
    is_moved: bool,
    /// True if the user has changed the board since the last [`hand_over`](Self::hand_over).
    is_changed: bool,
    follows: bool,
    shows_map: bool,
    /// The state that the current mouse stroke gives to cells: true for alive, false for dead.
    pen: bool,
    /// The last cell of the current mouse stroke, as (column, row) relative to the upper left cell of the first board.
    stroke: Option<(i64, i64)>,
    /// A message that the last line shows until the next action.
    notice: Option<String>,
    /// True if the screen must show only ASCII characters.
    is_ascii: bool,
    /// The prompt for a rule, or `None` while no prompt is open.
    pub prompt: Option<RulePrompt>,
    rule: Option<Rule>,
    seed: Option<u64>,
}

/// The maximum size of the map in characters, without its border.
const MAP: (u16, u16) = (24, 8);

impl App {
    /// Returns the state of an animation that shows `run` on a screen of `area`.
    ///
    /// # Errors
    /// If the device fails.
    pub fn new(run: &mut TimedRun, seed: Option<u64>, area: Rect) -> anyhow::Result<Self> {
        let shown = ShownBoard::of(run, None)?;
        let labels = labels(&run.life);
        let population = run.life.population()?;
        let is_moved = shown.whole.is_some();
        let app = Self::of(shown.board.clone(), shown.generation, population, labels, area);
        Ok(Self { seed, shown, is_moved, ..app })
    }

    fn of(board: Board, generation: u64, population: u64, labels: String, area: Rect) -> Self {
        let (board_area, _) = split(area);
        let area = (usize::from(board_area.width), usize::from(board_area.height));
        let size = (board.width(), board.height());
        Self {
            view: View::of(size, area),
            shown: ShownBoard { generation, board, corner: (0, 0), size, whole: None },
            population,
            labels,
            area,
            speed: Speed::default(),
            meter: SpeedMeter::default(),
            frame: 0,
            paused: false,
            steps: 0,
            dirty: true,
            history: History::default(),
            is_moved: false,
            is_changed: false,
            follows: false,
            shows_map: false,
            pen: true,
            stroke: None,
            notice: None,
            is_ascii: ascii::is_locale(),
            prompt: None,
            rule: None,
            seed: None,
        }
    }

    /// Applies the user's changes of the board and of the rule to `run`.
    ///
    /// # Errors
    /// If the device fails or has too little memory.
    pub fn hand_over(&mut self, run: &mut TimedRun) -> anyhow::Result<()> {
        if let Some(rule) = self.rule.take() {
            run.change_rule(rule)?;
            self.labels = labels(&run.life);
            self.is_changed = true;
        }
        if std::mem::take(&mut self.is_changed) {
            let ShownBoard { generation, board, corner, whole, .. } = &self.shown;
            run.put(board, *generation, *corner, whole.as_ref())?;
            self.population = run.life.population()?;
        }
        Ok(())
    }

    /// Returns true if the user has changed the board or the rule.
    pub fn is_changed(&self) -> bool {
        self.is_changed || self.rule.is_some()
    }

    /// Passes a key to the prompt for a rule. If the key completes a rule, stores that rule.
    pub fn type_in(&mut self, key: KeyCode) {
        self.dirty = true;
        if let Some(PromptState::Closed(rule)) = self.prompt.as_mut().map(|prompt| prompt.type_in(key)) {
            self.prompt = None;
            self.rule = rule;
        }
    }

    /// Returns the number of generations to run before the next frame. Also counts this frame.
    pub fn generations_due(&mut self) -> u64 {
        let frame = self.frame;
        self.frame += 1;
        if self.paused { std::mem::take(&mut self.steps) } else { self.speed.due(frame) }
    }

    /// Copies the board from the device, unless the screen already shows the present generation.
    ///
    /// # Errors
    /// If the device fails.
    pub fn take_snapshot(&mut self, run: &mut TimedRun) -> anyhow::Result<()> {
        let generation = run.generation();
        if !self.paused {
            self.meter.record(Instant::now(), generation);
        }
        let is_new = generation != self.shown.generation;
        if is_new || std::mem::take(&mut self.is_moved) {
            self.population = run.life.population()?;
            let now = ShownBoard::of(run, self.shown.whole.is_some().then(|| self.around_view()))?;
            let before = std::mem::replace(&mut self.shown, now);
            self.view.follow(before.corner, self.shown.corner, self.board_size());
            if is_new {
                self.history.push(before);
            }
            self.dirty = true;
            self.follow();
        }
        Ok(())
    }

    /// Returns the size of the board that is shown, as (columns, rows).
    fn board_size(&self) -> (usize, usize) {
        (self.shown.board.width(), self.shown.board.height())
    }

    /// Pauses the animation.
    fn pause(&mut self) {
        self.paused = true;
        self.meter = SpeedMeter::default();
    }

    /// Performs the action of a key or of the mouse.
    pub fn act(&mut self, action: Action) {
        let board = self.board_size();
        let is_plane = self.shown.whole.is_some();
        self.dirty = true;
        self.notice = None;
        match action {
            Action::Pause => {
                self.paused = !self.paused;
                self.meter = SpeedMeter::default();
            }
            Action::Step => {
                self.steps += 1;
                self.pause();
            }
            Action::Back => {
                self.pause();
                self.steps = 0;
                if let Some(before) = self.history.pop() {
                    let corner = self.shown.corner;
                    (self.shown, self.is_changed) = (before, true);
                    self.is_moved = self.shown.whole.is_some();
                    self.view.follow(corner, self.shown.corner, self.board_size());
                    self.follow();
                }
            }
            Action::Follow => {
                self.follows = !self.follows;
                self.follow();
            }
            Action::TypeRule => self.prompt = Some(RulePrompt::default()),
            Action::ShowMap => self.shows_map = !self.shows_map,
            Action::Draw { column, row, lower, on } => {
                self.pause();
                self.draw_at((column, row), lower, on);
            }
            Action::Faster => self.speed = self.speed.faster(),
            Action::Slower => self.speed = self.speed.slower(),
            Action::ChangeMarks => self.view.marks = self.view.marks.other(),
            Action::ZoomIn => self.view.zoom_in(),
            Action::ZoomOut if is_plane => self.zoom_out_on_plane(board),
            Action::ZoomOut => self.view.zoom_out(board, self.area),
            Action::Recentre => self.recentre(board),
            Action::Pan(x, y) if is_plane => self.view.pan_on_plane((x, y), board, self.area),
            Action::Pan(x, y) => self.view.pan((x, y), board, self.area),
            Action::Redraw | Action::Quit => {}
        }
        self.is_moved |= is_plane;
    }

    /// Draws the board and the status lines.
    pub fn draw(&mut self, frame: &mut Frame<'_>) {
        let (board_area, status_area) = split(frame.area());
        self.area = (usize::from(board_area.width), usize::from(board_area.height));
        let picture = Picture { board: &self.shown.board, view: self.view, population: self.population };
        frame.render_widget(picture, board_area);
        if self.shows_map {
            self.draw_map(frame, board_area);
        }
        let [status, keys] = Layout::vertical([Constraint::Length(1), Constraint::Length(1)]).areas(status_area);
        frame.render_widget(Line::from(self.status(usize::from(status.width))).reversed(), status);
        match self.prompt.as_ref().map(RulePrompt::line).or(self.notice.clone()) {
            Some(text) => draw_at_bottom(frame, &text),
            None => frame.render_widget(Line::from(help(usize::from(keys.width))).dim(), keys),
        }
        if self.is_ascii {
            for cell in &mut frame.buffer_mut().content {
                let mark = cell.symbol().chars().next().map_or(' ', ascii::mark);
                cell.set_char(mark);
            }
        }
        self.dirty = false;
    }

    /// Draws a map of the whole board in the upper right corner of the screen, if there is room. The map has a border,
    /// with which it covers at most a third of the board's columns and half of its rows.
    fn draw_map(&self, frame: &mut Frame<'_>, area: Rect) {
        let size = (MAP.0.min((area.width / 3).saturating_sub(2)), MAP.1.min((area.height / 2).saturating_sub(2)));
        if size.0 == 0 || size.1 == 0 {
            return;
        }
        let board = (self.shown.board.width(), self.shown.board.height());
        let view = View::whole(board, (usize::from(size.0), usize::from(size.1)));
        let outer = Rect::new(area.right() - size.0 - 2, area.y, size.0 + 2, size.1 + 2);
        let border = Block::bordered().dim();
        let inner = border.inner(outer);
        frame.render_widget(Clear, outer);
        frame.render_widget(border, outer);
        frame.render_widget(Picture { board: &self.shown.board, view, population: self.population }, inner);
    }

    /// Returns the text of the status line, at most `columns` characters long. An entry that does not fit is omitted
    /// completely, because a truncated seed would be misleading.
    fn status(&self, columns: usize) -> String {
        let (width, height) = self.shown.size;
        let cells = width as f64 * height as f64;
        let rate = self.meter.rate();
        let motion = if self.paused {
            "paused".into()
        } else {
            format!("{:.2e} cells/s · {} gen/s ({})", rate * cells, Rate(rate), self.speed)
        };
        let (generation, population) = (grouped(self.shown.generation), grouped(self.population));
        let mut status = format!(" gen {generation} · pop {population}");
        let size = format!("{width}x{height}");
        let seed = self.seed.map(|seed| format!("seed {seed}"));
        let last = std::iter::once(&size[..]).chain(seed.as_deref());
        for part in std::iter::once(&motion[..]).chain(self.labels.split(" · ")).chain(last) {
            if status.chars().count() + 3 + part.chars().count() > columns {
                break;
            }
            status.push_str(" · ");
            status.push_str(part);
        }
        status
    }
}

/// Returns the entries of the status line that name the rule, the device and the kernel.
fn labels(life: &GrowingBoard) -> String {
    let (device, kernel, rule) = (life.engine().device(), life.engine().kernel(), life.universe().rule);
    let rule = if rule == Rule::LIFE { String::new() } else { format!("{rule} · ") };
    format!("{rule}{device} · {kernel}")
}

/// Draws `text` over the last rows of the screen, as many as it needs.
fn draw_at_bottom(frame: &mut Frame<'_>, text: &str) {
    let screen = frame.area();
    let lines = wrapped(text, usize::from(screen.width));
    let rows = u16::try_from(lines.len()).unwrap_or(u16::MAX).min(screen.height);
    let area = Rect { y: screen.bottom() - rows, height: rows, ..screen };
    frame.render_widget(Clear, area);
    frame.render_widget(Text::from_iter(lines), area);
}

/// Divides `text` into lines of at most `columns` characters, at blanks where that is possible.
fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let (mut lines, mut line, mut length) = (Vec::new(), String::new(), 0);
    for word in text.split_inclusive(' ') {
        if length > 0 && length + word.trim_end().chars().count() > columns {
            lines.push(std::mem::take(&mut line));
            length = 0;
        }
        for character in word.chars() {
            if length == columns.max(1) {
                if character == ' ' {
                    continue;
                }
                lines.push(std::mem::take(&mut line));
                length = 0;
            }
            line.push(character);
            length += 1;
        }
    }
    lines.push(line);
    lines
}

/// Splits the screen into the area of the board and the area of the status lines. A small screen shows only the board.
fn split(screen: Rect) -> (Rect, Rect) {
    let [board, status] = Layout::vertical([Constraint::Min(1), Constraint::Max(STATUS_ROWS)]).areas(screen);
    (board, status)
}

#[cfg(test)]
mod tests;
