//! Extracts single kernels from a module's PTX, and inserts tables into it.
//!
//! The driver compiles all kernels of a module before it returns the first, and each kernel takes 10 to 180 ms. This
//! crate therefore passes the driver only the requested kernels, and the functions and variables that they use.
//!
//! # Design
//!
//! Several kernels are compiled at the same time, each separately (`compiling.rs`). A launch then waits only for its
//! own kernel. A module's text is parsed once (`outline.rs`), however many kernels are extracted from it.
//!
//! The kernels of a module that use statics are loaded together, once per device, so that they share the statics.
//! The tables of `lop3_given`, from `LaunchConfig::tables`, are inserted into the text as constants. The driver then
//! compiles the text once for each list of tables. The simulator reads the tables from the launch.

use std::ops::Range;

mod outline;

pub(crate) use outline::Outline;

/// The start of the comment that marks the place of a truth table in PTX. The comment follows the number that the table
/// replaces.
const TABLE: &str = "/*table ";

/// A piece of a module's text at the outermost level.
struct Item<'t> {
    /// The byte range of the item in the module's text.
    range: Range<usize>,
    /// The name that the item declares, or `None` for a directive, which is always kept.
    name: Option<&'t str>,
    /// True if the item is a kernel.
    is_entry: bool,
    /// True if the host also accesses the item by name, so that every kernel must use the same instance.
    is_shared_with_host: bool,
}

/// Properties of a kernel that its text shows.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Traits {
    /// True if the kernel itself waits for the previous launches. Such a kernel may start while they run.
    pub(crate) waits: bool,
    /// True if the text has placeholders for tables.
    pub(crate) has_placeholders: bool,
}

impl Traits {
    /// Returns the properties of the kernel that `text` contains alone.
    pub(crate) fn of(text: &str) -> Self {
        Self { waits: text.contains("griddepcontrol.wait"), has_placeholders: text.contains(TABLE) }
    }
}

/// Returns the PTX `text` with `tables` inserted.
///
/// # Errors
/// The index of the first table that is missing in `tables`.
pub(crate) fn with_tables(text: &str, tables: &[u8]) -> Result<String, usize> {
    let mut result = String::with_capacity(text.len());
    let mut parts = text.split(TABLE);
    result.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let digits = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
        let index = part[..digits].parse().unwrap_or(usize::MAX);
        let table = tables.get(index).ok_or(index)?;
        // The placeholder is the number before the comment.
        let number = result.trim_end().trim_end_matches(|c: char| c.is_ascii_digit()).len();
        result.truncate(number);
        result.push_str(&format!("{table} {TABLE}{part}"));
    }
    Ok(result)
}

/// Splits a module's text into items. Returns `None` if it has sections, aliases or unmatched braces.
fn items(module: &str) -> Option<Vec<Item<'_>>> {
    let mut items = Vec::new();
    let mut rest = skip_blank(module);
    while !rest.is_empty() {
        let directive = rest.split(|c: char| c.is_whitespace()).next().unwrap_or_default();
        let len = match directive {
            ".version" | ".target" | ".address_size" | ".file" => rest.find('\n').unwrap_or(rest.len()),
            ".section" | ".alias" | ".pragma" => return None,
            _ => end_of_item(rest)?,
        };
        let (text, after) = rest.split_at(len);
        let begin = module.len() - rest.len();
        let is_directive = matches!(directive, ".version" | ".target" | ".address_size" | ".file");
        let name = if is_directive { None } else { Some(declared(text)?) };
        let mut head = text.split_whitespace();
        let is_shared_with_host =
            directive == ".visible" && head.nth(1).is_some_and(|kind| kind == ".global" || kind == ".const");
        let signature = text.split(['(', '{', ';']).next().unwrap_or_default();
        let is_entry = !is_directive && signature.split_whitespace().any(|word| word == ".entry");
        items.push(Item { range: begin..begin + len, name, is_entry, is_shared_with_host });
        rest = skip_blank(after);
    }
    Some(items)
}

/// Returns the length of the first declaration or definition in `text`: up to its semicolon or a function's closing
/// brace.
fn end_of_item(text: &str) -> Option<usize> {
    let begins = text.find(['{', ';'])?;
    let is_function = text[..begins].split_whitespace().any(|word| word == ".entry" || word == ".func");
    let (mut depth, mut at) = (0_usize, 0);
    loop {
        at += text.as_bytes()[at..].iter().position(|byte| matches!(byte, b'{' | b'}' | b';' | b'"' | b'/'))?;
        match text.as_bytes()[at] {
            b'{' => depth += 1,
            b'}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 && is_function {
                    return Some(at + 1);
                }
            }
            b';' if depth == 0 => return Some(at + 1),
            b'"' => at += 1 + text[at + 1..].find('"')?,
            b'/' => at = (text.len() - skip_blank(&text[at..]).len()).max(at + 1) - 1,
            _ => {}
        }
        at += 1;
    }
}

/// Returns the name that an item declares. The name follows the directives, their numbers, and a function's result in
/// parentheses.
fn declared(item: &str) -> Option<&str> {
    let mut rest = item;
    loop {
        rest = skip_blank(rest);
        match rest.chars().next()? {
            '(' => rest = &rest[rest.find(')')? + 1..],
            '.' => rest = &rest[1 + rest[1..].find(|c: char| !is_word(c)).unwrap_or(rest.len() - 1)..],
            c if c.is_ascii_digit() || c == ',' => rest = &rest[1..],
            c if is_word(c) => return Some(&rest[..rest.find(|c: char| !is_word(c)).unwrap_or(rest.len())]),
            _ => return None,
        }
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%')
}

/// Returns the words of `text`, including those in comments and strings. At worst, a superfluous word keeps an item
/// that no kernel needs.
fn words(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let begin = at + text[at..].find(is_word)?;
        let end = text[begin..].find(|c: char| !is_word(c)).map_or(text.len(), |len| begin + len);
        at = end;
        Some(begin..end)
    })
}

/// Returns `text` from its first character that is neither white space nor in a comment.
fn skip_blank(text: &str) -> &str {
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        let end = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else {
            return rest;
        };
        rest = &rest[end..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries_alone(module: &str, entries: &[&str]) -> Option<String> {
        Outline::new(module.into())?.part(entries)
    }

    const MODULE: &str = "//\n// made by LLVM\n//\n\n.version 7.8\n.target sm_90\n.address_size 64\n
	// .globl	first
.extern .shared .align 16 .b8 dynamic[];
.extern .func  (.param .b32 func_retval0) vprintf
(
	.param .b64 vprintf_param_0
)
;
.shared .align 16 .b8 first_tile[8]; /* { */
.shared .align 16 .b8 second_tile[16];
.global .align 4 .b8 words[8] = {1, 2, 3, 4, 5, 6, 7, 8};
.visible .global .align 4 .b8 counter[4];
.func  (.param .b32 func_retval0) helper(
	.param .b32 helper_param_0
)
{
	ld.global.u32 %r1, [words]; // } not an end
	ret;
}
.visible .entry first(
	.param .u64 first_param_0
)
.maxntid 512, 1, 1
{
	.reg .b32 %r<4>;
	{ // callseq
	call.uni (retval0), helper, (param0);
	}
	lop3.b32 %r1, %r2, %r3, %r4, 27 /*table 1*/;
	lop3.b32 %r1, %r2, %r3, %r4, 8/*table 0*/;
	st.shared.u32 [first_tile], %r1;
}
.visible .entry second(
)
{
	st.shared.u32 [second_tile], %r1;
	mov.u64 %rd1, dynamic;
}
.visible .entry third()
{
	ld.global.u32 %r1, [counter];
}
";

    #[test]
    fn a_kernel_is_extracted_with_its_dependencies_only() {
        let first = entries_alone(MODULE, &["first"]).unwrap();
        for kept in [
            ".version 7.8\n",
            ".target sm_90\n",
            ".address_size 64\n",
            "first_tile[8];",
            "words[8] = {1,",
            ".entry first",
            "helper(",
        ] {
            assert!(first.contains(kept), "{kept}: {first}");
        }
        for left in ["second", "third", "counter", "vprintf", "dynamic"] {
            assert!(!first.contains(left), "{left}: {first}");
        }
        let second = entries_alone(MODULE, &["second"]).unwrap();
        assert!(
            second.contains("dynamic[];") && second.contains("second_tile[16]") && !second.contains("first"),
            "{second}"
        );
    }

    #[test]
    fn several_kernels_are_extracted_with_their_dependencies_once() {
        let both = entries_alone(MODULE, &["second", "first"]).unwrap();
        for kept in
            ["first_tile[8];", "second_tile[16];", "words[8] = {1,", ".entry first(", ".entry second(", "dynamic[];"]
        {
            assert_eq!(both.matches(kept).count(), 1, "{kept}: {both}");
        }
        assert!(!both.contains("third") && !both.contains("counter"), "{both}");
        assert_eq!(entries_alone(MODULE, &["first", "third"]), None);
    }

    #[test]
    fn a_kernel_that_shares_a_static_stays_with_the_others() {
        assert_eq!(entries_alone(MODULE, &["third"]), None);
        assert_eq!(entries_alone(MODULE, &["fourth"]), None);
        assert_eq!(entries_alone(&format!("{MODULE}.section .debug_info {{ }}\n"), &["first"]), None);
        assert_eq!(entries_alone(&MODULE[..MODULE.len() - 3], &["first"]), None);
    }

    #[test]
    fn tables_replace_their_placeholders() {
        let text = with_tables(MODULE, &[0x96, 0xe8]).unwrap();
        assert!(text.contains("%r4, 232 /*table 1*/;") && text.contains("%r4, 150 /*table 0*/;"), "{text}");
        assert_eq!(with_tables(MODULE, &[0x96]), Err(1));
        assert_eq!(with_tables("ret;", &[]), Ok("ret;".to_owned()));
    }

    #[test]
    fn every_kernel_of_the_project_is_extracted_whole() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../gpu/ptx");
        let mut kernels = 0;
        for file in std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()) {
            if file.extension().is_none_or(|extension| extension != "ptx") {
                continue;
            }
            let module = std::fs::read_to_string(&file).unwrap();
            let names = module.match_indices(".entry ").map(|(at, _)| declared(&module[at + 7..]).unwrap());
            for name in names {
                let alone = entries_alone(&module, &[name]).unwrap_or_else(|| panic!("{name} of {}", file.display()));
                assert_eq!(alone.matches(".entry").count(), 1, "{name}");
                assert!(alone.contains(&format!(".entry {name}(")));
                kernels += 1;
            }
        }
        assert!(kernels > 500, "{kernels}");
    }

    #[test]
    fn a_function_that_is_declared_before_its_definition_keeps_both() {
        let module = ".version 7.8\n.func helper()\n;\n.visible .entry first()\n{\n\tcall.uni helper, ();\n}\n\
                      .func helper()\n{\n\tret;\n}\n.visible .entry second()\n{\n}\n";
        let alone = entries_alone(module, &["first"]).unwrap();
        assert!(alone.matches("helper").count() == 3 && !alone.contains("second"), "{alone}");
    }
}
