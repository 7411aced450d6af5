//! Describes the memory that a kernel accesses: the named arrays of a launch, and the position of an address in an
//! array.

use std::fmt;

/// The name that reports use for dynamic shared memory.
pub(crate) const DYNAMIC: &str = "dynamic shared memory";

/// The memory spaces that a kernel accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
pub enum Space {
    /// Global memory.
    Global,
    /// A block's shared memory.
    Shared,
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Global => "global",
            Self::Shared => "shared",
        })
    }
}

/// An array that is passed to a launch for a parameter of the kernel. Reports write its elements as `x[3]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// The name of the kernel's parameter.
    pub name: &'static str,
    /// The address of the array's first byte.
    pub start: usize,
    /// The length of the array in bytes.
    pub bytes: usize,
    /// The size of an element of the array in bytes.
    pub element: usize,
    /// `true` if the kernel may write the elements. A kernel may write only memory that is in a writable region.
    pub is_writable: bool,
}

impl Region {
    /// Returns the position of `address` in this array, or `None` if `address` is outside of the array.
    pub(crate) fn position_of(&self, address: usize) -> Option<ArrayPosition> {
        ArrayPosition::find(Some(self.name), (self.start, self.bytes), self.element, address)
    }
}

/// Returns true if `name` is an identifier in the kernel's source and not a description in words.
pub(crate) fn is_of_source(name: &str) -> bool {
    !name.contains(' ')
}

/// Displays the words "of type" and then the name of a type without module paths. Displays nothing if the type is
/// unknown.
pub(crate) struct OfType(pub(crate) Option<&'static str>);

impl fmt::Display for OfType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(of) = self.0 else { return Ok(()) };
        f.write_str(" of type `")?;
        let is_of_path = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':');
        for piece in of.split_inclusive(|c| !is_of_path(c)) {
            f.write_str(piece.rsplit("::").next().unwrap_or(piece))?;
        }
        f.write_str("`")
    }
}

/// A named part of dynamic shared memory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SharedPart {
    /// The name of the part.
    pub name: &'static str,
    /// The type of the part's elements, if known.
    pub element_type: Option<&'static str>,
    /// The offset of the part's first byte in shared memory.
    pub start: usize,
    /// The offset of the byte after the part's last byte.
    pub end: usize,
}

impl fmt::Display for SharedPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, element_type, start, end } = self;
        write!(f, "`{name}`{} (bytes {start}..{end})", OfType(*element_type))
    }
}

/// Writes an array element or byte of the memory space `space` in the form that reports use.
pub(crate) fn fmt_element(
    f: &mut fmt::Formatter<'_>,
    space: Space,
    (array, of): (Option<&'static str>, Option<&'static str>),
    index: usize,
) -> fmt::Result {
    match (array, space) {
        (Some(array), _) if is_of_source(array) => {
            write!(f, "`{array}[{index}]`{} in {space} memory", OfType(of))
        }
        (Some(description), _) => write!(f, "element {index} of {description}"),
        (None, Space::Shared) => write!(f, "shared memory at byte {index}"),
        (None, Space::Global) => write!(f, "global memory at address {index:#x}"),
    }
}

/// The position of an address in an array, which reports write as `x[3]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ArrayPosition {
    /// The array's name, if it has one.
    pub(crate) name: Option<&'static str>,
    /// The type of the array's elements, if the array is a part of dynamic shared memory.
    pub(crate) of: Option<&'static str>,
    /// The address of the array's first byte.
    pub(crate) start: usize,
    /// The length of the array in bytes.
    pub(crate) bytes: usize,
    /// The index of the element that contains the address.
    pub(crate) index: usize,
}

impl ArrayPosition {
    /// Returns true if `address` is in the array.
    pub(crate) fn contains(&self, address: u64) -> bool {
        address.wrapping_sub(self.start as u64) < self.bytes as u64
    }

    /// Returns the array's name and the index of the element, if the array has a name.
    pub(crate) fn named(self) -> Option<(&'static str, usize)> {
        Some((self.name?, self.index))
    }

    /// Returns the position of `address` in the array of `bytes` bytes at `start`. Returns `None` if `address` is
    /// outside of the array.
    pub(crate) fn find(
        name: Option<&'static str>,
        (start, bytes): (usize, usize),
        element: usize,
        address: usize,
    ) -> Option<Self> {
        let offset = address.checked_sub(start).filter(|&offset| offset < bytes)?;
        let element = element.max(1);
        Some(Self { name, of: None, start, bytes, index: offset / element })
    }
}

/// Returns the position of `address` in the first of `regions` that contains `address`.
pub(crate) fn locate(regions: &[Region], address: usize) -> Option<ArrayPosition> {
    regions.iter().find_map(|region| region.position_of(address))
}

/// Returns the name of the region to which a view that begins at `start` belongs. This is a region that begins at
/// `start`, or else a region that contains it. Returns the name of an empty region, or of a region that ends at
/// `start`, only if there is exactly one such region.
pub(crate) fn name_of_view(regions: &[Region], start: usize) -> Option<&'static str> {
    let begins = |region: &&Region| region.start == start && region.bytes > 0;
    let contains = |region: &&Region| start.wrapping_sub(region.start) < region.bytes;
    if let Some(region) = regions.iter().find(begins).or_else(|| regions.iter().find(contains)) {
        return Some(region.name);
    }
    let mut ends = regions.iter().filter(|region| region.start.checked_add(region.bytes) == Some(start));
    ends.next().filter(|_| ends.next().is_none()).map(|region| region.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(name: &'static str, start: usize, bytes: usize) -> Region {
        Region { name, start, bytes, element: 4, is_writable: false }
    }

    #[test]
    fn an_address_is_an_element_of_the_array_that_holds_it() {
        let regions = [region("x", 256, 40), region("y", 512, 4)];
        let position =
            |name, start, bytes, index| Some(ArrayPosition { name: Some(name), of: None, start, bytes, index });
        assert_eq!(locate(&regions, 256), position("x", 256, 40, 0));
        assert_eq!(locate(&regions, 295), position("x", 256, 40, 9));
        assert_eq!(locate(&regions, 512), position("y", 512, 4, 0));
        for address in [0, 255, 296, 516] {
            assert_eq!(locate(&regions, address), None, "{address}");
        }
        assert_eq!(locate(&[], 256), None);
    }

    #[test]
    fn a_view_has_the_name_of_its_array_where_that_is_certain() {
        // The regions are two halves of a buffer, a whole buffer, and an empty region.
        let mut regions =
            vec![region("low", 256, 8), region("high", 264, 8), region("x", 512, 8), region("none", 4, 0)];
        for (start, name) in [(256, "low"), (260, "low"), (264, "high"), (272, "high"), (520, "x"), (4, "none")] {
            assert_eq!(name_of_view(&regions, start), Some(name), "{start}");
        }
        assert_eq!(name_of_view(&regions, 1024), None);
        regions.push(region("nothing", 4, 0));
        assert_eq!(name_of_view(&regions, 4), None);
    }
}
