//! Tests the features that all formats share, and the small formats.

use std::io::Write;
use std::path::Path;

use life::board::{Board, Run};

use super::*;

const LIMIT: u64 = 1 << 20;

/// Returns the metadata of a torus under Conway's rule. As in Golly, the centre of the torus is at the origin of the
/// plane.
pub(crate) fn torus((width, height): (usize, usize), generation: u64) -> Metadata {
    let before = |side: usize| 0i64.saturating_sub_unsigned(side as u64 / 2);
    let rule = format!("B3/S23:T{width},{height}");
    Metadata { name: None, rule, generation, origin: (before(width), before(height)) }
}

/// A glider in each format that can be read.
const GLIDERS: [(&str, Format); 14] = [
    ("x = 3, y = 3, rule = B3/S23\nbob$2bo$3o!", Format::Rle),
    ("bo$2bo$3o!", Format::Rle),
    ("#C old\nbxb$2bx$3x!", Format::Rle),
    (".O.\n..O\nOOO\n", Format::Cells),
    ("!Name: Glider\n!\n.*\n..*\n***", Format::Cells),
    ("#Life 1.05\n#D Glider\n#N\n#P -1 -1\n.*.\n..*\n***\n", Format::Life),
    ("#P 4 -7\n.*\n..*\n#P 4 -5\n***\n", Format::Life),
    ("#Life 1.06\n0 -1\n1 0\n-1 1\n0 1\n1 1\n", Format::Life),
    ("1 0\n2 1\n0 2\n1 2\n2 2\n", Format::Life),
    ("[M2] (golly 4.2)\n#R B3/S23\n.*$..*$***$\n4 0 0 0 1\n", Format::Macrocell),
    ("[M2] (golly 4.2)\n#R B3/S23/3\n1 0 1 0 0\n1 0 0 1 0\n1 1 1 0 0\n1 1 0 0 0\n2 1 2 3 4\n", Format::Macrocell),
    ("#MCell 4.00\n#GAME Life\n#RULE 23/3\n#BOARD 30x20\n#L .A$\n#L 2.A$3A\n", Format::Mcell),
    ("xq4_153\n", Format::Apgcode),
    ("xp2_7\n", Format::Apgcode),
];

fn read(bytes: &[u8]) -> Result<Pattern, FormatError> {
    read_pattern_bytes(bytes, None, LIMIT)
}

/// Checks that every format contains the same cells of a glider. For the apgcodes, other cells are expected.
#[test]
fn a_glider_is_a_glider_in_every_format() {
    for (text, format) in GLIDERS {
        assert_eq!(detect::of_text(text, None), format, "{text:?}");
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(text.as_bytes()).unwrap();
        let pattern = read(text.as_bytes()).unwrap();
        assert_eq!(pattern, read(&gzip.finish().unwrap()).unwrap());
        if format == Format::Apgcode {
            continue;
        }
        let cells: Vec<_> = pattern.cells().collect();
        assert_eq!(cells, [(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)], "{text:?}");
    }
    assert_eq!(read(b"xp2_7").unwrap().cells().collect::<Vec<_>>(), [(0, 0), (0, 1), (0, 2)]);
    assert_eq!(read(b"xq4_153").unwrap().population(), 5);
}

#[test]
fn rules_and_places() {
    let read = |index: usize| read(GLIDERS[index].0.as_bytes()).unwrap();
    assert_eq!((read(5).rule.as_deref(), read(5).origin), (Some("B3/S23"), (-1, -1)));
    assert_eq!((read(6).rule, read(6).origin), (None, (4, -7)));
    assert_eq!(read(7).origin, (-1, -1));
    assert_eq!(read(11).rule.as_deref(), Some("23/3:P30,20"));
    let rule = |text: &str| read_pattern(text, Format::Mcell).unwrap().rule;
    assert_eq!(rule("#MCell 4\n#BOARD 9x8\n#WRAP 1\n#L A").as_deref(), Some("B3/S23:T9,8"));
    assert_eq!(rule("#MCell 4\n#RULE 345/\n#RULE 34/6\n#L A").as_deref(), Some("345/34/6"));
    assert_eq!(rule("#MCell 4\n#GOLLY WireWorld\n#RULE 1/1\n#L A").as_deref(), Some("WireWorld"));
    let life = |text: &str| read_pattern(text, Format::Life).unwrap();
    assert_eq!(life("#Life 1.05\n#P\n*").population(), 1, "a block without a position");
    assert_eq!(life("#Life 1.05\n#R 23/36\n*").rule.as_deref(), Some("23/36"));
}

#[test]
fn states_of_mcell() {
    let pattern =
        read_pattern("#MCell 4.20\n#GAME Generations\n#RULE /2/200\n#L A2.2B$aA\n#L jO", Format::Mcell).unwrap();
    let run = |x, y, length| Run { x, y, length };
    assert_eq!(pattern.others(), [(run(3, 0, 2), 2), (run(0, 1, 1), 25), (run(1, 1, 1), 255)]);
    assert_eq!(pattern.cells().collect::<Vec<_>>(), [(0, 0)]);
}

#[test]
fn apgcodes() {
    let cells = |code: &str| read(code.as_bytes()).unwrap().cells().collect::<Vec<_>>();
    assert_eq!(cells("xs4_33"), [(0, 0), (1, 0), (0, 1), (1, 1)]);
    // The pattern has two strips. The runs of empty columns have lengths 2, 3, 4 and 39.
    assert_eq!(cells("xp3_1w1x1y01yz1zg"), [(0, 0), (3, 0), (7, 0), (12, 0), (52, 0), (0, 9)]);
    for (code, message) in [
        ("xs5_33", "a still life of 5 cells, but the code has 4"),
        ("xs4_33_1", "more than two states"),
        ("zz_33", "begin with zz"),
        ("xq4_y", "must follow `y`"),
    ] {
        let error = read(code.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn what_is_malformed() {
    for (text, message) in [
        ("#Life 1.05\n.*x\n", "line 2, column 3: `x` is neither"),
        ("#Life 1.06\n1\n", "line 2, column 1: `1` is not a position"),
        ("#Life 1.06\n1 9223372036854775807\n", "is not a position"),
        ("#P a b\n*", "is not a position"),
        ("#MCell 4.00\n#L A?\n", "line 2, column 5: `?` is neither"),
        ("#MCell 4.00\n#L jP\n", "at most 255, but 256 was given"),
        ("#MCell 4.00\n#L 99999999999999999999A\n", "must be below 2⁶⁴"),
        ("#MCell 4.00\n#L 2A0$A\n", "line 2, column 7: a count must be at least 1"),
        ("#MCell 4.00\n#L 0A\n", "line 2, column 5: a count must be at least 1"),
        ("#MCell 4.00\n#GAME Margolus\n#L A\n", "MCell's game Margolus"),
    ] {
        let error = read(text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(message), "{text:?}: {error}");
    }
}

#[test]
fn what_is_known_and_not_read_is_named() {
    for (bytes, what) in [
        (&b"GIF89a\x01"[..], "a GIF"),
        (b"\xff\xd8\xff\xe0", "a JPEG"),
        (b"3D version=1 size=40 pos=0,0,0\n", "a 3-D pattern (.rle3)"),
        (b"@RULE Wireworld\n", "a Golly rule"),
        (b"# by hand\n\n@TABLE\n", "a Golly rule"),
        (b"n_states:4\n", "a Golly rule table"),
        (b"num_states=4\n", "a Golly rule tree"),
        (b"\xff\xfex\0", "a UTF-16 text"),
        (b"<!doctype html>", "an HTML page"),
    ] {
        let error = read(bytes).unwrap_err();
        assert!(
            matches!(&error, FormatError::Refused(text) if text.contains(what) && text.contains(".mc,")),
            "{error}"
        );
    }
}

#[test]
fn the_extension_says_the_format() {
    for (path, format) in [
        ("a.rle", Format::Rle),
        ("b/c.d.CELLS", Format::Cells),
        ("x.png", Format::Png),
        ("x.lif", Format::Life),
        ("x.life.gz", Format::Life),
        ("x.MC.GZ", Format::Macrocell),
        ("x.mcl", Format::Mcell),
    ] {
        assert_eq!(Format::from_path(Path::new(path)), Ok(format));
    }
    for path in ["a.txt", "rle", ".rle", "a", "", "-", "a.gz", "a.png.gz", "a.gif.gz"] {
        let error = Format::from_path(Path::new(path)).unwrap_err();
        assert_eq!(error, FormatError::Unknown { path: path.into() });
        assert!(error.to_string().contains("must be .rle, .cells, .lif"), "{error}");
    }
}

#[test]
fn a_text_shows_its_format() {
    for text in ["#N a\nx = 1", "x=1,y=1\no!", "\u{feff}\r\n  X = 1, y = 1\n!", "x\t= 1", "3o!", "#C\nbo$"] {
        assert_eq!(detect::of_text(text, None), Format::Rle, "{text:?}");
    }
    for text in ["", "!Name: x\nO", ".O.\n", "O"] {
        assert_eq!(detect::of_text(text, None), Format::Cells, "{text:?}");
    }
    // The content takes precedence over the name, and the name takes precedence over a guess.
    let pattern = |text: &str, named| read_pattern_bytes(text.as_bytes(), Some(named), LIMIT).unwrap();
    assert_eq!(pattern("x = 1, y = 1\no!", Format::Cells).population(), 1);
    assert_eq!(pattern("xx", Format::Cells).width, 2);
    assert_eq!(pattern("#C caf\u{e9}\nO!", Format::Rle).others().len(), 1);
    let latin = b"#C caf\xe9\nx = 2, y = 2\n2o$2o!";
    assert_eq!(read_pattern_bytes(latin, Some(Format::Rle), LIMIT).unwrap().population(), 4);
}

/// The formats that the name of a file can suggest.
const NAMED: [Option<Format>; 8] = [
    None,
    Some(Format::Rle),
    Some(Format::Cells),
    Some(Format::Life),
    Some(Format::Macrocell),
    Some(Format::Mcell),
    Some(Format::Png),
    Some(Format::Gif),
];

/// Checks that a text without a pattern is an error, regardless of the format that the file's name suggests.
#[test]
fn a_text_of_no_format_is_refused_under_every_name() {
    for text in [
        "",
        " \n\t\n",
        "\u{feff}",
        "\u{feff}\r\n",
        "\0\0\0\0",
        "Dear reader,\nthis is a letter.\n",
        "HELLO WORLD\n",
        "boo\n",
        "stop\n",
        "# A title\n\n## A chapter\n",
        "#C comments only\n#N nothing\n",
        "#GAME Life\n#RULE 23/3\n#L .A$\n",
        "#MCell 4.20\n#GAME Life\n#RULE 23/3\n",
        "#MCell 4.20\nhello\n",
        "#MCell 4.20\n#L 2.A3\n",
        "#Life 1.05\n#D nothing\n",
        "#Life 1.06\n1 2 3\n",
        "[package]\nname = \"x\"\n",
        "[package]\n",
        "[]\n",
        "[M3]\n4 0 0 0 0\n",
        ".*$..*$***$\n4 0 0 0 1\n",
        "{\"a\": 1}\n",
        "1,2,3\n4,5,6\n",
        "1 2 3\n4 5 6\n",
        "42\n",
        "!\n",
        "! a note\n",
        "x = 36, y = 1\n",
        "x = 3, y = 0, rule = B3/S23\n#C to come\n",
        "o = 1\n",
        "import os\nprint('x')\n",
        "<p>text</p>\n",
        "n_states:8\nneighborhood:Moore\n",
        "# a comment\n@RULE Bees\n@TREE\n",
        "my_file\n",
        "xs4_\n",
    ] {
        for named in NAMED {
            let read = read_pattern_bytes(text.as_bytes(), named, LIMIT);
            assert!(read.is_err(), "{text:?} as {named:?}: {read:?}");
        }
    }
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(b"\n").unwrap();
    assert_eq!(read(&gzip.finish().unwrap()).unwrap_err().to_string(), "it is empty: give a file with a pattern");
}

#[test]
fn what_a_text_of_another_format_lacks_is_said() {
    for (text, named, parts) in [
        ("a letter", Format::Mcell, ["not an MCell file", "#MCell 4.20"]),
        ("#MCell 4.20\n#GAME Life", Format::Mcell, ["without cells", "#L .A$"]),
        ("#MCell 4.20\n#L .A12", Format::Mcell, ["line 2, column 8", "the count 12"]),
        (".*\n*.", Format::Macrocell, ["not a macrocell file", "`[M2]`"]),
        ("#C comments", Format::Rle, ["not RLE", "`x = 3, y = 3`"]),
        ("stop", Format::Rle, ["line 1, column 5", "`!`"]),
        ("x = 9, y = 1", Format::Rle, ["line 1, column 13", "without `!`"]),
        ("# comments", Format::Life, ["no cells of Life 1.05", "`#Life 1.06`"]),
        ("1 2 3", Format::Life, ["line 1, column 1", "`1 2 3` is not a position"]),
        ("!Name: none", Format::Cells, ["no rows of cells", "`.` (dead)"]),
        ("O", Format::Png, ["named .png", "check the file"]),
    ] {
        let error = read_pattern_bytes(text.as_bytes(), Some(named), LIMIT).unwrap_err().to_string();
        assert!(parts.iter().all(|part| error.contains(part)), "{text:?}: {error}");
    }
}

/// Checks that reading a truncated file either fails or returns some of its cells, but never returns an empty board.
#[test]
fn a_truncated_file_is_not_empty() {
    for (text, format) in GLIDERS {
        for end in (1..text.len()).filter(|&end| text.is_char_boundary(end)) {
            let cut = &text[..end];
            let Ok(pattern) = read_pattern_bytes(cut.as_bytes(), Some(format), LIMIT) else { continue };
            let has_dead_cells = cut.trim_end().ends_with('.');
            // This is how Golly and this program write empty boards.
            let is_whole = cut.trim_end() == "#Life 1.06" || format == Format::Macrocell;
            assert!(pattern.population() > 0 || has_dead_cells || is_whole, "{cut:?} as {format}");
        }
    }
}

#[test]
fn a_truncated_picture_is_refused() {
    let mut bytes = Vec::new();
    crate::picture::write_png(&Board::random(40, 30, 0.3, 1).unwrap(), &mut bytes).unwrap();
    let data = bytes.windows(4).position(|name| name == b"IDAT").unwrap();
    for end in 1..bytes.len() {
        let read = read_pattern_bytes(&bytes[..end], Some(Format::Png), LIMIT);
        // The reader ignores bytes after the rows.
        assert!(read.is_err() || end > data + 100, "cut at {end}: {read:?}");
    }
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(GLIDERS[0].0.as_bytes()).unwrap();
    let bytes = gzip.finish().unwrap();
    (1..bytes.len()).for_each(|end| assert!(read(&bytes[..end]).is_err(), "cut at {end}"));
}

/// Checks that a carriage return ends a line, whether or not a newline follows.
#[test]
fn line_ends_are_of_any_kind() {
    for text in [
        "#N Glider\nx = 3, y = 3\nbo$2bo\n$3o!\n",
        "!Name: Glider\n.O\n..O\nOOO\n",
        ".O\n..O\nOOO",
        "#Life 1.05\n#P 0 0\n.*.\n..*\n***\n",
        "#Life 1.06\n1 0\n2 1\n0 2\n1 2\n2 2\n",
        "[M2] (golly)\n#R B3/S23\n.*$..*$***$\n",
        "#MCell 4.20\n#GAME Life\n#L .A$..A$3A\n",
        "xq4_153\n",
    ] {
        let expected = read(text.as_bytes()).unwrap();
        assert_eq!(expected.population(), 5, "{text:?}");
        for end in ["\r", "\r\n", "\r\r\n"] {
            assert_eq!(read(text.replace('\n', end).as_bytes()).as_ref(), Ok(&expected), "{text:?} with {end:?}");
        }
    }
    // An empty line is a row of dead cells.
    assert_eq!(read(b"!\rO\r\rO\r").unwrap().height, 3);
}

#[test]
fn a_bomb_is_refused_with_both_numbers() {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    (0..100).for_each(|_| gzip.write_all(&[b'.'; 1 << 20]).unwrap());
    let bytes = gzip.finish().unwrap();
    let error = read_pattern_bytes(&bytes, None, 1 << 24).unwrap_err().to_string();
    assert!(error.starts_with("it needs ") && error.contains("but only 16 MiB are free"), "{error}");
    assert!(matches!(read(b"\x1f\x8b\x08broken"), Err(FormatError::Picture(_))));
}

#[test]
fn a_picture_comes_back_as_it_was() {
    for (width, height) in [(5, 3), (257, 3), (600, 7), (1, 1)] {
        let board = Board::random(width, height, 0.4, 5).unwrap();
        let mut bytes = Vec::new();
        crate::picture::write_png(&board, &mut bytes).unwrap();
        assert_eq!(
            read_pattern_bytes(&bytes, None, 1 << 22).unwrap().cells().collect::<Vec<_>>(),
            board.cells().collect::<Vec<_>>()
        );
        assert!(matches!(
            read_pattern_bytes(&bytes, None, 3),
            Err(FormatError::TooLarge { .. } | FormatError::Picture(_))
        ));
    }
}

/// Checks that light and opaque pixels are live cells, and that dark or transparent pixels are dead cells.
#[test]
fn light_pixels_are_alive() {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, 3, 2);
    encoder.set_color(png::ColorType::Rgba);
    let mut writer = encoder.write_header().unwrap();
    let (white, clear, green) = ([255, 255, 255, 255], [255, 255, 255, 0], [0, 255, 0, 255]);
    let (red, blue, black) = ([255, 0, 0, 255], [0, 0, 255, 255], [0, 0, 0, 255]);
    writer.write_image_data(&[white, clear, green, red, blue, black].concat()).unwrap();
    writer.finish().unwrap();
    assert_eq!(read(&bytes).unwrap().cells().collect::<Vec<_>>(), [(0, 0), (2, 0)]);
}
