//! What a benchmark measures of an algorithm.

/// One problem over several sizes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Work {
    /// The element type's name.
    pub number: &'static str,
    /// What sets it apart from others of its type, such as "inclusive".
    pub variant: Option<&'static str>,
    /// What is asked for beside the type.
    pub options: &'static [(&'static str, &'static str)],
    /// Whether all rungs of the ladder are measured; else the one that runs where none is named.
    pub is_ladder: bool,
    /// The sizes.
    pub sizes: Sizes,
}

/// Which sizes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sizes {
    /// The lengths of vectors: powers of two.
    Lengths,
    /// The sides of square matrices: powers of two.
    Squares,
    /// A large matrix that is neither square nor of even sides: no kernel's favourite.
    Odd,
    /// The sides of square boards.
    Boards,
}

impl Work {
    /// The last rung on vectors of a type.
    pub const fn vectors(number: &'static str) -> Self {
        Self { number, variant: None, options: &[], is_ladder: false, sizes: Sizes::Lengths }
    }

    /// All rungs.
    pub const fn ladder(self) -> Self {
        Self { is_ladder: true, ..self }
    }

    /// On other sizes.
    pub const fn sizes(self, sizes: Sizes) -> Self {
        Self { sizes, ..self }
    }

    /// A variant, and how it is asked for.
    pub const fn variant(self, variant: &'static str, options: &'static [(&'static str, &'static str)]) -> Self {
        Self { variant: Some(variant), options, ..self }
    }
}
