//! Tests files that `host life` rejects, and the messages that say why.

use std::fs;

use crate::common::Host;

const LIFE: Host = Host(&["life"]);

#[test]
fn a_file_of_no_format_exits_with_1() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text, parts) in [
        ("letter.mcl", "Dear reader,\nthis is a letter.\n", ["not an MCell file", "#MCell 4.20"]),
        ("cut.mcl", "#MCell 4.20\n#GAME Life\n", ["without cells", "#L .A$"]),
        ("letter.mc", "[a letter]\n", ["not a macrocell file", "[M2]"]),
        ("notes.lif", "# notes\n", ["no cells of Life 1.05", "#Life 1.06"]),
        ("notes.rle", "# notes\n", ["not RLE", "x = 3, y = 3"]),
        ("cut.rle", "x = 36, y = 1\n", ["line 1", "truncated"]),
        ("notes.cells", "! notes\n", ["no rows of cells", "`O` (alive)"]),
        ("blank.rle", "\u{feff}\n\n", ["blank.rle", "it is empty"]),
        ("letter.png", "O\n", ["named .png", "check the file"]),
    ] {
        let file = folder.path().join(name);
        fs::write(&file, text).unwrap();
        LIFE.assert_fails(&[file.to_str().unwrap()], 1, &[name, parts[0], parts[1]]);
    }
}
