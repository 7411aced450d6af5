//! Draws a picture as SVG.

use std::fmt::Write;

use super::{Cell, Group, Picture, Step, Threads, shown};
use crate::html::escaped;

/// The width and height of a cell.
const CELL: usize = 20;
/// The distance between lines of text.
const LINE: usize = 22;
/// The width of the picture.
const WIDTH: usize = 960;
/// The width of the labels.
const LABEL: usize = 90;
/// The number of characters for which the width of the labels has room.
const LABEL_CHARACTERS: usize = 10;
/// The number of groups of cells that a step shows at most.
const MAX_GROUPS: usize = 16;

const STYLE: &str = "\
text{font:13px ui-monospace,Menlo,Consolas,monospace;fill:#1d2126}\
.q{fill:#5c6570}.l{text-anchor:end}.c{text-anchor:middle}rect,.g{stroke:#9aa4af;fill:none}\
.good{fill:#bfe5cf}.fair{fill:#f6dfae}.bad{fill:#f3bfba}.at{stroke:#b3261e;stroke-width:3}\
.ground{fill:#fbfbf9;stroke:none}\
@media(prefers-color-scheme:dark){text{fill:#e4e7ea}.q{fill:#9aa4af}.ground{fill:#14171a}.good{fill:#1d5a3a}\
.fair{fill:#6b4e12}.bad{fill:#6f2722}.at{stroke:#f0837b}}";

impl Picture {
    /// Returns the picture as an SVG document with the title `title`, for light and dark screens.
    pub fn svg(&self, title: &str) -> String {
        let mut drawing = Drawing { body: String::new(), y: LINE };
        drawing.text(10, "", title);
        drawing.y += LINE;
        if !self.steps.is_empty() {
            let heading = format!("{}, step by step: each cell shows the lanes that access it", self.warp);
            drawing.text(10, "q", &heading);
            drawing.y += LINE;
        }
        for (number, step) in (1..).zip(&self.steps) {
            drawing.step(number, step);
        }
        if self.left_out > 0 {
            drawing.text(10, "q", &format!("and {} more", self.left_out));
            drawing.y += LINE;
        }
        if let Some(fault) = &self.fault {
            drawing.fault(fault);
        }
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
             viewBox=\"0 0 {WIDTH} {height}\">\n<title>{title}</title>\n<style>{STYLE}</style>\n\
             <rect class=\"ground\" width=\"{WIDTH}\" height=\"{height}\"/>\n{}</svg>\n",
            drawing.body,
            height = drawing.y,
            title = escaped(title)
        )
    }
}

/// The elements drawn so far, and the height at which the next line stands.
struct Drawing {
    body: String,
    y: usize,
}

impl Drawing {
    fn text(&mut self, x: usize, class: &str, text: &str) {
        let _ = writeln!(self.body, "<text x=\"{x}\" y=\"{}\" class=\"{class}\">{}</text>", self.y, escaped(text));
    }

    fn step(&mut self, number: usize, step: &Step) {
        let Step { place, what, cost, count, groups, is_shared, .. } = step;
        let times = if *count > 1 { format!(" ({count} steps like this)") } else { String::new() };
        self.text(10, "", &format!("{number}. {place}: {what} {cost}{times}"));
        self.y += LINE / 2;
        let cells = groups.first().map_or(1, |group| group.cells.len());
        let per_line = if *is_shared { 1 } else { (WIDTH / (LABEL + cells * CELL)).max(1) };
        for line in shown(groups, MAX_GROUPS).chunks(per_line) {
            for (index, group) in line.iter().enumerate() {
                self.group(index * (LABEL + cells * CELL), group);
            }
            self.y += CELL + 4;
        }
        if groups.len() > MAX_GROUPS {
            self.y += LINE / 2;
            let unit = if *is_shared { "rows" } else { "sectors" };
            self.text(LABEL, "q", &format!("and {} more {unit}", groups.len() - MAX_GROUPS));
        }
        self.y += LINE;
    }

    fn group(&mut self, x: usize, group: &Group) {
        let (left, y) = (x + LABEL, self.y);
        let _ = writeln!(
            self.body,
            "<text x=\"{}\" y=\"{}\" class=\"q l\">{}</text>",
            left - 6,
            y + 15,
            escaped(short(&group.label))
        );
        // One path draws the borders of all cells.
        let (width, lines) = (group.cells.len() * CELL, format!("m{CELL} -{CELL}v{CELL}"));
        let _ = writeln!(
            self.body,
            "<path class=\"g\" d=\"M{left} {y}h{width}v{CELL}h-{width}zv{CELL}{}\"/>",
            lines.repeat(group.cells.len().saturating_sub(1))
        );
        let is_drawn = |cell: &Cell| !cell.lanes.is_empty() || cell.is_at_fault;
        for (index, cell) in group.cells.iter().enumerate().filter(|(_, cell)| is_drawn(cell)) {
            let x = left + index * CELL;
            let grade = if cell.lanes.is_empty() { "" } else { cell.grade };
            let at = if cell.is_at_fault { " at" } else { "" };
            let _ = write!(
                self.body,
                "<rect x=\"{x}\" y=\"{y}\" width=\"{CELL}\" height=\"{CELL}\" class=\"{grade}{at}\"/>"
            );
            if !cell.lanes.is_empty() {
                let (x, y) = (x + CELL / 2, y + 15);
                let _ = write!(self.body, "<text x=\"{x}\" y=\"{y}\" class=\"c\">{}</text>", lanes(cell));
            }
        }
        self.body.push('\n');
    }

    fn fault(&mut self, fault: &Threads) {
        let Threads { element, why, sides, .. } = fault;
        let first = self.y;
        for side in sides {
            self.text(10, "", &format!("{} {} {}", side.thread, side.does, side.place));
            self.y += 2 * LINE;
        }
        let (middle, right) = (first + LINE * sides.len().saturating_sub(1), 560);
        for index in 0..sides.len() {
            let from = first + 2 * LINE * index;
            let _ = writeln!(
                self.body,
                "<path d=\"M480 {from} L{right} {middle}\" stroke=\"#b3261e\" stroke-width=\"2\" fill=\"none\"/>"
            );
        }
        let y = std::mem::replace(&mut self.y, middle + 5);
        self.text(right + 8, "", &format!("{element}: {why}"));
        self.y = y;
    }
}

/// Returns the label of a group, or only its index if the name of the array has no room.
fn short(label: &str) -> &str {
    let index = label.rfind('[').unwrap_or(0);
    if label.chars().count() > LABEL_CHARACTERS { &label[index..] } else { label }
}

/// Returns the lane of a cell, or `*` for several.
fn lanes(cell: &Cell) -> String {
    match cell.lanes[..] {
        [lane] => lane.to_string(),
        _ => "*".to_owned(),
    }
}
