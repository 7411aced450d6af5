//! The animation in the terminal: a frame every so often, and between frames as many generations as the speed asks for
//! or as the time allows.

use std::time::{Duration, Instant};

use anyhow::Context;
use crossterm::event;

use crate::run::Run;
use app::App;
use keys::{Action, Typed};
use program::signals::StopRequests;
use terminal::Screen;
use watchdog::Watchdog;

mod app;
mod follow;
mod history;
mod keys;
mod meter;
mod picture;
mod prompt;
mod speed;
mod terminal;
mod view;
mod watchdog;

pub use terminal::board_size;

/// The longest that the animation computes, or waits, without looking at the keyboard.
const ATTENTION: Duration = Duration::from_millis(50);

/// The speed, the end and the labels of an animation.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Frames per second, at least 1.
    pub frames_per_second: u16,
    /// Generations after which it ends by itself.
    pub generations: Option<u64>,
    /// The seed of the soup, to be shown.
    pub seed: Option<u64>,
}

/// Why an animation ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// All generations are done.
    Finished,
    /// Somebody pressed a key.
    Quit,
    /// A signal came.
    Stopped(i32),
}

/// Animates `run` on the terminal until all generations are done or somebody wants it to end. The terminal is as before
/// when this returns, be it with an error or a panic.
///
/// # Errors
/// When the terminal cannot be controlled, or the device fails.
pub fn animate(run: &mut Run, settings: Settings, stop: &StopRequests) -> anyhow::Result<Ended> {
    let ended = animate_on_screen(run, settings, stop);
    // A terminal that is closed fails and sends a signal: the signal is the reason to give.
    match stop.received() {
        Some(signal) if ended.is_err() => Ok(Ended::Stopped(signal)),
        _ => ended,
    }
}

fn animate_on_screen(run: &mut Run, settings: Settings, stop: &StopRequests) -> anyhow::Result<Ended> {
    let mut screen = Screen::enter().context("cannot draw on this terminal; --no-animation runs without")?;
    let _watchdog = Watchdog::start(stop).context("cannot start a thread")?;
    let frame_time = Duration::from_secs(1) / u32::from(settings.frames_per_second.max(1));
    let mut app = App::new(run, settings.seed, screen.area()?)?;
    loop {
        let frame_ends = Instant::now() + frame_time;
        app.hand_over(run)?;
        app.take_snapshot(run)?;
        if app.needs_drawing() {
            screen.draw(&mut app)?;
        }
        if settings.generations.is_some_and(|last| run.generation() >= last) {
            return Ok(Ended::Finished);
        }
        // However long the drawing took, half a frame's time goes to the generations.
        let compute_ends = frame_ends.max(Instant::now() + frame_time / 2);
        if let Some(ended) = compute(run, &mut app, settings, stop, compute_ends)? {
            return Ok(ended);
        }
        // The rest of the frame belongs to the keyboard.
        loop {
            let left = frame_ends.saturating_duration_since(Instant::now());
            if let Some(ended) = handle_event(&mut app, stop, left.min(ATTENTION))? {
                return Ok(ended);
            }
            if left.is_zero() {
                break;
            }
        }
    }
}

/// Advances by the generations that this frame is due, as far as it gets until `compute_ends`.
fn compute(
    run: &mut Run,
    app: &mut App,
    settings: Settings,
    stop: &StopRequests,
    compute_ends: Instant,
) -> anyhow::Result<Option<Ended>> {
    let mut due = app.generations_due();
    if let Some(last) = settings.generations {
        due = due.min(last.saturating_sub(run.generation()));
    }
    while due > 0 {
        let left = compute_ends.saturating_duration_since(Instant::now());
        due -= run.advance(due, left.min(ATTENTION))?;
        if compute_ends <= Instant::now() {
            break;
        }
        if let Some(ended) = handle_event(app, stop, Duration::ZERO)? {
            return Ok(Some(ended));
        }
        if app.is_paused() || app.is_changed() {
            break;
        }
    }
    Ok(None)
}

/// Waits at most `wait` for one key or signal and acts on it.
fn handle_event(app: &mut App, stop: &StopRequests, wait: Duration) -> anyhow::Result<Option<Ended>> {
    let came = event::poll(wait).context("cannot read the keyboard")?;
    if let Some(signal) = stop.received() {
        return Ok(Some(Ended::Stopped(signal)));
    }
    if came {
        let event = event::read().context("cannot read the keyboard")?;
        if let Some(typed) = Typed::of(&event).filter(|_| app.is_asking()) {
            app.type_in(typed);
            return Ok(None);
        }
        match Action::of(&event) {
            Some(Action::Quit) => return Ok(Some(Ended::Quit)),
            Some(action) => app.act(action),
            None => {}
        }
    }
    Ok(None)
}
