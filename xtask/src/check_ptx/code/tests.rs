//! Tests that each fault is reported with the kernel, the architecture, the line and a remedy.

use super::*;
use crate::kernels;

/// Parses `source` and returns the table of its kernels' attributes.
fn table(source: &str) -> Table {
    Table::new(&kernels::kernels(&[(PathBuf::from("step.rs"), source.to_owned())]).unwrap())
}

fn table_of_tests() -> Table {
    table(
        "#[kernel(max_threads = 64, instances(T = [f32], wide(loads)), wide(stores))]\nfn step<T>() {}\n\
         #[kernel(allow(local_in_ptx = \"`vprintf`\", local = \"`vprintf`\", unbounded = \"`vprintf`\"))]\nfn prints() {}",
    )
}

const PTX: &str = "\
.visible .entry step_f32(
\t.param .u64 step_f32_param_0
)
.maxntid 64, 1, 1
{
\tld.param.b64 \t%rd1, [step_f32_param_0];
\tld.global.nc.v4.b32 \t{%r1, %r2, %r3, %r4}, [%rd1];
\tst.global.v2.b64 \t[%rd1], {%rd2, %rd3};
\tret;
}
.visible .entry prints()
{
\tst.local.b32 \t[%SPL], %r1;
\tret;
}
";

const SASS: &str = "\
.text.step_f32:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/              @!P0 LDG.E.128.CONSTANT R4, desc[UR6][R4.64] ;
        /*0020*/                   STG.E.128 desc[UR6][R8.64], R4 ;
.text.prints:
        /*0000*/                   STL [R1], R2 ;
";

fn of_ptx(text: &str) -> CodeFindings {
    table_of_tests().check_ptx("step.sm_90.ptx", &Module::parse(text))
}

fn of_sass(text: &str) -> CodeFindings {
    table_of_tests().check_sass("step.sm_90.ptx", Arch::Sm90, &sass::parse(text))
}

/// Replaces `sound` by `faulty` in `text`, and returns the only finding of `check` in the resulting text.
fn finding(check: fn(&str) -> CodeFindings, text: &str, sound: &str, faulty: &str) -> String {
    assert!(text.contains(sound), "{sound}");
    let mut findings = check(&text.replacen(sound, faulty, 1)).findings;
    assert_eq!(findings.len(), 1, "{faulty}: {findings:?}");
    findings.remove(0)
}

#[test]
fn a_sound_text_has_no_findings() {
    assert_eq!(of_ptx(PTX).findings, [] as [String; 0]);
    assert_eq!(of_sass(SASS).findings, [] as [String; 0]);
}

#[test]
fn each_fault_of_ptx_is_refused() {
    let faults = [
        ("\tret;", "\tld.local.v2.b32 \t{%r1, %r2}, [%rd4];\n\tret;", "local memory: line 9, `ld.local.v2.b32 {"),
        ("\tret;", "\tst.b32 \t[%rd4], %r1;\n\tret;", "without a state space: line 9, `st.b32 [%rd4], %r1`"),
        (".maxntid 64, 1, 1\n", "", "no launch bound: `.entry` without `.maxntid`; write `#[kernel(max_threads"),
        ("ld.global.nc.v4.b32", "ld.global.nc.b32", "a load of 16 bytes (`ld.global.v4.b32`), but the code has none"),
        ("ld.global.nc.v4.b32", "ld.shared.v4.b32", "a load of 16 bytes"),
        ("st.global.v2.b64", "st.global.v2.b32", "a store of 16 bytes (`st.global.v4.b32`)"),
    ];
    for (sound, faulty, expected) in faults {
        let found = finding(of_ptx, PTX, sound, faulty);
        assert!(found.starts_with("step.sm_90.ptx, step_f32: ") && found.contains(expected), "{faulty}: {found}");
        assert!(found.contains("#[kernel("), "{found}");
    }
}

#[test]
fn each_fault_of_sass_is_refused() {
    let more = |line: &str| format!("LDC R1, c[0x0][0x28] ;\n        /*0008*/ {line} ;");
    let faults = [
        ("LDC R1, c[0x0][0x28] ;", more("LDL.LU R2, [R1]"), "local memory: /*0008*/ `LDL.LU R2, [R1]`; unroll"),
        (
            "LDC R1, c[0x0][0x28] ;",
            more("@P0 LD.E R2, [R4.64]"),
            "without a state space: /*0008*/ `@P0 LD.E R2, [R4.64]`",
        ),
        ("LDG.E.128.CONSTANT", "LDG.E.CONSTANT".to_owned(), "a load of 16 bytes (`LDG.E.128`)"),
        ("STG.E.128", "STG.E.64".to_owned(), "a store of 16 bytes (`STG.E.128`)"),
    ];
    for (sound, faulty, expected) in faults {
        let found = finding(of_sass, SASS, sound, &faulty);
        let at = "step.sm_90.ptx, step_f32 for sm_90: ";
        assert!(found.starts_with(at) && found.contains(expected), "{faulty}: {found}");
        assert!(found.contains("#[kernel("), "{found}");
    }
}

#[test]
fn several_lines_are_one_finding() {
    let lines = "\tld.b32 %r1, [%rd1];\n\tld.b32 %r2, [%rd1];\n\tst.b32 [%rd1], %r2;\n\tret;";
    let found = finding(of_ptx, PTX, "\tret;", lines);
    assert!(found.contains("line 9, `ld.b32 %r1, [%rd1]` and 2 more; "), "{found}");
}

#[test]
fn a_copy_past_the_registers_is_known() {
    let table = table("#[kernel(wide(copies))]\nfn a() {}");
    let ptx = |line: &str| {
        let text = format!(".entry a()\n.maxntid 32, 1, 1\n{{\n\t{line};\n}}\n");
        table.check_ptx("a.ptx", &Module::parse(&text)).findings.len()
    };
    assert_eq!(ptx("cp.async.cg.shared.global [%r1], [%rd1], 16"), 0);
    assert_eq!(ptx("cp.async.ca.shared.global [%r1], [%rd1], 4"), 1);
    let sass = |line: &str| {
        let kernels = sass::parse(&format!(".text.a:\n /*0000*/ {line} ;\n"));
        table.check_sass("a.ptx", Arch::Sm90, &kernels).findings.len()
    };
    assert_eq!(sass("LDGSTS.E.BYPASS.128 [R7], desc[UR4][R2.64]"), 0);
    assert_eq!(sass("LDGSTS.E [R7], desc[UR4][R2.64]"), 1);
}

/// Tests a target before sm_80, where loads into registers replace asynchronous copies.
#[test]
fn a_target_without_copies_must_load_by_16_bytes() {
    let table = table("#[kernel(wide(copies))]\nfn a() {}");
    let of = |file: &str, line: &str, opcode: &str| {
        let text = format!(".entry a()\n.maxntid 32, 1, 1\n{{\n\t{line};\n}}\n");
        let kernels = sass::parse(&format!(".text.a:\n /*0000*/ {opcode} ;\n"));
        let sass = table.check_sass(file, Arch::Sm90, &kernels).findings.len();
        (table.check_ptx(file, &Module::parse(&text)).findings.len(), sass)
    };
    let wide = ("ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%rd1]", "LDG.E.128 R4, desc[UR6][R4.64]");
    let narrow = ("ld.global.b32 %r1, [%rd1]", "LDG.E R4, desc[UR6][R4.64]");
    assert_eq!(of("a.sm_70.ptx", wide.0, wide.1), (0, 0));
    assert_eq!(of("a.sm_70.ptx", narrow.0, narrow.1), (1, 1));
    assert_eq!(of("a.sm_90.ptx", wide.0, wide.1), (1, 1));
}

#[test]
fn a_kernel_without_its_instructions_may_use_local_memory() {
    let table = table("#[kernel]\nfn a() {}");
    let findings = |called: &str| {
        let text = format!(
            ".func {called}()\n{{\n\tst.local.u32 [%r1], %r2;\n}}\n\
             .entry a()\n.maxntid 32, 1, 1\n{{\n\tcall.uni {called}, ();\n}}\n"
        );
        table.check_ptx("a.ptx", &Module::parse(&text)).findings.len()
    };
    assert_eq!([findings("_N8cuda_std3mma7missing4fail"), findings("_N8cuda_std3mma4fail")], [0, 1]);
}

#[test]
fn an_unneeded_exception_is_a_finding() {
    let mut seen = of_ptx(PTX);
    assert_eq!(table_of_tests().useless(&seen), [] as [String; 0]);
    seen.extend(of_sass(SASS));
    assert_eq!(table_of_tests().useless(&seen), [] as [String; 0]);

    let mut seen = of_ptx(&PTX.replace("st.local", "st.shared"));
    seen.extend(of_sass(&SASS.replace("STL", "STS")));
    let found = table_of_tests().useless(&seen);
    let of_rule = |rule: &str| format!("step.rs:3: `prints` allows {rule} (`vprintf`), but no instance needs that");
    assert!(found.len() == 2, "{found:?}");
    assert!(found[0].starts_with(&of_rule("local_in_ptx")) && found[1].starts_with(&of_rule("local")), "{found:?}");
}

/// Tests that an exception counts as needed if one instance needs it.
#[test]
fn instances_share_an_exception() {
    let table = table("#[kernel(instances(T = [f32, f64]), allow(unbounded = \"why\"))]\nfn a<T>() {}");
    let seen = |bound: &str| {
        let text = format!(".entry a_f32()\n{{\n}}\n.entry a_f64()\n{bound}{{\n}}\n");
        table.check_ptx("a.sm_70.ptx", &Module::parse(&text))
    };
    let bounded = seen(".maxntid 32, 1, 1\n");
    assert_eq!((bounded.findings.len(), table.useless(&bounded).len()), (0, 0));
}
