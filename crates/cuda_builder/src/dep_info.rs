//! Reads the source files of a build from the dependency file that `cargo` writes.

use std::path::PathBuf;

/// Returns the prerequisites of all rules in a dependency file in make's format. A backslash in the file escapes a
/// space in a path.
pub(crate) fn prerequisites(text: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for line in text.lines() {
        // The target's path may contain a colon (a drive letter). The colon that ends it is followed by a space.
        let Some((_, list)) = line.split_once(": ") else { continue };
        let mut file = String::new();
        let mut characters = list.chars().peekable();
        while let Some(character) = characters.next() {
            match character {
                '\\' if characters.peek() == Some(&' ') => file.extend(characters.next()),
                ' ' if file.is_empty() => {}
                ' ' => files.push(PathBuf::from(std::mem::take(&mut file))),
                other => file.push(other),
            }
        }
        if !file.is_empty() {
            files.push(PathBuf::from(file));
        }
    }
    files.sort();
    files.dedup();
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_at_spaces_that_no_backslash_keeps() {
        let text = "/t/libgpu.a: /w/src/lib.rs /w/my\\ kernels/a.rs\n/t/other: /w/src/lib.rs\n";
        assert_eq!(prerequisites(text), [PathBuf::from("/w/my kernels/a.rs"), PathBuf::from("/w/src/lib.rs")]);
        assert_eq!(prerequisites("C:\\t\\libgpu.a: C:\\w\\lib.rs"), [PathBuf::from("C:\\w\\lib.rs")]);
        assert!(prerequisites("").is_empty());
    }
}
