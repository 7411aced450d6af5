//! Parses the requirements that a kernel's attribute declares. `wide(…)` names the 16-byte accesses that the code must
//! have, and `allow(…)` the rules that it may break.

use syn::meta::ParseNestedMeta;
use syn::{LitStr, Path};

/// A 16-byte access that a kernel must have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wide {
    /// A load of 16 bytes from global memory.
    Loads,
    /// A store of 16 bytes to global memory.
    Stores,
    /// An asynchronous copy of 16 bytes from global to shared memory.
    Copies,
}

/// A rule for the code of a kernel. The attribute of a kernel may allow an exception.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Rule {
    /// The PTX does not access local memory (`ld.local`, `st.local`). The assembler may replace such accesses by
    /// registers.
    LocalInPtx,
    /// The SASS does not access local memory (`LDL`, `STL`).
    Local,
    /// Every access names its state space (`ld.global`, `LDG`; not `ld`, `LD`).
    Generic,
    /// The kernel has a launch bound (`.maxntid`).
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
    /// Returns the rule's name in an attribute.
    pub fn name(self) -> &'static str {
        RULES.iter().find(|(_, rule)| *rule == self).map_or("", |(name, _)| name)
    }
}

/// The requirements on a kernel's code.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Expected {
    /// The required accesses.
    pub wide: Vec<Wide>,
    /// The rules that the code may break, with the reasons.
    pub allowed: Vec<(Rule, String)>,
}

impl Expected {
    /// Parses an option of an attribute. Returns false if the option is neither `wide` nor `allow`.
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

    /// Returns these requirements combined with the requirements of a group of instances.
    pub(super) fn with(&self, of_group: &Expected) -> Expected {
        let wide = [&self.wide[..], &of_group.wide].concat();
        Expected { wide, allowed: [&self.allowed[..], &of_group.allowed].concat() }
    }
}

/// Returns the element of `all` whose name is `path`.
fn named<T: Copy>(path: &Path, all: &[(&str, T)]) -> syn::Result<T> {
    let found = all.iter().find(|(name, _)| path.is_ident(name)).map(|(_, one)| *one);
    found.ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
        syn::Error::new_spanned(path, format!("expected one of {}", names.join(", ")))
    })
}
