//! Tests files that `host life` rejects, and the messages that say why.

use std::fs;

use crate::common::{Host, text};

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
        ("cube.rle3", "3D version=1 size=40 pos=1,1,1\nx=1 y=1 z=1 rule=3D5,7/6\no!\n", ["a 3-D pattern", ".rle,"]),
        ("capitals.rle", "BOB$2BO$3O!\n", ["line 1, column 1: capitals are states", "write `b` and `o`"]),
        (
            "critters.rle",
            "x = 1, y = 1, rule = CrittersMargolus_emulated\nA!\n",
            ["no rule is known by this name", "Golly's .rule files"],
        ),
    ] {
        let file = folder.path().join(name);
        fs::write(&file, text).unwrap();
        LIFE.assert_fails(&[file.to_str().unwrap()], 1, &[name, parts[0], parts[1]]);
    }
}

#[test]
fn marks_are_noted_as_lost() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("marks.rle");
    fs::write(&file, "x = 4, y = 1, rule = LifeHistory\nABCD!\n").unwrap();
    let output = LIFE.run(&[file.to_str().unwrap(), "--no-animation", "--generations", "1", "--device", "cpu"]);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(stderr.contains("the marks of 3 cells (states above 1) are not kept"), "{stderr}");
}

#[test]
fn the_c_locale_is_ascii() {
    for arguments in [
        &["life", "--no-animation", "--size", "64x64", "--generations", "3", "--device", "cpu"][..],
        &["saxpy", "--n", "2^10", "--device", "sim"],
        &["bench", "--help"],
        &["life", "--size", "0"],
    ] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_host"));
        let output = command.args(arguments).env("LC_ALL", "C").output().unwrap();
        let printed = [output.stdout, output.stderr].concat();
        assert!(printed.is_ascii() && !printed.is_empty(), "{arguments:?}: {}", text(&printed));
    }
}
