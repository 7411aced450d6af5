//! Writes an explanation as one HTML page. The page needs no other file, and fits screens of any width, light or dark.

use std::fmt::Write;

use units::{Bytes, Seconds, grouped, number, short_percent};

use crate::bulk::BulkSite;
use crate::explanation::{Explanation, RungFigures, RungNames};
use crate::figures::KernelFigures;
use crate::sites::{AccessSite, BranchSite, SourceSite};
use crate::summary::Summary;
use crate::text;

mod comparison;
mod listing;
mod roofline;

const STYLE: &str = include_str!("style.css");

impl Explanation {
    /// Returns the explanation as one self-contained HTML page, for a screen of any width, light or dark.
    pub fn html(&self) -> String {
        let Self { subject, gpu, rungs, left_out, notes, comparison: compared, .. } = self;
        let mut page = String::new();
        let title = escaped(&format!("{subject} on {}", gpu.name));
        let _ = write!(
            page,
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n\
             </head>\n<body>\n<h1>{title}</h1>\n<p class=\"quiet\">{}</p>\n",
            escaped(&gpu.to_string())
        );
        if self.has_one_problem()
            && let Some(rung) = rungs.first()
        {
            let _ = writeln!(page, "<p class=\"quiet\">{}</p>", escaped(&rung.problem.to_string()));
        }
        if let Some(compared) = compared {
            comparison::add(&mut page, compared);
        }
        if rungs.len() > 1 {
            side_by_side(&mut page, rungs);
        }
        roofline::add(&mut page, self);
        for rung in rungs {
            section(&mut page, rung, self);
        }
        for reason in left_out {
            let _ = writeln!(page, "<p class=\"quiet\">Left out: {}</p>", escaped(reason));
        }
        for note in notes {
            let _ = writeln!(page, "<p class=\"quiet\">{}.</p>", escaped(&capitalised(note)));
        }
        page.push_str(WORDS);
        page.push_str("</body>\n</html>\n");
        page
    }
}

/// The paragraph of the page that explains its terms.
const WORDS: &str = "\
<h2>What the figures are</h2>
<p class=\"quiet\">A request is one instruction of a warp: the accesses of its 32 lanes. Global memory moves sectors of
32 bytes; the ideal is the fewest sectors that hold the bytes of a request. Shared memory has 32 banks. It takes a
wavefront for each 128 bytes, and one more for each further word of one bank. Each sector that a launch reads or writes
must move once: the time for that is the floor, and the kernel cannot be faster. The bytes moved are those of all
sectors touched, as if there were no caches. All counts come from a simulator, which runs the kernel as it is \
written.</p>
";

/// Returns the CSS class for a share: `good`, `fair` or `bad`.
pub(crate) fn grade(share: f64) -> &'static str {
    match share {
        share if share >= 0.8 => "good",
        share if share >= 0.45 => "fair",
        _ => "bad",
    }
}

/// Returns the HTML of a bar that is filled to `share`.
fn bar(share: f64) -> String {
    format!("<span class=\"bar\"><i style=\"width:{:.1}%\"></i></span>", 100.0 * share.clamp(0.0, 1.0))
}

/// Returns a table cell with a share and its bar.
fn share_cell(label: &str, share: Option<f64>) -> String {
    match share {
        None => format!("<td data-label=\"{label}\">–</td>"),
        Some(share) => {
            let (grade, text) = (grade(share), escaped(&short_percent(share)));
            format!("<td data-label=\"{label}\" class=\"num {grade}\"><b>{text}</b>{}</td>", bar(share))
        }
    }
}

/// Adds the table that compares the rungs.
fn side_by_side(page: &mut String, rungs: &[RungFigures]) {
    let time = |summary: &Summary| summary.per_element(summary.access_seconds);
    let highest = rungs.iter().map(|rung| time(&rung.summary)).fold(f64::MIN_POSITIVE, f64::max);
    page.push_str(
        "<table class=\"rungs\">\n<thead><tr><th>kernel</th><th>loads use</th><th>stores use</th>\
         <th>bank conflicts</th><th>must move</th><th>moves</th><th>memory time</th><th>occupancy</th>\
         <th>what changed</th></tr></thead>\n<tbody>\n",
    );
    for RungFigures { names: RungNames { algorithm, rung, .. }, summary, change, .. } in rungs {
        let ways = match summary.shared_ways {
            None => "<td data-label=\"bank conflicts\">–</td>".to_owned(),
            Some(ways) => {
                let text = if ways > 1.005 { format!("{}-way", number(ways)) } else { "none".into() };
                let grade = grade(1.0 / ways.max(1.0));
                format!("<td data-label=\"bank conflicts\" class=\"num {grade}\"><b>{text}</b></td>")
            }
        };
        let by = if summary.is_bound_by_shared() { "shared" } else { "global" };
        let _ = writeln!(
            page,
            "<tr><th><a href=\"#{id}\">{name}</a></th>{loads}{stores}{ways}\
             <td data-label=\"must move\" class=\"num\">{must} B</td>\
             <td data-label=\"moves\" class=\"num\">{moved} B</td>\
             <td data-label=\"memory time\" class=\"num\"><span>{time_text} <span class=\"quiet\">{by}</span></span>\
             {time_bar}</td>{occupancy}<td class=\"change\">{change}</td></tr>",
            id = id(algorithm, rung),
            name = escaped(rung),
            loads = share_cell("loads use", summary.load_efficiency),
            stores = share_cell("stores use", summary.store_efficiency),
            must = number(summary.per_element(summary.floor_bytes as f64)),
            moved = number(summary.per_element(summary.moved_bytes as f64)),
            time_text = escaped(&text::picoseconds(time(summary))),
            time_bar = bar(time(summary) / highest),
            occupancy = share_cell("occupancy", summary.occupancy),
            change = change.as_deref().map_or(String::new(), escaped),
        );
    }
    page.push_str(
        "</tbody>\n</table>\n<p class=\"quiet\">Bytes and times are for each element. Memory time is that of global or \
         of shared memory, whichever takes longer, unless caches serve global memory.</p>\n",
    );
}

/// Returns the anchor of a rung's section.
fn id(algorithm: &str, rung: &str) -> String {
    format!("{algorithm}-{rung}").replace(|c: char| !c.is_ascii_alphanumeric(), "-")
}

fn section(page: &mut String, rung: &RungFigures, explanation: &Explanation) {
    let RungFigures { names, problem, summary, roofline, change, kernels } = rung;
    let RungNames { algorithm, rung: name, idea } = names;
    let _ = writeln!(page, "<h2 id=\"{}\">{}</h2>", id(algorithm, name), escaped(&names.full()));
    let _ = writeln!(page, "<p>{}</p>", escaped(idea));
    if let Some(change) = change {
        let _ = writeln!(page, "<p><b>Compared with the rung before:</b> {}.</p>", escaped(change));
    }
    if !explanation.has_one_problem() {
        let _ = writeln!(page, "<p class=\"quiet\">{}</p>", escaped(&problem.to_string()));
    }
    for line in text::floor(summary, explanation.gpu).into_iter().chain([roofline.line()]) {
        let _ = writeln!(page, "<p class=\"quiet\">{}.</p>", escaped(&capitalised(&line)));
    }
    for kernel in kernels {
        kernel_part(page, kernel);
    }
}

fn kernel_part(page: &mut String, kernel: &KernelFigures) {
    let _ = writeln!(page, "<h3>{}</h3>", escaped(kernel.entry));
    for line in text::about(kernel) {
        let _ = writeln!(page, "<p class=\"quiet\">{}</p>", escaped(&line));
    }
    page.push_str("<ul class=\"sites\">\n");
    kernel.sites.iter().for_each(|site| site_part(page, site));
    kernel.bulk_copies.iter().for_each(|site| bulk_part(page, site));
    kernel.branches.iter().filter(|branch| branch.divergent > 0).for_each(|branch| branch_part(page, branch));
    page.push_str("</ul>\n");
    for product in &kernel.products {
        let (place, executions, operations) = (product.place.short(), product.executions, product.operations);
        let what = format!("{place}: {}: {} by warps", product.what(), grouped(executions));
        let _ = writeln!(page, "<p class=\"quiet\">{}, {} operations.</p>", escaped(&what), grouped(operations));
    }
    let whole: Vec<String> =
        kernel.branches.iter().filter(|branch| branch.divergent == 0).map(|branch| branch.place.short()).collect();
    if !whole.is_empty() {
        let _ = writeln!(page, "<p class=\"quiet\">Never split: the branches at {}.</p>", escaped(&whole.join(", ")));
    }
    listing::add(page, kernel);
}

fn site_part(page: &mut String, site: &AccessSite) {
    let efficiency = site.efficiency.unwrap_or(1.0);
    let figures = [
        ("requests", grouped(site.traffic.requests)),
        ("per request", format!("{}, ideal {}", text::passes(site), number(site.ideal_per_request()))),
        ("bytes", format!("{}, {} per lane", Bytes(site.bytes_moved), site.bytes_per_lane)),
        ("at least", Seconds(site.seconds).to_string()),
    ];
    article(page, grade(efficiency), &site.what(), &site.place, &site.meaning, &figures, ("used", efficiency));
}

fn bulk_part(page: &mut String, site: &BulkSite) {
    let efficiency = site.efficiency().unwrap_or(1.0);
    let figures = [
        ("copies", grouped(site.traffic.copies)),
        ("bytes", format!("{}, delivered {}", Bytes(site.traffic.bytes), Bytes(site.traffic.delivered_bytes))),
        ("at least", Seconds(site.seconds).to_string()),
    ];
    article(page, grade(efficiency), &site.what(), &site.place, &site.meaning(), &figures, ("used", efficiency));
}

fn branch_part(page: &mut String, branch: &BranchSite) {
    let whole = 1.0 - branch.divergent_share;
    let figures = [
        ("warps came", grouped(branch.executions)),
        ("split", grouped(branch.divergent)),
        ("lanes took it", short_percent(branch.taken as f64 / branch.lanes.max(1) as f64)),
    ];
    article(page, grade(whole), "branch", &branch.place, &branch.meaning, &figures, ("whole", whole));
}

/// Adds a list item for a site of the source, with its figures.
fn article(
    page: &mut String,
    grade: &str,
    what: &str,
    place: &SourceSite,
    meaning: &str,
    figures: &[(&str, String)],
    (share_name, share): (&str, f64),
) {
    let _ = write!(
        page,
        "<li class=\"site {grade}\">\n<div><b>{}</b> <span class=\"where\">{}:{}</span>\n",
        escaped(what),
        escaped(&place.file),
        place.line
    );
    if let Some(source) = &place.source {
        let _ = writeln!(page, "<pre>{}</pre>", escaped(source));
    }
    let _ = write!(page, "<p>{}.</p></div>\n<dl class=\"{grade}\">", escaped(&capitalised(meaning)));
    let _ = write!(page, "<dt>{share_name}</dt><dd><b class=\"{grade}\">{}</b></dd>", escaped(&short_percent(share)));
    let _ = write!(page, "<dd class=\"whole {grade}\">{}</dd>", bar(share));
    for (name, value) in figures {
        let _ = write!(page, "<dt>{}</dt><dd>{}</dd>", escaped(name), escaped(value));
    }
    page.push_str("</dl>\n</li>\n");
}

/// Returns `text` with its first letter capitalised.
fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or(String::new(), |first| first.to_uppercase().chain(characters).collect())
}

/// Returns `text` with the special characters of HTML escaped.
pub(crate) fn escaped(text: &str) -> String {
    let escapes = [('&', "&amp;"), ('<', "&lt;"), ('>', "&gt;"), ('"', "&quot;"), ('\'', "&#39;")];
    escapes.iter().fold(text.to_owned(), |text, (character, escape)| text.replace(*character, escape))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped() {
        assert_eq!(
            escaped("if a < b && x > \"y\" { shared::<'a>() }"),
            "if a &lt; b &amp;&amp; x &gt; &quot;y&quot; { shared::&lt;&#39;a&gt;() }"
        );
    }

    #[test]
    fn a_place_has_its_source_its_figures_and_a_bar() {
        let mut page = String::new();
        let source = Some("let x: Global<T> = y;".to_owned());
        let place = SourceSite { file: "gpu/src/a.rs".into(), line: 7, column: 1, source };
        article(
            &mut page,
            "bad",
            "global load x",
            &place,
            "each <one>",
            &[("requests", "1,024".into())],
            ("used", 0.125),
        );
        for part in [
            "class=\"site bad\"",
            "gpu/src/a.rs:7",
            "<pre>let x: Global&lt;T&gt; = y;</pre>",
            "<p>Each &lt;one&gt;.</p>",
            "<b class=\"bad\">12.5 %</b>",
            "width:12.5%",
            "<dt>requests</dt><dd>1,024</dd>",
        ] {
            assert!(page.contains(part), "`{part}` is not in: {page}");
        }
    }

    #[test]
    fn grades_and_bars_follow_the_share() {
        assert_eq!([1.0, 0.8, 0.5, 0.125].map(grade), ["good", "good", "fair", "bad"]);
        assert!(bar(1.5).contains("width:100.0%") && bar(-0.1).contains("width:0.0%"));
        assert_eq!(id("transpose", "copy_tile"), "transpose-copy-tile");
    }

    #[test]
    fn the_style_needs_nothing_from_outside() {
        for outside in ["@import", "url(", "http"] {
            assert!(!STYLE.contains(outside), "{outside}");
        }
        assert!(STYLE.contains("prefers-color-scheme: dark"));
    }
}
