//! Aligns tensor maps, which are parameters of entries, to 64 bytes. The compiler aligns a parameter to at most 16.

/// The start of the comment with the name of a parameter that is a tensor map.
const TENSOR_MAP: &str = "// cuda_std tensor_map ";

/// Aligns the parameters that comments name to 64 bytes, and removes the comments.
pub(super) fn align_tensor_maps(ptx: String) -> String {
    if !ptx.contains(TENSOR_MAP) {
        return ptx;
    }
    let names: Vec<&str> = ptx.lines().filter_map(|line| line.trim().strip_prefix(TENSOR_MAP)).collect();
    let mut text = String::with_capacity(ptx.len());
    for line in ptx.lines().filter(|line| !line.trim().starts_with(TENSOR_MAP)) {
        let declared = line.trim().strip_prefix(".param .align 16 .b8 ").and_then(|rest| rest.split_once('['));
        match declared {
            Some((name, _)) if names.contains(&name) => text.push_str(&line.replacen(".align 16", ".align 64", 1)),
            _ => text.push_str(line),
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tensor_maps_are_aligned() {
        let ptx = ".visible .entry k(\n\t.param .align 16 .b8 k_param_0[128],\n\t.param .align 16 .b8 k_param_1[128]\n)\n\
            {\n\t// cuda_std tensor_map k_param_1\n\tmov.b64 %rd1, k_param_1;\n}\n";
        let expected = ".visible .entry k(\n\t.param .align 16 .b8 k_param_0[128],\n\t.param .align 64 .b8 k_param_1[128]\n)\n\
            {\n\tmov.b64 %rd1, k_param_1;\n}\n";
        assert_eq!(align_tensor_maps(ptx.to_owned()), expected);
    }
}
