//! The universe of a run: its rule, its topology, and the directions in which its board grows.

use life::topology::{Edges, odd_klein_side};
use life::{Grid, LifeRung, Rule, RuleAndTopology, Topology, check_rule};

use program::error::UsageError;

/// The rule of a run, the topology of its board, and the directions in which the board grows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Universe {
    /// The rule that advances the board.
    pub rule: Rule,
    /// The topology, which determines how the edges of the board are joined.
    pub topology: Topology,
    /// Two flags, for the horizontal and the vertical direction. A flag is true if the direction is unbounded. In
    /// unbounded directions the board grows before live cells reach an edge.
    pub grows: [bool; 2],
    /// The generation of the first board. Rules with B0 (births without neighbours) differ in even and odd generations.
    pub generation: u64,
}

impl Universe {
    /// Returns the universe that `text` describes. Also returns the grid of the suffix if `text` has a suffix.
    pub fn of(text: RuleAndTopology) -> (Self, Option<Grid>) {
        let RuleAndTopology { rule, grid } = text;
        let universe = match grid {
            None => Self { rule, topology: Topology::Plane, grows: [true; 2], generation: 0 },
            Some(Grid { topology, width, height }) => {
                Self { rule, topology, grows: [width == 0, height == 0], generation: 0 }
            }
        };
        (universe, grid)
    }

    /// Returns this universe, but bounded in both directions. The plane and a tube become a torus.
    pub fn bounded(self) -> Self {
        let topology = match (self.topology, self.grows) {
            (Topology::Plane, [true, true]) | (Topology::Tube(_), _) => Topology::TORUS,
            (topology, _) => topology,
        };
        Self { topology, grows: [false; 2], ..self }
    }

    /// Returns true if the board grows in both directions.
    pub fn is_unbounded(&self) -> bool {
        self.grows == [true; 2]
    }

    /// Returns the rule and the grid in Golly's notation, for a board of this size.
    pub fn text(&self, size: (usize, usize)) -> String {
        RuleAndTopology { rule: self.rule, grid: self.grid(size) }.to_string()
    }

    /// Returns the suffix of the rule for a board of this size. The suffix is empty for the unbounded plane.
    pub fn suffix(&self, size: (usize, usize)) -> String {
        self.grid(size).map_or(String::new(), |grid| grid.to_string())
    }

    fn grid(&self, (width, height): (usize, usize)) -> Option<Grid> {
        let [width, height] =
            [(self.grows[0], width), (self.grows[1], height)].map(|(grows, side)| if grows { 0 } else { side });
        (!self.is_unbounded()).then_some(Grid { topology: self.topology, width, height })
    }

    /// Checks that the topology allows a board of this size.
    ///
    /// # Errors
    /// [`UsageError`] for a sphere with unequal sides, and for a shifted Klein bottle whose twisted side is odd.
    pub fn check_size(&self, (width, height): (usize, usize)) -> Result<(), UsageError> {
        match self.topology {
            Topology::Sphere if width != height => {
                let sides = format!("a sphere (:S) needs equal sides, but {width}x{height} was given");
                Err(UsageError(format!("{sides}: use {width}x{width} or {height}x{height}")))
            }
            Topology::Klein { twisted, is_shifted: true } => {
                let side = if twisted == Edges::Horizontal { width } else { height };
                if side.is_multiple_of(2) { Ok(()) } else { Err(UsageError(odd_klein_side(twisted, side))) }
            }
            _ => Ok(()),
        }
    }

    /// Returns the topology that kernels must use. Kernels compute the unbounded plane as a torus, because no live cell
    /// reaches the edges of the board.
    pub fn kernel_topology(&self) -> Topology {
        if self.is_unbounded() { Topology::TORUS } else { self.topology }
    }

    /// Returns the reason why no kernel can advance a board in this universe, or `None` if a kernel can.
    pub fn why_no_kernel(&self) -> Option<String> {
        let Self { rule, topology, .. } = self;
        if check_rule(LifeRung::Bitpacked, rule).is_err() {
            let kernels = "the kernels run rules of two states, and Generations of up to four that count neighbours";
            return Some(format!("{kernels}, not {rule}"));
        }
        let is_supported = self.kernel_topology() == Topology::TORUS || check_rule(LifeRung::Streaming, rule).is_ok();
        let rules = "rules of two states that count their eight neighbours";
        (!is_supported).then(|| format!("on {topology} the kernels run {rules}, not {rule}"))
    }

    /// Returns the reason why kernels cannot advance a board in bands in this universe, or `None` if they can.
    pub fn why_no_bands(&self) -> Option<String> {
        let topology = self.kernel_topology();
        let kernels = "the kernels of several devices run a torus without a shift or the unbounded plane";
        (topology != Topology::TORUS).then(|| format!("{kernels}, not {topology}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn universe(text: &str) -> Universe {
        Universe::of(text.parse().unwrap()).0
    }

    #[test]
    fn settings_are_written_as_they_are_read() {
        for text in ["B3/S23", "/2/3:T30,20", "B36/S23:P30,20", "B3/S23:T0,20", "B3/S23:P30,0", "B3/S23:K30,20*"] {
            assert_eq!(universe(text).text((30, 20)), text);
        }
        assert_eq!(universe("B3/S23:S30").suffix((30, 30)), ":S30");
        assert_eq!(universe("B3/S23").bounded(), Universe::default());
        assert_eq!(universe("B3/S23:T0,20").bounded(), Universe::default());
        assert_eq!(universe("B3/S23:P9,9").bounded().topology, Topology::Plane);
    }

    #[test]
    fn sizes_that_a_topology_cannot_have_are_refused_with_those_that_it_can() {
        for (text, size, message) in [
            (
                "Life:K30*+1,20",
                (5, 20),
                "a shifted Klein bottle needs an even width, but 5 was given: use 4 or 6, or leave out the shift `+1`",
            ),
            (
                "Life:K30,20*+1",
                (30, 1),
                "a shifted Klein bottle needs an even height, but 1 was given: use 2, or leave out the shift `+1`",
            ),
            ("Life:S30", (7, 9), "a sphere (:S) needs equal sides, but 7x9 was given: use 7x7 or 9x9"),
        ] {
            let UsageError(said) = universe(text).check_size(size).unwrap_err();
            assert_eq!(said, message, "{text}");
        }
        for (text, size) in [
            ("Life:K30*+1,20", (4, 5)),
            ("Life:K30,20*+1", (5, 4)),
            ("Life:K30*,20", (5, 5)),
            ("Life:S30", (7, 7)),
            ("Life:C30,20", (7, 9)),
        ] {
            assert_eq!(universe(text).check_size(size).err().map(|UsageError(text)| text), None, "{text}");
        }
    }

    #[test]
    fn kernels_are_for_some() {
        for text in
            ["Life", "Life:T5,6", "HighLife", "/2/3", "B2-a/S12", "B3/S012V", "B2/S/C4", "HighLife:S5", "B03/S23:P5,6"]
        {
            assert_eq!(universe(text).why_no_kernel(), None, "{text}");
        }
        for (text, part) in [
            ("/2/5", "/2/5"),
            ("B2-a/S/C3", "up to four"),
            ("/2/3:T5+1,6", "shifted torus"),
            ("B2-a/S12:P5,6", "bounded plane"),
            ("B3/S012V:K5*,6", "Klein"),
        ] {
            let why = universe(text).why_no_kernel().unwrap();
            assert!(why.contains(part), "{text}: {why}");
        }
        for (text, part) in [
            ("Life:T5+1,6", "shifted torus"),
            ("Life:T0,6", "tube"),
            ("Life:P5,6", "bounded plane"),
            ("Life:K5*,6", "Klein"),
            ("Life:C5,6", "cross-surface"),
            ("Life:S5", "sphere"),
        ] {
            assert_eq!(universe(text).why_no_kernel(), None, "{text}");
            let why = universe(text).why_no_bands().unwrap();
            assert!(why.contains(part), "{text}: {why}");
        }
        assert_eq!(universe("Life").why_no_bands().or(universe("Life:T5,6").why_no_bands()), None);
    }
}
