//! A census as a text that can be compared with Catagolue's: the format in which apgsearch submits its results.

use std::fmt::Write;

use md5::{Digest, Md5};

use super::{Kinds, PlaneSoups};

/// Returns the text of a census of the first `done` soups.
pub fn text(soups: &PlaneSoups, done: u64, kinds: &Kinds) -> String {
    let objects: u64 = kinds.values().map(|found| found.count).sum();
    let mut sorted: Vec<_> = kinds.iter().collect();
    sorted.sort_by(|a, b| b.1.count.cmp(&a.1.count).then_with(|| a.0.cmp(b.0)));
    let md5 = Md5::digest(soups.root.as_bytes()).iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
    let counts = |counts: u16| (0..9).filter(|n| counts >> n & 1 == 1).map(|n| n.to_string()).collect::<String>();
    let rule = format!("b{}s{}", counts(soups.counts.birth), counts(soups.counts.survival));
    let mut text = format!(
        "@VERSION gridstride-{}\n@MD5 {md5}\n@ROOT {}\n@RULE {rule}\n@SYMMETRY {}\n@NUM_SOUPS {done}\n\
         @NUM_OBJECTS {objects}\n\n@CENSUS TABLE\n",
        env!("CARGO_PKG_VERSION"),
        soups.root,
        soups.symmetry.name(),
    );
    for (code, found) in &sorted {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{code} {}", found.count);
    }
    text.push_str("\n@SAMPLE_SOUPIDS\n");
    for (code, found) in &sorted {
        let soups: Vec<_> = found.soups.iter().map(u64::to_string).collect();
        let _ = writeln!(text, "{code} {}", soups.join(" "));
    }
    text
}

#[cfg(test)]
mod tests {
    use life::Rule;

    use super::super::Occurrences;
    use super::*;
    use crate::objects::Counts;

    #[test]
    fn the_text_has_the_published_form() {
        let soups = PlaneSoups {
            soups: 5,
            root: "abc".to_owned(),
            symmetry: "C1".parse().unwrap(),
            rule: Rule::LIFE,
            counts: Counts::LIFE,
        };
        let found = |count: u64, soups: &[u64]| Occurrences { count, soups: soups.to_vec() };
        let kinds = [("xp2_7", found(3, &[0, 2])), ("xs4_33", found(4, &[1])), ("xs6_696", found(3, &[4]))];
        let kinds = Kinds::from(kinds.map(|(code, found)| (code.to_owned(), found)));
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(
            text(&soups, 5, &kinds),
            format!(
                "@VERSION gridstride-{version}\n@MD5 900150983cd24fb0d6963f7d28e17f72\n@ROOT abc\n@RULE b3s23\n\
                 @SYMMETRY C1\n@NUM_SOUPS 5\n@NUM_OBJECTS 10\n\n@CENSUS TABLE\nxs4_33 4\nxp2_7 3\nxs6_696 3\n\n\
                 @SAMPLE_SOUPIDS\nxs4_33 1\nxp2_7 0 2\nxs6_696 4\n"
            )
        );
    }
}
