//! The project's pages: their links and the anchors of their headings.

use std::collections::BTreeMap;

/// Returns the targets of the links and images in a page, such as `kernels.md#indices`.
pub fn links(page: &str) -> impl Iterator<Item = &str> {
    page.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link)
}

/// Returns true if a link leads out of the repository.
pub fn is_external(link: &str) -> bool {
    link.contains("://") || link.starts_with("mailto:")
}

/// Returns the anchors of a page's headings, as forges and mdBook make them: `## When it is built` has the anchor
/// `when-it-is-built`.
pub fn anchors(page: &str) -> Vec<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut in_code = false;
    let mut anchors = Vec::new();
    for line in page.lines() {
        in_code ^= line.trim_start().starts_with("```");
        let Some(heading) = line.strip_prefix('#').filter(|_| !in_code) else { continue };
        let text = heading.trim_start_matches('#').trim().to_lowercase();
        let is_kept = |c: &char| c.is_alphanumeric() || matches!(c, '-' | '_' | ' ');
        let anchor: String = text.chars().filter(is_kept).map(|c| if c == ' ' { '-' } else { c }).collect();
        let count = seen.entry(anchor.clone()).or_default();
        anchors.push(if *count == 0 { anchor } else { format!("{anchor}-{count}") });
        *count += 1;
    }
    anchors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_have_the_anchors_of_a_forge() {
        let page = "# The passes of `#[kernel]`\n```sh\n# none\n```\n## Old & new_er\n## Old & new_er\n";
        assert_eq!(anchors(page), ["the-passes-of-kernel", "old--new_er", "old--new_er-1"]);
    }

    #[test]
    fn links_and_images_are_found() {
        let page = "[a](b.md#c) and ![d](e.svg), `x[i](y` and [f](https://g.h)";
        let found: Vec<&str> = links(page).collect();
        assert_eq!(found[..2], ["b.md#c", "e.svg"]);
        assert!(is_external(found.last().unwrap()) && !is_external(found[0]));
    }
}
