//! What a kernel's attribute says of its code: `wide(…)`, the accesses of 16 bytes that it must have, and `allow(…)`,
//! what it may have and others may not.

use syn::meta::ParseNestedMeta;
use syn::{LitStr, Path};

/// An access of 16 bytes that a kernel is written for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wide {
    /// It loads 16 bytes at once from global memory.
    Loads,
    /// It stores 16 bytes at once to global memory.
    Stores,
    /// It copies 16 bytes at once from global to shared memory, past the registers.
    Copies,
}

/// What a kernel may not have, unless its attribute allows it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Rule {
    /// The compiler keeps nothing in local memory (`ld.local`, `st.local` in the PTX). What it keeps there the
    /// assembler can still put into registers.
    LocalInPtx,
    /// The assembler keeps nothing in local memory (`LDL`, `STL` in the SASS).
    Local,
    /// An access names its state space (`ld.global`, `LDG`; not `ld`, `LD`).
    Generic,
    /// The launch is bounded (`.maxntid`).
    Unbounded,
}

const WIDE: [(&str, Wide); 3] = [("loads", Wide::Loads), ("stores", Wide::Stores), ("copies", Wide::Copies)];
const RULES: [(&str, Rule); 4] = [
    ("local_in_ptx", Rule::LocalInPtx),
    ("local", Rule::Local),
    ("generic", Rule::Generic),
    ("unbounded", Rule::Unbounded),
];

impl Rule {
    /// Its name in an attribute.
    pub fn name(self) -> &'static str {
        RULES.iter().find(|(_, rule)| *rule == self).map_or("", |(name, _)| name)
    }
}

/// What is expected of a kernel's code.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Expected {
    /// The accesses that it must have.
    pub wide: Vec<Wide>,
    /// The rules that do not hold for it, each with the reason.
    pub allowed: Vec<(Rule, String)>,
}

impl Expected {
    /// Takes an option of an attribute, and says whether it is one of these.
    pub(super) fn take(&mut self, meta: &ParseNestedMeta<'_>) -> syn::Result<bool> {
        if meta.path.is_ident("wide") {
            meta.parse_nested_meta(|access| {
                self.wide.push(named(&access.path, &WIDE)?);
                Ok(())
            })?;
        } else if meta.path.is_ident("allow") {
            meta.parse_nested_meta(|rule| {
                let reason: LitStr = rule.value()?.parse()?;
                self.allowed.push((named(&rule.path, &RULES)?, reason.value()));
                Ok(())
            })?;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// This, and what a group of instances has beside it.
    pub(super) fn with(&self, of_group: &Expected) -> Expected {
        let wide = [&self.wide[..], &of_group.wide].concat();
        Expected { wide, allowed: [&self.allowed[..], &of_group.allowed].concat() }
    }
}

/// The one of `all` that a path names.
fn named<T: Copy>(path: &Path, all: &[(&str, T)]) -> syn::Result<T> {
    let found = all.iter().find(|(name, _)| path.is_ident(name)).map(|(_, one)| *one);
    found.ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
        syn::Error::new_spanned(path, format!("expected one of {}", names.join(", ")))
    })
}
