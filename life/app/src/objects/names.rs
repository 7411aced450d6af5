//! The names of the most common objects.

/// The names as lines of text. Each line contains an apgcode, a tab and a name.
const NAMES: &str = include_str!("object_names.tsv");

/// Returns the name of the object whose apgcode is `code`, or `None` for rare objects.
pub fn of(code: &str) -> Option<&'static str> {
    NAMES.lines().find_map(|line| line.strip_prefix(code)?.strip_prefix('\t'))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    /// Still lifes and their ranks among all still lifes in Achim Flammenkamp's census of soups on a torus, "Most seen
    /// natural occurring ash objects in Game of Life" (2004). LifeWiki's articles on the still lifes quote these ranks.
    const PUBLISHED: [(&str, usize); 14] = [
        ("block", 1),
        ("beehive", 2),
        ("loaf", 3),
        ("boat", 4),
        ("tub", 5),
        ("pond", 6),
        ("ship", 7),
        ("long boat", 8),
        ("ship-tie", 9),
        ("barge", 10),
        ("half-bakery", 11),
        ("integral sign", 19),
        ("boat-tie", 20),
        ("snake", 21),
    ];

    /// Checks the order of still lifes in `bench/census/soups-256x256.json`. This file is the result of `host life
    /// --census --soups 10000 --size 256x256 --density 0.5 --seed 1`.
    #[test]
    fn the_recorded_census_has_the_published_order() {
        let census: Value = serde_json::from_str(include_str!("../../../../bench/census/soups-256x256.json")).unwrap();
        assert_eq!(census["soups"]["soups"], 10_000);
        let kinds = census["kinds"].as_array().unwrap();
        let still: Vec<(&str, f64)> = kinds
            .iter()
            .filter(|kind| kind["code"].as_str().unwrap().starts_with("xs"))
            .map(|kind| (kind["name"].as_str().unwrap_or(""), kind["count"].as_f64().unwrap()))
            .collect();
        let count = |name: &str| still.iter().find(|(still, _)| *still == name).map(|&(_, count)| count).unwrap();
        for (name, rank) in PUBLISHED {
            // The count must equal the published count at this rank, within three standard deviations of both counts.
            let (here, there) = (count(name), still[rank - 1].1);
            assert!((here - there).abs() <= 3.0 * (here + there).sqrt(), "{name}: {here}, and {there} at rank {rank}");
        }
        let ranks: Vec<&str> = still.iter().take(11).map(|&(name, _)| name).collect();
        assert_eq!(ranks, PUBLISHED.map(|(name, _)| name)[..11], "the first 11 ranks are as published");
    }
}
