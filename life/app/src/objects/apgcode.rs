//! Computes an object's apgcode, which is its canonical name. An apgcode consists of the object's kind and a text that
//! describes its cells. The cells have one text for each phase (generation of a period) and orientation, and the
//! shortest of these texts is used. If several texts are shortest, the first one in ASCII order is used.
//!
//! The text has the extended Wechsler format, which [`life_formats::apgcode`] describes. Empty columns at the end of a
//! strip are omitted.

use super::cell_set::CellSet;

/// The maximum length of the text that describes the cells. The apgcode of an object whose texts are longer in all
/// phases has no such text. lifelib has the same maximum.
const MAX_TEXT: usize = 1280;

/// The maximum area of a phase that has a text, in cells, including a border of one cell. lifelib has the same maximum.
const MAX_AREA: i64 = 40_000;

const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";

/// Returns the apgcode of an object. `phases` contains the object's cells in each generation of a period. `moves` is
/// true if the object has moved after a period.
pub fn of(phases: &[CellSet], moves: bool) -> String {
    let kind = match phases {
        _ if moves => format!("q{}", phases.len()),
        [still] => format!("s{}", still.cells().len()),
        _ => format!("p{}", phases.len()),
    };
    let area = |(width, height): (i32, i32)| (i64::from(width) + 2) * (i64::from(height) + 2);
    let phases = phases.iter().filter(|phase| area(phase.size()) <= MAX_AREA);
    let texts = phases.flat_map(|phase| orientations(phase).map(|cells| text(&cells)));
    let shortest = texts.filter(|text| text.len() <= MAX_TEXT).min_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
    shortest.map_or_else(|| format!("ov_{kind}"), |shortest| format!("x{kind}_{shortest}"))
}

/// Returns true if `code` is the apgcode of a spaceship.
pub fn is_spaceship(code: &str) -> bool {
    code.starts_with("xq") || code.starts_with("ov_q")
}

/// Returns `cells` in all eight orientations.
fn orientations(cells: &CellSet) -> impl Iterator<Item = CellSet> {
    let (width, height) = cells.size();
    (0..8).map(move |orientation| {
        let turn = |&(x, y): &(i32, i32)| {
            let x = if orientation & 1 == 0 { x } else { width - 1 - x };
            let y = if orientation & 2 == 0 { y } else { height - 1 - y };
            if orientation & 4 == 0 { (x, y) } else { (y, x) }
        };
        CellSet::new(cells.cells().iter().map(turn).collect()).0
    })
}

/// Returns the text of `cells` in the extended Wechsler format.
fn text(cells: &CellSet) -> String {
    let (width, height) = cells.size();
    let mut strips = vec![vec![0_u8; width as usize]; (height as usize).div_ceil(5)];
    for &(x, y) in cells.cells() {
        strips[y as usize / 5][x as usize] |= 1 << (y % 5);
    }
    let strips: Vec<String> = strips.iter().map(|strip| strip_text(strip)).collect();
    strips.join("z")
}

fn strip_text(columns: &[u8]) -> String {
    let (mut text, mut empty) = (String::new(), 0);
    for &column in columns {
        if column == 0 {
            empty += 1;
            continue;
        }
        while empty > 0 {
            let run: usize = empty.min(39);
            match run {
                1 => text.push('0'),
                2 => text.push('w'),
                3 => text.push('x'),
                _ => text.extend(['y', char::from(DIGITS[run - 4])]),
            }
            empty -= run;
        }
        text.push(char::from(DIGITS[usize::from(column)]));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::identify;
    use life_formats::rle;

    fn codes(pattern: &str) -> Vec<String> {
        let pattern = rle::parse(&format!("x = 40, y = 40\n{pattern}!"), 1 << 20).unwrap();
        let cells = pattern.cells();
        identify(&CellSet::new(cells.map(|(x, y)| (x as i32, y as i32)).collect()).0).unwrap()
    }

    #[test]
    fn well_known_objects_have_their_published_codes() {
        for (pattern, code) in [
            ("2o$2o", "xs4_33"),
            ("3o", "xp2_7"),
            ("b2o$o2bo$b2o", "xs6_696"),
            ("b2o$o2bo$bobo$2bo", "xs7_2596"),
            ("2o$obo$bo", "xs5_253"),
            ("2o$obo$b2o", "xs6_356"),
            ("bo$obo$bo", "xs4_252"),
            ("b2o$o2bo$o2bo$b2o", "xs8_6996"),
            ("b3o$3o", "xp2_7e"),
            ("2o$2o$2b2o$2b2o", "xp2_318c"),
            ("bo$2bo$3o", "xq4_153"),
            ("bo2bo$o$o3bo$4o", "xq4_6frc"),
            (
                "2b3o3b3o2$o4bobo4bo$o4bobo4bo$o4bobo4bo$2b3o3b3o2$2b3o3b3o$o4bobo4bo$o4bobo4bo$o4bobo4bo2$2b3o3b3o",
                "xp3_co9nas0san9oczgoldlo0oldlogz1047210127401",
            ),
            ("2bo4bo$2ob4ob2o$2bo4bo", "xp15_4r4z4r4"),
            ("2o$obo$b2o$3b2o$3bobo$4b2o", "xs12_g8o653z11"),
            ("3o$3o$3o$3b3o$3b3o$3b3o", "xp8_gk2gb3z11"),
        ] {
            assert_eq!(codes(pattern), [code], "{pattern}");
        }
    }

    #[test]
    fn empty_columns_are_counted() {
        for (empty, text) in [(0, "11"), (1, "101"), (2, "1w1"), (3, "1x1"), (4, "1y01"), (14, "1ya1"), (38, "1yy1")] {
            let mut columns = vec![0; empty + 2];
            columns[0] = 1;
            columns[empty + 1] = 1;
            assert_eq!(strip_text(&columns), text);
            columns[empty + 1] = 0;
            assert_eq!(strip_text(&columns), "1");
        }
    }

    #[test]
    fn what_is_large_has_no_text() {
        // Strips of five rows, each with a text of about 200 characters.
        let rows = |rows: i32| CellSet::new((0..rows).flat_map(|y| (0..190).map(move |x| (x, y))).collect()).0;
        assert!(of(&[rows(30), rows(40)], false).starts_with("xp2_vvvv"));
        assert_eq!(of(&[rows(40), rows(40)], false), "ov_p2");
        let line = |length: i32| CellSet::new((0..length).map(|x| (x, 0)).collect()).0;
        assert!(of(&[line(41), line(41)], false).starts_with("xp2_"));
        let wide = CellSet::new(vec![(0, 0), (13_400, 0)]).0;
        assert_eq!(of(&[wide.clone(), wide], true), "ov_q2");
    }
}
