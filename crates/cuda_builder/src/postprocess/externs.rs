//! The external functions of a PTX text, which it calls and does not define.

use std::borrow::Cow;

/// The names of the external functions that the driver provides.
pub const PROVIDED: [&str; 4] = ["vprintf", "malloc", "free", "__assertfail"];

/// C's functions for comparing bytes, with which `core` compares slices of integers. LLVM assumes that they exist.
const COMPARISONS: [&str; 2] = ["memcmp", "bcmp"];

/// Adds the bodies of `memcmp` and `bcmp` to `ptx`, if it declares these functions.
pub fn define_comparisons(ptx: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(ptx);
    for name in COMPARISONS {
        let mut lines = text.split_inclusive('\n').scan(0, |at, line| {
            *at += line.len();
            Some((*at - line.len(), line))
        });
        let Some((start, line)) = lines.find(|(_, line)| declared(line) == Some(name)) else { continue };
        let Some((end, _)) = lines.find(|(_, line)| line.trim() == ";") else { continue };
        let declaration = text[start..end].replacen(".extern ", "", 1);
        let result = line.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map_or("", |(result, _)| result);
        let result = result.rsplit(' ').next().unwrap_or_default();
        let after = text[end..].split_once(';').map_or("", |(_, after)| after);
        text = Cow::Owned(format!("{}{declaration}{}{after}", &text[..start], comparison(name, result)));
    }
    text
}

/// Returns the body of a comparison. If both addresses are multiples of four, the body compares words as long as they
/// are equal. It then compares bytes.
fn comparison(name: &str, result: &str) -> String {
    format!(
        "{{
	.reg .pred %p<6>;
	.reg .b32 %r<8>;
	.reg .b64 %rd<6>;
	ld.param.b64 %rd1, [{name}_param_0];
	ld.param.b64 %rd2, [{name}_param_1];
	ld.param.b64 %rd3, [{name}_param_2];
	mov.b32 %r1, 0;
	or.b64 %rd4, %rd1, %rd2;
	and.b64 %rd4, %rd4, 3;
	setp.ne.b64 %p1, %rd4, 0;
	@%p1 bra ${name}_bytes;
${name}_words:
	setp.lt.u64 %p2, %rd3, 4;
	@%p2 bra ${name}_bytes;
	ld.u32 %r2, [%rd1];
	ld.u32 %r3, [%rd2];
	setp.ne.b32 %p3, %r2, %r3;
	@%p3 bra ${name}_bytes;
	add.s64 %rd1, %rd1, 4;
	add.s64 %rd2, %rd2, 4;
	add.s64 %rd3, %rd3, -4;
	bra.uni ${name}_words;
${name}_bytes:
	setp.eq.b64 %p4, %rd3, 0;
	@%p4 bra ${name}_end;
	ld.u8 %r4, [%rd1];
	ld.u8 %r5, [%rd2];
	sub.s32 %r1, %r4, %r5;
	setp.ne.b32 %p5, %r1, 0;
	@%p5 bra ${name}_end;
	add.s64 %rd1, %rd1, 1;
	add.s64 %rd2, %rd2, 1;
	add.s64 %rd3, %rd3, -1;
	bra.uni ${name}_bytes;
${name}_end:
	st.param.b32 [{result}], %r1;
	ret;
}}"
    )
}

/// Returns the first declared function that the driver does not provide. The driver would reject the PTX.
pub fn undefined(ptx: &str) -> Option<&str> {
    ptx.lines().filter_map(declared).find(|name| !PROVIDED.contains(name))
}

/// Returns the name of the function that the line declares, as in `.extern .func (.param .b32 result) name`. The
/// function's parameters are in the next lines.
fn declared(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix(".extern")?.trim_start().strip_prefix(".func")?.trim_start();
    let rest = match rest.strip_prefix('(') {
        Some(result) => result.split_once(')')?.1.trim_start(),
        None => rest,
    };
    let end = rest.find(|c: char| c.is_whitespace() || c == '(' || c == ';').unwrap_or(rest.len());
    Some(&rest[..end]).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_get_bodies() {
        let text = "\
a
.extern .func  (.param .b32 func_retval0) bcmp
(
\t.param .b64 bcmp_param_0,
\t.param .b64 bcmp_param_1,
\t.param .b64 bcmp_param_2
)
;
b
";
        let defined = define_comparisons(text);
        assert!(defined.starts_with("a\n.func  (.param .b32 func_retval0) bcmp\n(\n"), "{defined}");
        assert!(defined.contains("\n)\n{\n") && defined.ends_with("ret;\n}\nb\n"), "{defined}");
        assert!(defined.contains("st.param.b32 [func_retval0], %r1;"), "{defined}");
        assert_eq!(undefined(&defined), None);
        assert_eq!(define_comparisons("a\n"), "a\n");
    }

    #[test]
    fn a_function_that_is_nowhere_is_found() {
        let text = "\
.extern .func  (.param .b32 func_retval0) vprintf
(
\t.param .b64 vprintf_param_0
)
;
.extern .shared .align 16 .b8 cuda_std_dynamic_shared[];
.func helper(
)
";
        assert_eq!(undefined(text), None);
        let other = |line: &str| undefined(&format!("{text}{line}\n(\n)\n;\n")).map(str::to_owned);
        assert_eq!(other(".extern .func  (.param .b32 func_retval0) nosuch").as_deref(), Some("nosuch"));
        assert_eq!(other(".extern .func nosuch").as_deref(), Some("nosuch"));
        let error = super::super::process(".extern .func nosuch\n(\n)\n;\n").unwrap_err().to_string();
        assert!(error.contains("`nosuch`") && error.contains("vprintf"), "{error}");
    }
}
