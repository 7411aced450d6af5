//! The animation in the terminal. Between two frames, the animation computes as many generations as the speed requires,
//! or fewer if there is too little time.

use std::ops::ControlFlow::{self, Break, Continue};
use std::time::{Duration, Instant};

use anyhow::Context;
use crossterm::event::{self, Event};

use crate::timed_run::TimedRun;
use app::App;
use keys::Action;
use program::signals::StopRequests;
use terminal::Screen;
use watchdog::Watchdog;

mod app;
mod history;
mod keys;
mod live_middle;
mod picture;
mod rule_prompt;
mod speed;
mod speed_meter;
mod terminal;
mod view;
mod watchdog;

pub use terminal::board_size;

/// The maximum time between two checks for keys and signals.
const ATTENTION: Duration = Duration::from_millis(50);

/// The options of an animation.
#[derive(Clone, Copy, Debug)]
pub struct AnimationOptions {
    /// The number of frames per second, at least 1.
    pub frames_per_second: u16,
    /// The generation at which the animation ends, or `None` if it runs until the user quits.
    pub generations: Option<u64>,
    /// The seed of the soup, which the status line shows.
    pub seed: Option<u64>,
}

/// Animates `run` on the terminal until the last generation, the key to quit or a signal. Returns the signal if one
/// ended the animation. The terminal is restored on return, and also after an error or a panic.
///
/// # Errors
/// If the terminal cannot be controlled, or the device fails.
pub fn animate(run: &mut TimedRun, options: AnimationOptions, stop: &StopRequests) -> anyhow::Result<Option<i32>> {
    let ended = animate_on_screen(run, options, stop);
    // A closed terminal causes both an error and a signal. The signal is reported, because it explains more.
    match stop.received() {
        Some(signal) if ended.is_err() => Ok(Some(signal)),
        _ => ended,
    }
}

fn animate_on_screen(
    run: &mut TimedRun,
    options: AnimationOptions,
    stop: &StopRequests,
) -> anyhow::Result<Option<i32>> {
    let mut screen = Screen::enter().context("cannot draw on this terminal: add --no-animation")?;
    let _watchdog = Watchdog::start(stop).context("cannot start a thread")?;
    let frame_time = Duration::from_secs(1) / u32::from(options.frames_per_second.max(1));
    let mut app = App::new(run, options.seed, screen.area()?)?;
    loop {
        let frame_ends = Instant::now() + frame_time;
        app.hand_over(run)?;
        app.take_snapshot(run)?;
        if app.dirty {
            screen.draw(&mut app)?;
        }
        if options.generations.is_some_and(|last| run.generation() >= last) {
            return Ok(None);
        }
        // Generations get at least half of a frame's time, even if drawing is slow.
        let compute_ends = frame_ends.max(Instant::now() + frame_time / 2);
        if let Break(signal) = compute(run, &mut app, options, stop, compute_ends)? {
            return Ok(signal);
        }
        // In the rest of the frame's time, the animation waits for keys.
        loop {
            let left = frame_ends.saturating_duration_since(Instant::now());
            if let Break(signal) = handle_event(&mut app, stop, left.min(ATTENTION))? {
                return Ok(signal);
            }
            if left.is_zero() {
                break;
            }
        }
    }
}

/// Advances `run` by the generations that are due in this frame, but stops at the time `compute_ends`.
fn compute(
    run: &mut TimedRun,
    app: &mut App,
    options: AnimationOptions,
    stop: &StopRequests,
    compute_ends: Instant,
) -> anyhow::Result<ControlFlow<Option<i32>>> {
    let mut due = app.generations_due();
    if let Some(last) = options.generations {
        due = due.min(last.saturating_sub(run.generation()));
    }
    while due > 0 {
        let left = compute_ends.saturating_duration_since(Instant::now());
        due -= run.advance(due, left.min(ATTENTION))?;
        if compute_ends <= Instant::now() {
            break;
        }
        let flow = handle_event(app, stop, Duration::ZERO)?;
        if flow.is_break() || app.paused || app.is_changed() {
            return Ok(flow);
        }
    }
    Ok(Continue(()))
}

/// Waits for a key or signal, at most for `wait`, and handles it. Breaks with the signal, or with `None` if the user
/// quits.
fn handle_event(app: &mut App, stop: &StopRequests, wait: Duration) -> anyhow::Result<ControlFlow<Option<i32>>> {
    let came = event::poll(wait).context("cannot read the keyboard")?;
    if let Some(signal) = stop.received() {
        return Ok(Break(Some(signal)));
    }
    if came {
        let event = event::read().context("cannot read the keyboard")?;
        if let Event::Paste(text) = &event {
            app.paste(text);
            return Ok(Continue(()));
        }
        if let Some(key) = keys::typed(&event).filter(|_| app.prompt.is_some()) {
            app.type_in(key);
            return Ok(Continue(()));
        }
        match Action::of(&event) {
            Some(Action::Quit) => return Ok(Break(None)),
            Some(action) => app.act(action),
            None => {}
        }
    }
    Ok(Continue(()))
}
