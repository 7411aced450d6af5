//! Parts of instructions that `asm!` cannot write: its `const` operands are numbers, and names of types are not.

use super::PtxError;

/// The start of the number whose bytes, the lowest first, are characters of the text.
const ASCII: &str = "cuda_std_ascii(";
/// The start of the comment that names registers as operands, although the instruction does not.
const REGISTERS: &str = "// cuda_std registers ";

/// Replaces each `cuda_std_ascii(<number>)` by its characters, and removes the comments that name registers.
pub(super) fn spell(ptx: &str) -> Result<String, PtxError> {
    let mut text = String::with_capacity(ptx.len());
    for line in ptx.split_inclusive('\n').filter(|line| !line.trim_start().starts_with(REGISTERS)) {
        let mut parts = line.split(ASCII);
        text.push_str(parts.next().unwrap_or_default());
        for part in parts {
            let malformed = || PtxError::Ascii(line.trim().to_owned());
            let (number, rest) = part.split_once(')').ok_or_else(malformed)?;
            text.push_str(&characters(number).ok_or_else(malformed)?);
            text.push_str(rest);
        }
    }
    Ok(text)
}

/// Returns the characters in the bytes of `number`, which end before its highest zeros.
fn characters(number: &str) -> Option<String> {
    let bytes = number.parse::<u128>().ok()?.to_le_bytes();
    let len = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    let is_text = bytes[..len].iter().all(|byte| (b' '..=b'~').contains(byte));
    is_text.then(|| bytes[..len].iter().map(|&byte| char::from(byte)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns `text` in the form that `cuda_std` writes.
    fn written(text: &str) -> String {
        let number = text.bytes().rev().fold(0_u128, |number, byte| number << 8 | u128::from(byte));
        format!("{ASCII}{number})")
    }

    /// The types of all products of a warpgroup, and the ends of their operands.
    const TYPES: [(&str, &[&str]); 16] = [
        ("f32.f16.f16", &[", 1, 1, 0, 0", ", 1, 1, 0, 1", ", 1, 1, 1, 0", ", 1, 1, 1, 1", ", 1, 1, 0", ", 1, 1, 1"]),
        ("f16.f16.f16", &[", 1, 1, 0, 0", ", 1, 1, 1"]),
        ("f32.bf16.bf16", &[", 1, 1, 1, 0", ", 1, 1, 0"]),
        ("f32.tf32.tf32", &[", 1, 1"]),
        ("f32.e4m3.e4m3", &[", 1, 1"]),
        ("f32.e4m3.e5m2", &[", 1, 1"]),
        ("f32.e5m2.e4m3", &[", 1, 1"]),
        ("f32.e5m2.e5m2", &[", 1, 1"]),
        ("f16.e4m3.e4m3", &[", 1, 1"]),
        ("f16.e4m3.e5m2", &[", 1, 1"]),
        ("f16.e5m2.e4m3", &[", 1, 1"]),
        ("f16.e5m2.e5m2", &[", 1, 1"]),
        ("s32.s8.s8", &[""]),
        ("s32.s8.u8", &[""]),
        ("s32.u8.s8", &[""]),
        ("s32.u8.u8", &[""]),
    ];

    #[test]
    fn names_of_types_are_spelled() {
        for (types, ends) in TYPES {
            for (n, end) in (8..=256).step_by(8).flat_map(|n| ends.iter().map(move |end| (n, end))) {
                let registers: Vec<String> =
                    (0..n / if types.starts_with("f16") { 4 } else { 2 }).map(|i| format!("%r{i}")).collect();
                let line = |types: &str, end: &str| {
                    let list = registers.join(", ");
                    format!(
                        "\twgmma.mma_async.sync.aligned.m64n{n}k16.{types} {{{list}}}, %rd1, %rd2, %adds{end}; }}\n"
                    )
                };
                assert_eq!(spell(&line(&written(types), &written(end))), Ok(line(types, end)));
            }
        }
    }

    #[test]
    fn registers_are_left_out() {
        let text = format!("\twgmma.{}.sync.aligned;\n\t// cuda_std registers %r1 %r2\n\tret;\n", written("fence"));
        assert_eq!(spell(&text).as_deref(), Ok("\twgmma.fence.sync.aligned;\n\tret;\n"));
    }

    #[test]
    fn what_is_no_text_is_an_error() {
        for wrong in
            ["cuda_std_ascii(", "cuda_std_ascii(x)", "cuda_std_ascii(10)", "cuda_std_ascii(32", "cuda_std_ascii(16640)"]
        {
            assert_eq!(spell(&format!("\tret;\n\t{wrong};\n")), Err(PtxError::Ascii(format!("{wrong};"))));
        }
    }
}
