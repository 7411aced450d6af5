//! State spaces that `rustc` cannot express: shared arrays of functions, and constant memory.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::PtxError;

/// The start of the comment that requests the declaration of a shared array.
const SHARED_ARRAY: &str = "// cuda_std shared_array ";
/// The start of the comment that puts a static into constant memory.
const CONSTANT: &str = "// cuda_std constant ";

/// Declares the shared arrays that comments request, and moves statics to constant memory.
pub(super) fn place(ptx: &str) -> Result<String, PtxError> {
    let mut arrays: BTreeMap<&str, u64> = BTreeMap::new();
    let mut constants: BTreeMap<&str, &str> = BTreeMap::new();
    let mut lines = Vec::new();
    for line in ptx.lines() {
        let comment = line.trim();
        if let Some(rest) = comment.strip_prefix(SHARED_ARRAY) {
            let array = rest.split_once(' ').and_then(|(symbol, bytes)| Some((symbol, bytes.parse().ok()?)));
            let (symbol, bytes) = array.ok_or_else(|| PtxError::Space(comment.to_owned()))?;
            arrays.insert(symbol, bytes);
        } else if let Some(symbol) = comment.strip_prefix(CONSTANT) {
            constants.insert(symbol, comment);
        } else {
            lines.push(line);
        }
    }
    let mut text = String::with_capacity(ptx.len() + 64);
    for line in lines {
        match declared(line).filter(|symbol| constants.remove(symbol).is_some()) {
            Some(_) => text.push_str(&line.replacen(".global", ".const", 1)),
            None => text.push_str(line),
        }
        text.push('\n');
        if line.starts_with(".address_size") {
            for (symbol, bytes) in std::mem::take(&mut arrays) {
                let _ = writeln!(text, ".shared .align 16 .b8 {symbol}[{bytes}];");
            }
        }
    }
    let left = constants.into_values().map(str::to_owned).chain(arrays.into_keys().map(str::to_owned)).next();
    left.map_or(Ok(text), |comment| Err(PtxError::Space(comment)))
}

/// Aligns dynamic shared memory to 1024 bytes if the module has tensor maps or products of warpgroups: their tiles
/// begin at a multiple of up to 1024 bytes.
pub(super) fn align_dynamic(ptx: String) -> String {
    const DECLARED: &str = ".extern .shared .align 16 .b8 cuda_std_dynamic_shared[];";
    let has_tiles = ["cp.async.bulk.tensor.", "wgmma.mma_async."].iter().any(|instruction| ptx.contains(instruction));
    if has_tiles { ptx.replacen(DECLARED, &DECLARED.replace("16", "1024"), 1) } else { ptx }
}

/// Returns the symbol that the line declares in global memory, if it declares one.
fn declared(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace().skip_while(|&word| word == ".visible");
    (words.next()? == ".global").then_some(())?;
    let symbol = words.find(|word| !word.starts_with('.') && !word.starts_with(|c: char| c.is_ascii_digit()))?;
    symbol.split(['[', ';', ' ']).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = "\
.version 7.8
.target sm_90
.address_size 64

\t// cuda_std constant weights
.visible .global .align 4 .b8 weights[12] = {0, 0, 128, 63, 0, 0, 0, 64, 0, 0, 64, 64};
.visible .global .align 4 .u32 others = 7;
.visible .entry k()
{
\t// cuda_std shared_array a_1_64 64
\tmov.u32 %r1, a_1_64;
\t// cuda_std shared_array a_0_16 16
\tmov.u32 %r2, a_0_16;
\t// cuda_std shared_array a_1_64 64
\tmov.u32 %r3, a_1_64;
\tret;
}
";

    #[test]
    fn arrays_are_declared_once_and_constants_are_constant() {
        let text = place(MODULE).unwrap();
        let declared = ".address_size 64\n.shared .align 16 .b8 a_0_16[16];\n.shared .align 16 .b8 a_1_64[64];\n";
        assert!(text.contains(declared), "{text}");
        assert!(text.contains("\n.visible .const .align 4 .b8 weights[12] = {0,"), "{text}");
        assert!(text.contains("\n.visible .global .align 4 .u32 others = 7;"), "{text}");
        assert!(!text.contains("cuda_std"), "{text}");
        assert_eq!(place(&text).as_deref(), Ok(&*text));
    }

    #[test]
    fn tiles_align_dynamic_shared_memory() {
        let declared = ".extern .shared .align 16 .b8 cuda_std_dynamic_shared[];\n";
        assert_eq!(align_dynamic(declared.to_owned()), declared);
        for instruction in ["wgmma.mma_async.sync.aligned.m64n8k16", "cp.async.bulk.tensor.2d.shared::cluster"] {
            let text = align_dynamic(format!("{declared}\t{instruction};\n"));
            assert!(text.starts_with(".extern .shared .align 1024 .b8 cuda_std_dynamic_shared[];\n"), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_followed_is_an_error() {
        for wrong in ["// cuda_std shared_array a", "// cuda_std shared_array a many", "// cuda_std constant weigh"] {
            assert_eq!(place(&format!("{MODULE}{wrong}\n")), Err(PtxError::Space(wrong.to_owned())));
        }
    }
}
