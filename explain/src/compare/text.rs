//! Writes a comparison as text for a terminal.

use std::fmt::Write;

use units::{grouped, number, short_percent, table, wrapped};

use super::{Change, Comparison, KernelComparison, LineChange, RungComparison};

impl Change {
    /// Returns the change as a factor, such as `32× fewer`, or as a share if it is small, such as `3.1 % more`.
    pub fn factor(&self) -> String {
        let (before, after) = (self.before as f64, self.after as f64);
        match (self.before, self.after) {
            (before, after) if before == after => "same".into(),
            (0, _) => "new".into(),
            (_, 0) => "none left".into(),
            _ => {
                let (factor, word) = if after < before { (before / after, "fewer") } else { (after / before, "more") };
                let share = (after - before).abs() / before;
                let amount = if factor < 1.2 { short_percent(share) } else { format!("{}×", number(factor)) };
                format!("{amount} {word}")
            }
        }
    }

    /// Returns the count before and after, such as `wavefronts 8,192 → 256`.
    fn arrow(&self) -> String {
        format!("{} {} → {}", self.what, grouped(self.before), grouped(self.after))
    }
}

impl LineChange {
    /// Returns the counts of the line in one line of text.
    pub(crate) fn counts(&self) -> String {
        let one_side = |change: &Change| format!("{} {}", change.what, grouped(change.before.max(change.after)));
        let is_of_both = self.before.is_some() && self.after.is_some();
        let text = |change: &Change| if is_of_both { change.arrow() } else { one_side(change) };
        self.counts.iter().map(text).collect::<Vec<_>>().join(", ")
    }
}

impl RungComparison {
    /// Returns a sentence that says what differs.
    pub(crate) fn sentence(&self) -> String {
        match &self.summary {
            Some(summary) => summary.clone(),
            None if self.kernels.iter().any(|kernel| !kernel.lines.is_empty()) => {
                "all totals are equal, but lines differ".into()
            }
            None => "nothing differs: all counts and lines are equal".into(),
        }
    }
}

impl KernelComparison {
    /// Returns the names of the kernels, such as `transpose_tile_u32 → transpose_padded_u32`.
    pub(crate) fn title(&self) -> String {
        match (&self.before, &self.after) {
            (Some(before), Some(after)) if before == after => after.clone(),
            (Some(before), Some(after)) => format!("{before} → {after}"),
            (Some(before), None) => format!("{before}, which is no longer launched"),
            (None, after) => format!("{}, which the baseline does not launch", after.as_deref().unwrap_or_default()),
        }
    }
}

impl Comparison {
    /// Returns the comparison as text, in which sentences are broken into lines of at most `columns` columns.
    pub(crate) fn text(&self, columns: usize) -> String {
        let mut text = String::new();
        for rung in &self.rungs {
            let before = if rung.before == rung.after { &self.baseline } else { &rung.before };
            let heading = format!("{} compared with {before}: {}", rung.after, rung.sentence());
            let _ = write!(text, "\n{}\n\n", wrapped(&heading, 2, columns));
            let row = |change: &Change| {
                [change.what.to_owned(), grouped(change.before), grouped(change.after), change.factor()]
            };
            let counts = table(["count", "before", "now", "change"], rung.totals.iter().map(row)).to_string();
            counts.lines().for_each(|line| _ = writeln!(text, "{}", line.trim_end()));
            rung.kernels.iter().for_each(|kernel| add_lines(&mut text, kernel));
        }
        text
    }
}

/// Adds the lines that differ, in the form of a diff: `-` for the baseline's, `+` for the new ones.
fn add_lines(text: &mut String, kernel: &KernelComparison) {
    if kernel.lines.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n  {}", kernel.title());
    for line in &kernel.lines {
        for (mark, place, source) in marked(line) {
            let _ = writeln!(text, "{}", format!("  {mark} {place}  {source}").trim_end());
        }
        if !line.counts.is_empty() {
            let _ = writeln!(text, "        {}", line.counts());
        }
    }
}

/// Returns the rows of a line in a diff: a mark, the place and the text.
pub(crate) fn marked(change: &LineChange) -> Vec<(char, String, &str)> {
    match (&change.before, &change.after) {
        (Some(before), Some(after)) if before.source == after.source => {
            let (from, to) = (before.short(), after.short());
            let place = if from == to { to } else { format!("{from} → {to}") };
            vec![(' ', place, &after.source)]
        }
        (before, after) => {
            let before = before.as_ref().map(|line| ('-', line.short(), line.source.as_str()));
            let after = after.as_ref().map(|line| ('+', line.short(), line.source.as_str()));
            before.into_iter().chain(after).collect()
        }
    }
}
