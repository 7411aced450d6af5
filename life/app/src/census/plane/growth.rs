//! Names soups that grow for ever at a constant rate, by apgsearch's codes of linear growth.

use std::fmt::Write;

use md5::{Digest, Md5};

use crate::fate::plane_of;
use crate::objects::Counts;

/// The maximum period of growth, in generations. As many populations are compared.
const MAX_PERIOD: usize = 1000;

/// Returns the code of the pattern `cells`, which are alive on the plane. Returns `None` if it does not grow linearly,
/// or if the host has too little memory to know.
pub fn code_of(rule: Counts, cells: impl IntoIterator<Item = (i64, i64)>) -> Option<String> {
    let mut plane = plane_of(rule, cells).ok()?;
    let mut populations = vec![plane.population().into()];
    while populations.len() < 3 * MAX_PERIOD {
        let (births, deaths) = plane.advance_counting().ok()?;
        populations.push(*populations.last()? + i128::from(births) - i128::from(deaths));
    }
    code(&populations)
}

/// Returns the code of a pattern whose populations in consecutive generations are `populations`. Returns `None` if it
/// does not grow linearly, or if there are fewer populations than three times [`MAX_PERIOD`].
///
/// The code is `yl` with the period p of the growth, the period q of the differences of populations that are p
/// generations apart, and the growth in p times q generations. The last part is the MD5 hash of the sums of squares and
/// cubes of the differences of populations that are q generations apart.
fn code(populations: &[i128]) -> Option<String> {
    if populations.len() < 3 * MAX_PERIOD {
        return None;
    }
    let lag = |p: usize| -> Vec<i128> {
        (0..2 * MAX_PERIOD).filter_map(|i| Some(populations.get(i + p)? - populations[i])).collect()
    };
    let has_period =
        |differences: &[i128], p: usize| (0..MAX_PERIOD).all(|i| differences.get(i) == differences.get(i + p));
    let period = (1..MAX_PERIOD).find(|&p| has_period(&lag(p), p))?;
    let differences = lag(period);
    let step = (1..MAX_PERIOD).find(|&q| has_period(&differences, q))?;
    let sum = |power: u32| (0..period).map(|i| (populations[i + step] - populations[i]).pow(power)).sum::<i128>();
    if sum(1) == 0 {
        return None;
    }
    let mut code = format!("yl{period}_{step}_{}_", sum(1));
    for byte in Md5::digest(format!("{}#{}", sum(2), sum(3)).as_bytes()) {
        // Writing to a string does not fail.
        let _ = write!(code, "{byte:02x}");
    }
    Some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_glider_producing_switch_engine_has_its_published_code() {
        let pattern = life_formats::rle::parse(crate::fate::tests::GLIDER_PRODUCING, 1 << 20).unwrap();
        let code = code_of(Counts::LIFE, pattern.cells().map(|(x, y)| (x as i64, y as i64)));
        assert_eq!(code.as_deref(), Some("yl384_1_59_7aeb1999980c43b4945fb7fcdb023326"));
    }

    #[test]
    fn only_linear_growth_has_a_code() {
        let of = |population: fn(i128) -> i128| code(&(0..3 * MAX_PERIOD as i128).map(population).collect::<Vec<_>>());
        // The MD5 hashes are those of "4#8" and "16#64".
        assert_eq!(of(|i| 10 + 2 * i).as_deref(), Some("yl1_1_2_87fb0b806f20fc14a679c61e9e0e6e5b"));
        assert_eq!(of(|i| 7 + i / 4 * 4).as_deref(), Some("yl4_1_4_55b0d14e1c2115f1fb6293a28cb82184"));
        assert_eq!((of(|_| 5), of(|i| i % 2), of(|i| i * i)), (None, None, None));
        assert_eq!(code(&[1, 2, 3]), None);
    }
}
