//! The items of a module's text and their references, from which the text of any kernels is put together.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::{items, words};

/// The items of a module's text. The outline finds an item's references when they are first needed, and keeps them. To
/// extract many kernels that share functions therefore takes little more time than to extract one.
pub(crate) struct Outline {
    text: Arc<str>,
    items: Vec<OutlineItem>,
    /// The indices of the items with each name. A function that is declared before it is defined has two items.
    places: HashMap<Box<str>, Vec<usize>>,
}

struct OutlineItem {
    range: Range<usize>,
    /// True for a directive, which every extracted text contains.
    is_directive: bool,
    is_entry: bool,
    is_shared_with_host: bool,
    references: OnceLock<Vec<usize>>,
}

impl Outline {
    /// Returns `None` if the text cannot be parsed, or has debugging information.
    pub(crate) fn new(text: Arc<str>) -> Option<Self> {
        let mut places = HashMap::<Box<str>, Vec<_>>::new();
        let parsed = items(&text)?.into_iter().enumerate().map(|(i, item)| {
            if let Some(name) = item.name {
                places.entry(name.into()).or_default().push(i);
            }
            OutlineItem {
                range: item.range,
                is_directive: item.name.is_none(),
                is_entry: item.is_entry,
                is_shared_with_host: item.is_shared_with_host,
                references: OnceLock::new(),
            }
        });
        let items = parsed.collect();
        Some(Self { text, items, places })
    }

    /// Returns the names of the module's kernels, in ascending order.
    pub(crate) fn entries(&self) -> Vec<&str> {
        let is_entry = |places: &[usize]| places.iter().any(|&i| self.items[i].is_entry);
        let mut names: Vec<_> = self.places.iter().filter(|(_, i)| is_entry(i)).map(|(name, _)| &**name).collect();
        names.sort_unstable();
        names
    }

    /// Returns the items `todo`, everything to which they refer, and the directives: true for each of these items.
    fn reached(&self, mut todo: Vec<usize>) -> Vec<bool> {
        let mut is_used: Vec<_> = self.items.iter().map(|item| item.is_directive).collect();
        while let Some(i) = todo.pop() {
            if !std::mem::replace(&mut is_used[i], true) {
                todo.extend(self.references(i));
            }
        }
        is_used
    }

    /// Returns which items the text of `entries` has, or `None` if one of them uses a static.
    fn used(&self, entries: &[&str]) -> Option<Vec<bool>> {
        let mut begin = Vec::new();
        for &entry in entries {
            begin.extend(self.places.get(entry)?);
        }
        let is_used = self.reached(begin);
        let mut used = self.items.iter().zip(&is_used).filter(|(_, is_used)| **is_used);
        used.all(|(item, _)| !item.is_shared_with_host).then_some(is_used)
    }

    /// Returns a PTX text with these kernels alone: the module's directives, the kernels, and what they refer to, in
    /// the module's order. Returns `None` if a kernel uses a static, which all kernels share, or does not exist.
    pub(crate) fn part(&self, entries: &[&str]) -> Option<String> {
        self.used(entries).map(|is_used| self.text_of(is_used))
    }

    /// Returns the PTX of all kernels that use statics, with all statics, or `None` if there are none.
    pub(crate) fn part_with_statics(&self) -> Option<String> {
        let mut begin: Vec<_> = (0..self.items.len()).filter(|&i| self.items[i].is_shared_with_host).collect();
        if begin.is_empty() {
            return None;
        }
        let entries = self.entries().into_iter().filter(|entry| self.used(&[entry]).is_none());
        begin.extend(entries.filter_map(|entry| self.places.get(entry)).flatten());
        Some(self.text_of(self.reached(begin)))
    }

    fn text_of(&self, is_used: Vec<bool>) -> String {
        let used = self.items.iter().zip(is_used).filter(|(_, is_used)| *is_used);
        used.flat_map(|(item, _)| [&self.text[item.range.clone()], "\n"]).collect()
    }

    /// Returns the number of bytes of the items in the text of the kernel `entry`.
    pub(crate) fn text_bytes(&self, entry: &str) -> Option<usize> {
        let is_used = self.used(&[entry])?;
        Some(self.items.iter().zip(is_used).filter(|(_, is_used)| *is_used).map(|(item, _)| item.range.len()).sum())
    }

    fn references(&self, item: usize) -> &[usize] {
        let OutlineItem { range, references, .. } = &self.items[item];
        references.get_or_init(|| {
            let text = &self.text[range.clone()];
            let mut found: Vec<_> =
                words(text).filter_map(|word| self.places.get(&text[word])).flatten().copied().collect();
            found.sort_unstable();
            found.dedup();
            found
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str =
        ".version 7.8\n.target sm_90\n.func leaf()\n{\n\tret;\n}\n.func inner()\n{\n\tcall leaf, ();\n}
.visible .entry second()\n{\n\tcall inner, ();\n}\n.visible .global .b32 all;\n.entry first()\n{\n}
.entry third()\n{\n\tst.global.u32 [all], 1;\n}\n";

    #[test]
    fn an_outline_lists_kernels_and_what_their_text_contains() {
        let outline = Outline::new(MODULE.into()).unwrap();
        assert_eq!(outline.entries(), ["first", "second", "third"]);
        let [first, second] = ["first", "second"].map(|entry| outline.text_bytes(entry));
        assert!(first.is_some_and(|first| second.is_some_and(|second| second > 2 * first)), "{first:?} {second:?}");
        assert_eq!((outline.text_bytes("third"), outline.text_bytes("fourth")), (None, None));
        let text = outline.part(&["second"]).unwrap();
        assert!(text.starts_with(".version 7.8\n.target sm_90\n.func leaf()") && !text.contains("first"), "{text}");
    }

    #[test]
    fn kernels_that_use_statics_stay_together() {
        let module = format!(
            "{MODULE}.visible .const .b32 unused;\n.entry fourth()\n{{\n\tcall middle, ();\n}}\n\
            .func middle()\n{{\n\tcall leaf, ();\n\tld.global.u32 %r, [all];\n}}\n"
        );
        let text = Outline::new(module.into()).unwrap().part_with_statics().unwrap();
        for kept in
            [".version 7.8", ".b32 all;", "unused;", ".entry third", ".entry fourth", ".func middle", ".func leaf"]
        {
            assert_eq!(text.matches(kept).count(), 1, "{kept}: {text}");
        }
        assert!(!text.contains("first") && !text.contains("second") && !text.contains("inner"), "{text}");
        assert!(Outline::new(".version 7.8\n.entry first()\n{\n}\n".into()).unwrap().part_with_statics().is_none());
    }
}
