//! Names of the most common objects.

/// Apgcodes and names.
const NAMES: &[(&str, &str)] = &[
    ("xs4_33", "block"),
    ("xp2_7", "blinker"),
    ("xs6_696", "beehive"),
    ("xs7_2596", "loaf"),
    ("xs5_253", "boat"),
    ("xq4_153", "glider"),
    ("xs6_356", "ship"),
    ("xs4_252", "tub"),
    ("xs8_6996", "pond"),
    ("xs7_25ac", "long boat"),
    ("xp2_7e", "toad"),
    ("xs12_g8o653z11", "ship-tie"),
    ("xp2_318c", "beacon"),
    ("xs6_25a4", "barge"),
    ("xs14_g88m952z121", "half-bakery"),
    ("xs8_69ic", "mango"),
    ("xs7_178c", "eater 1"),
    ("xs8_25ak8", "long barge"),
    ("xs6_39c", "aircraft carrier"),
    ("xs14_69bqic", "paperclip"),
    ("xp3_co9nas0san9oczgoldlo0oldlogz1047210127401", "pulsar"),
    ("xs8_35ac", "long ship"),
    ("xs9_31ego", "integral sign"),
    ("xs8_3pm", "shillelagh"),
    ("xs10_g8o652z01", "boat-tie"),
    ("xs6_bd", "snake"),
    ("xs14_g88b96z123", "big S"),
    ("xs16_g88m996z1221", "bi-pond"),
    ("xs9_178ko", "trans-boat with tail"),
    ("xs11_g8o652z11", "boat tie ship"),
    ("xs9_4aar", "hat"),
    ("xs10_35ako", "very long ship"),
    ("xs9_25ako", "very long boat"),
    ("xs8_178k8", "tub with tail"),
    ("xs12_raar", "mirrored table"),
    ("xs18_rhe0ehr", "dead spark coil"),
    ("xs8_312ko", "canoe"),
    ("xs16_j1u0696z11", "beehive on dock"),
    ("xs14_6970796", "cis-mirrored bun"),
    ("xs15_354cgc453", "moose antlers"),
    ("xs10_32qr", "block on table"),
    ("xs14_j1u066z11", "block on dock"),
    ("xs16_69egmiczx1", "scorpion"),
    ("xs10_178kk8", "beehive with tail"),
    ("xs17_2ege1ege2", "twin hat"),
    ("xs10_69ar", "loop"),
    ("xs7_3lo", "long snake"),
    ("xs14_69bo8a6", "fourteener"),
    ("xs14_39e0e93", "cis-mirrored bookend"),
    ("xs9_178kc", "cis-boat with tail"),
    ("xp15_4r4z4r4", "pentadecathlon"),
    ("xq4_6frc", "lightweight spaceship"),
    ("xq4_27dee6", "middleweight spaceship"),
    ("xq4_27deee6", "heavyweight spaceship"),
    ("xp2_2a54", "clock"),
    ("xp2_31ago", "bipole"),
    ("xp8_gk2gb3z11", "figure eight"),
    ("xp4_37bkic", "mold"),
];

/// Returns the name of an object, if it is one of the most common.
pub fn of(code: &str) -> Option<&'static str> {
    NAMES.iter().find(|(known, _)| *known == code).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    /// Still lifes with their ranks among still lifes in Achim Flammenkamp's "Most seen natural occurring ash objects
    /// in Game of Life" (2004), of soups on a torus, as far as LifeWiki's articles on them quote it.
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

    /// `bench/census/soups-256x256.json` is the result of `host life --census --soups 10000 --size 256x256 --density
    /// 0.5 --seed 1`.
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
            // The count equals the count at the published rank, within three standard deviations of both.
            let (here, there) = (count(name), still[rank - 1].1);
            assert!((here - there).abs() <= 3.0 * (here + there).sqrt(), "{name}: {here}, and {there} at rank {rank}");
        }
        let ranks: Vec<&str> = still.iter().take(11).map(|&(name, _)| name).collect();
        assert_eq!(ranks, PUBLISHED.map(|(name, _)| name)[..11], "far from each other");
    }
}
