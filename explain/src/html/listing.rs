//! Writes the source of a kernel, with each line followed by its figures.

use std::fmt::Write;

use units::{number, short_percent};

use super::{escaped, grade};
use crate::figures::KernelFigures;
use crate::sites::Memory;

/// Adds the source of the kernel's function as a collapsed section, if the source is known.
pub(super) fn add(page: &mut String, kernel: &KernelFigures) {
    if kernel.listing.is_empty() {
        return;
    }
    let _ = write!(
        page,
        "<details><summary>The kernel, {}, with the figures of its lines</summary>\n<pre class=\"listing\">",
        escaped(&kernel.file)
    );
    for (line, text) in (kernel.line..).zip(&kernel.listing) {
        let (class, figure) = figures_of(kernel, line);
        let tag = if figure.is_empty() { String::new() } else { format!("<b class=\"f\">{}</b>", escaped(&figure)) };
        // The spans are displayed as blocks. A line end between two spans would therefore show as an empty line.
        let _ = write!(page, "<span class=\"{class}\"><i class=\"n\">{line}</i>{}{tag}</span>", escaped(text));
    }
    page.push_str("</pre></details>\n");
}

/// Returns the worst grade of the sites in line `line`, and the figures of these sites.
fn figures_of(kernel: &KernelFigures, line: u32) -> (&'static str, String) {
    let mut worst: f64 = f64::INFINITY;
    let mut figures = Vec::new();
    let is_there = |file: &str, at: u32| at == line && file == kernel.file;
    for site in kernel.sites.iter().filter(|site| is_there(&site.place.file, site.place.line)) {
        let efficiency = site.efficiency.unwrap_or(1.0);
        worst = worst.min(efficiency);
        figures.push(match site.memory {
            Memory::Global => format!("{} {}", site.kind.name(), short_percent(efficiency)),
            Memory::Shared => format!("{} {}-way", site.kind.name(), number(efficiency.recip())),
        });
    }
    for branch in kernel.branches.iter().filter(|branch| is_there(&branch.place.file, branch.place.line)) {
        if branch.divergent > 0 {
            worst = worst.min(1.0 - branch.divergent_share);
            figures.push(format!("{} split", short_percent(branch.divergent_share)));
        }
    }
    (if figures.is_empty() { "" } else { grade(worst) }, figures.join(", "))
}
