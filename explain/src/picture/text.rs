//! Draws a picture as text for a terminal.

use std::fmt::Write;

use super::{Cell, Group, Picture, Step, Threads, shown};

/// The number of groups of cells that a step shows at most.
const MAX_GROUPS: usize = 8;
/// The number of columns that a line of sectors may have.
const COLUMNS: usize = 92;

/// The characters of the 32 lanes.
const LANES: &[u8; 32] = b"0123456789abcdefghijklmnopqrstuv";

impl Picture {
    /// Returns the picture as text. With `is_coloured`, ANSI sequences colour the sectors and banks: green if they are
    /// used well, yellow or red if not, and inverse where the fault is.
    pub fn text(&self, is_coloured: bool) -> String {
        let mut text = String::new();
        if !self.steps.is_empty() {
            let _ = writeln!(
                text,
                "{}, step by step: each cell shows its lane (0 to 9, a to v), * for several, . for none",
                self.warp
            );
        }
        for (number, step) in (1..).zip(&self.steps) {
            add_step(&mut text, number, step, is_coloured);
        }
        if self.left_out > 0 {
            let _ = writeln!(text, "  and {} more", self.left_out);
        }
        if let Some(fault) = &self.fault {
            add_fault(&mut text, fault);
        }
        text
    }
}

fn add_step(text: &mut String, number: usize, step: &Step, is_coloured: bool) {
    let Step { place, what, cost, grade, count, groups, is_shared } = step;
    let times = if *count > 1 { format!(" ({count} steps like this)") } else { String::new() };
    let cost = if is_coloured { coloured(cost, grade, false) } else { cost.clone() };
    let _ = writeln!(text, "{number:>3}  {place}  {what}  {cost}{times}");
    let shown = shown(groups, MAX_GROUPS);
    let width = shown.iter().map(|group| group.label.len()).max().unwrap_or(0);
    if *is_shared {
        let _ = writeln!(text, "     {:width$}  bank 0                 bank 31", "");
    }
    let cells = shown.first().map_or(1, |group| group.cells.len());
    let per_line = if *is_shared { 1 } else { ((COLUMNS - 5) / (width + cells + 4)).max(1) };
    for line in shown.chunks(per_line) {
        let drawn: Vec<String> = line.iter().map(|group| drawn(group, width, is_coloured)).collect();
        let _ = writeln!(text, "     {}", drawn.join(" "));
    }
    if groups.len() > MAX_GROUPS {
        let unit = if *is_shared { "rows" } else { "sectors" };
        let _ = writeln!(text, "     and {} more {unit}", groups.len() - MAX_GROUPS);
    }
}

/// Returns the label and the cells of a group.
fn drawn(group: &Group, width: usize, is_coloured: bool) -> String {
    let mut cells = String::new();
    for cell in &group.cells {
        let character = character(cell);
        match is_coloured && (!cell.lanes.is_empty() || cell.is_at_fault) {
            true => cells += &coloured(&character.to_string(), cell.grade, cell.is_at_fault),
            false => cells.push(character),
        }
    }
    format!("{:>width$} [{cells}]", group.label)
}

/// Returns the character that shows the lanes of a cell.
fn character(cell: &Cell) -> char {
    match cell.lanes[..] {
        [] => '.',
        [lane] => LANES[lane as usize % LANES.len()].into(),
        _ => '*',
    }
}

/// Returns `text` with the ANSI sequences of a grade, inverse if `is_inverse` is true.
fn coloured(text: &str, grade: &str, is_inverse: bool) -> String {
    let colour = match grade {
        "good" => 32,
        "fair" => 33,
        _ => 31,
    };
    let inverse = if is_inverse { "7;" } else { "" };
    format!("\x1b[{inverse}{colour}m{text}\x1b[0m")
}

fn add_fault(text: &mut String, fault: &Threads) {
    let Threads { element, why, sides, .. } = fault;
    let width = |part: fn(&super::Side) -> &str| sides.iter().map(|side| part(side).len()).max().unwrap_or(0);
    let (thread, does, place) = (width(|side| &side.thread), width(|side| &side.does), width(|side| &side.place));
    let line = |side: &super::Side| format!("  {:thread$}  {:does$}  {:place$} ", side.thread, side.does, side.place);
    match &sides[..] {
        [one, other] => {
            let pad = line(one).chars().count();
            let _ = writeln!(text, "{}─┐\n{:pad$} ├─ {element}: {why}\n{}─┘", line(one), "", line(other));
        }
        sides => sides.iter().for_each(|side| {
            let _ = writeln!(text, "{}── {element}: {why}", line(side));
        }),
    }
}
