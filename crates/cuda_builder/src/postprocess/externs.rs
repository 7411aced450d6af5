//! Functions that the text calls and does not have.

/// Those that the driver has.
pub const PROVIDED: [&str; 4] = ["vprintf", "malloc", "free", "__assertfail"];

/// The first function that is declared and that nobody provides. The driver would refuse to load the text.
pub fn undefined(ptx: &str) -> Option<&str> {
    ptx.lines().filter_map(declared).find(|name| !PROVIDED.contains(name))
}

/// The function that the line declares: `.extern .func (.param .b32 result) name`, and its parameters in the lines that follow.
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
