//! Writes a comparison with a baseline as HTML.

use std::fmt::Write;

use units::grouped;

use super::{capitalised, escaped};
use crate::compare::{Change, Comparison, KernelComparison, marked};

/// Adds the sections of the compared rungs.
pub(super) fn add(page: &mut String, comparison: &Comparison) {
    for rung in &comparison.rungs {
        let before = if rung.before == rung.after { &comparison.baseline } else { &rung.before };
        let _ = writeln!(page, "<h2>{} compared with {}</h2>", escaped(&rung.after), escaped(before));
        let _ = writeln!(page, "<p><b>{}.</b></p>", escaped(&capitalised(&rung.sentence())));
        page.push_str(
            "<table class=\"changes\">\n<thead><tr><th>count</th><th>before</th><th>now</th><th>change</th></tr>\
             </thead>\n<tbody>\n",
        );
        for change in &rung.totals {
            let Change { what, before, after } = *change;
            let _ = writeln!(
                page,
                "<tr><th>{what}</th><td class=\"num\">{}</td><td class=\"num\">{}</td><td>{}</td></tr>",
                grouped(before),
                grouped(after),
                change.factor()
            );
        }
        page.push_str("</tbody>\n</table>\n");
        rung.kernels.iter().filter(|kernel| !kernel.lines.is_empty()).for_each(|kernel| lines(page, kernel));
    }
}

/// Adds the lines of a kernel that differ.
fn lines(page: &mut String, kernel: &KernelComparison) {
    let _ = write!(page, "<h3>{}</h3>\n<pre class=\"listing diff\">", escaped(&kernel.title()));
    for line in &kernel.lines {
        let rows = marked(line);
        let last = rows.len().saturating_sub(1);
        for (index, (mark, place, source)) in rows.into_iter().enumerate() {
            let class = match mark {
                '-' => "gone",
                '+' => "new",
                _ => "",
            };
            let counts = if index == last { line.counts() } else { String::new() };
            let tag =
                if counts.is_empty() { String::new() } else { format!("<b class=\"f\">{}</b>", escaped(&counts)) };
            // The spans are displayed as blocks, so that no line end may stand between them.
            let _ = write!(
                page,
                "<span class=\"{class}\"><i class=\"m\">{mark} {}</i>{}{tag}</span>",
                escaped(&place),
                escaped(source)
            );
        }
    }
    page.push_str("</pre>\n");
}
