//! Flushes subnormal numbers to zero: marks instructions in the PTX, because `rustc` has no flag for it.

use super::INLINE;

/// The `f32` instructions that support the modifier `.ftz`.
const MARKED: &[&str] = &[
    "abs", "add", "cos", "cvt", "div", "ex2", "fma", "lg2", "mad", "max", "min", "mul", "neg", "rcp", "rsqrt", "set",
    "setp", "sin", "sqrt", "sub",
];

/// Returns the PTX with `.ftz` in every `f32` instruction that supports it, so that subnormal operands and results
/// become zero. Inline assembly is not changed.
pub fn flush_subnormals(ptx: &str) -> String {
    let mut inline = false;
    let mut text = String::with_capacity(ptx.len());
    for line in ptx.split_inclusive('\n') {
        if let Some(mark) = INLINE.iter().position(|&mark| mark == line.trim()) {
            inline = mark == 0;
        }
        match if inline { None } else { flushing(line) } {
            Some(line) => text.push_str(&line),
            None => text.push_str(line),
        }
    }
    text
}

/// Returns the instruction with `.ftz`, or `None` if it does not support this modifier or already has it.
fn flushing(line: &str) -> Option<String> {
    let start = line.len() - line.trim_start().len();
    let (indent, rest) = line.split_at(start);
    // A predicate, such as `@%p1`, may precede the instruction.
    let guard = if rest.starts_with('@') { rest.find(char::is_whitespace)? + 1 } else { 0 };
    let (guard, rest) = rest.split_at(guard);
    let (instruction, operands) = rest.split_at(rest.find(char::is_whitespace)?);
    let parts: Vec<&str> = instruction.split('.').collect();
    let (name, modifiers) = parts.split_first()?;
    if !MARKED.contains(name) || modifiers.contains(&"ftz") {
        return None;
    }
    let place = place(name, modifiers)?;
    let (before, after) = modifiers.split_at(place);
    let marked: Vec<&str> = [&[*name], before, &["ftz"], after].concat();
    Some(format!("{indent}{guard}{}{operands}", marked.join(".")))
}

/// Returns the position of `.ftz` among the modifiers of an instruction, or `None` if it does not support `.ftz`.
fn place(name: &str, modifiers: &[&str]) -> Option<usize> {
    let types = modifiers.len() - modifiers.iter().rev().take_while(|part| is_type(part)).count();
    let saturating = types.checked_sub(1).filter(|&last| modifiers[last] == "sat");
    match (name, &modifiers[types..]) {
        // In `min.NaN` and `max.NaN`, `.ftz` is the first modifier.
        ("min" | "max", ["f32"]) => Some(0),
        // A conversion from an integer has nothing to flush.
        ("cvt", ["f32", "f32" | "f64" | "f16"]) | ("cvt", [_, "f32"]) => Some(saturating.unwrap_or(types)),
        ("set", [_, "f32"]) => Some(types),
        ("cvt" | "set", _) => None,
        (_, ["f32"]) => Some(saturating.unwrap_or(types)),
        _ => None,
    }
}

fn is_type(part: &str) -> bool {
    part.strip_prefix(['f', 's', 'u', 'b']).is_some_and(|bits| matches!(bits, "8" | "16" | "32" | "64" | "16x2"))
        || part.starts_with("bf16")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_knows_the_modifier_has_it_at_its_place() {
        for (before, after) in [
            ("add.rn.f32 \t%r1, %r2, %r3;", "add.rn.ftz.f32 \t%r1, %r2, %r3;"),
            ("sub.f32 \t%r1, %r2, %r3;", "sub.ftz.f32 \t%r1, %r2, %r3;"),
            ("fma.rn.sat.f32 %f1, %f2, %f3, %f4;", "fma.rn.ftz.sat.f32 %f1, %f2, %f3, %f4;"),
            ("@%p1 mul.f32 %f1, %f2, %f3;", "@%p1 mul.ftz.f32 %f1, %f2, %f3;"),
            ("div.full.f32 %f1, %f2, %f3;", "div.full.ftz.f32 %f1, %f2, %f3;"),
            ("sqrt.approx.f32 %f1, %f2;", "sqrt.approx.ftz.f32 %f1, %f2;"),
            ("max.NaN.f32 %f1, %f2, %f3;", "max.ftz.NaN.f32 %f1, %f2, %f3;"),
            ("setp.ltu.f32 %p1, %f1, %f2;", "setp.ltu.ftz.f32 %p1, %f1, %f2;"),
            ("cvt.f64.f32 %fd1, %f1;", "cvt.ftz.f64.f32 %fd1, %f1;"),
            ("cvt.rn.f32.f64 %f1, %fd1;", "cvt.rn.ftz.f32.f64 %f1, %fd1;"),
            ("cvt.rzi.s32.f32 %r1, %f1;", "cvt.rzi.ftz.s32.f32 %r1, %f1;"),
            ("cvt.rn.f32.s32 %f1, %r1;", "cvt.rn.f32.s32 %f1, %r1;"),
            ("add.rn.f64 %fd1, %fd2, %fd3;", "add.rn.f64 %fd1, %fd2, %fd3;"),
            ("add.rn.ftz.f32 %f1, %f2, %f3;", "add.rn.ftz.f32 %f1, %f2, %f3;"),
            ("ld.global.f32 %f1, [%rd1];", "ld.global.f32 %f1, [%rd1];"),
            ("selp.f32 %f1, %f2, %f3, %p1;", "selp.f32 %f1, %f2, %f3, %p1;"),
            ("setp.lt.s32 %p1, %r1, %r2;", "setp.lt.s32 %p1, %r1, %r2;"),
        ] {
            assert_eq!(flush_subnormals(&format!("\t{before}\n")), format!("\t{after}\n"));
        }
    }

    #[test]
    fn inline_assembly_is_left_alone() {
        let text = "\t// begin inline asm\n\tadd.rn.f32 %f1, %f2, %f3;\n\t// end inline asm\n\tneg.f32 %f1, %f2;\n";
        assert_eq!(flush_subnormals(text), text.replace("neg.f32", "neg.ftz.f32"));
    }
}
