//! Names of rules.

/// Well-known names and what they stand for. A name is compared without regard to case, blanks and punctuation.
const NAMES: [(&str, &str); 49] = [
    ("Life", "B3/S23"),
    ("Conway", "B3/S23"),
    ("Conway's Life", "B3/S23"),
    ("Conway's Game of Life", "B3/S23"),
    ("Game of Life", "B3/S23"),
    ("LifeHistory", "B3/S23"),
    ("2x2", "B36/S125"),
    ("34 Life", "B34/S34"),
    ("AntiLife", "B0123478/S01234678"),
    ("Anneal", "B4678/S35678"),
    ("Banners", "2367/3457/5"),
    ("Bloomerang", "234/34678/24"),
    ("Brian's Brain", "/2/3"),
    ("Caterpillars", "124567/378/4"),
    ("Cooties", "23/2/8"),
    ("Coral", "B3/S45678"),
    ("Day & Night", "B3678/S34678"),
    ("Day and Night", "B3678/S34678"),
    ("Diamoeba", "B35678/S5678"),
    ("DryLife", "B37/S23"),
    ("Fireworks", "2/13/21"),
    ("Fredkin", "B1357/S02468"),
    ("Frogs", "12/34/3"),
    ("HighLife", "B36/S23"),
    ("Just Friends", "B2-a/S12"),
    ("Lava", "12345/45678/8"),
    ("Life without Death", "B3/S012345678"),
    ("Lines", "012345/458/3"),
    ("Live Free or Die", "B2/S0"),
    ("LongLife", "B345/S5"),
    ("Maze", "B3/S12345"),
    ("Mazectric", "B3/S1234"),
    ("Morley", "B368/S245"),
    ("Move", "B368/S245"),
    ("Pedestrian Life", "B38/S23"),
    ("Persian Rug", "B234/S"),
    ("Plow World", "B378/S012345678"),
    ("Replicator", "B1357/S1357"),
    ("Seeds", "B2/S"),
    ("Serviettes", "B234/S"),
    ("Star Wars", "345/2/4"),
    ("Sticks", "3456/2/6"),
    ("tlife", "B3/S2-i34q"),
    ("Transers", "345/26/5"),
    ("Vote", "B5678/S45678"),
    ("Walled Cities", "B45678/S2345"),
    ("Wolfram 22", "W22"),
    ("Wolfram 30", "W30"),
    ("Xtasy", "1456/2356/16"),
];

/// The rule that `text` names. In `LifeHistory` further states mark cells.
pub(super) fn rule_of(text: &str) -> Option<&'static str> {
    let plain = |name: &str| -> String {
        name.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let text = plain(text);
    NAMES.iter().find(|(name, _)| plain(name) == text).map(|&(_, rule)| rule)
}
