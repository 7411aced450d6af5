//! Tests the post-processing on PTX in the form that LLVM writes.

use super::*;

const MODULE: &str = "\
.version 7.0
.target sm_70
.address_size 64

\t// cuda_std launch_bounds scale 256 4
// cuda_std launch_bounds empty 64 0

\t// .globl\tscale
.visible .entry scale(
\t.param .f32 scale_param_0,
\t.param .u64 .ptr .align 1 scale_param_1
)
{
\tret;
}
.visible .entry empty()
{
\t{ // callseq 0, 0
\t} // callseq 0
\tret;   
}
.visible .entry scale_twice(
\t.param .u64 scale_twice_param_0
)
{
\tret;
}
";

#[test]
fn bounds_stand_between_the_parameters_and_the_body() {
    let text = process(MODULE).unwrap();
    assert!(text.contains("scale_param_1\n)\n.maxntid 256, 1, 1\n.minnctapersm 4\n{\n"), "{text}");
    assert!(text.contains(".entry empty()\n.maxntid 64, 1, 1\n{\n"), "{text}");
    assert!(text.contains("scale_twice_param_0\n)\n{\n"), "{text}");
    assert!(!text.contains("launch_bounds"), "{text}");
    assert_eq!(text.matches(".maxntid").count(), 2);
    assert_eq!(text.matches(".minnctapersm").count(), 1);
}

#[test]
fn a_cluster_is_a_directive_from_sm_90_on() {
    let with = |size: &str| {
        MODULE.replace(
            "// cuda_std launch_bounds empty",
            &format!("// cuda_std cluster scale {size}\n// cuda_std launch_bounds empty"),
        )
    };
    let text = process(&with("2 3 1").replace("sm_70", "sm_90a")).unwrap();
    let expected = "\n.maxntid 256, 1, 1\n.explicitcluster\n.reqnctapercluster 2, 3, 1\n.minnctapersm 4\n{\n";
    assert!(text.contains(expected) && text.matches("cluster").count() == 2, "{text}");
    assert_eq!(process(&with("2 3 1")), process(MODULE));
    for size in ["2 3", "2 3 x", ""] {
        assert!(matches!(process(&with(size)), Err(PtxError::MalformedCluster(_))), "{size}");
    }
    let twice = with("2 1 1")
        .replace("// cuda_std launch_bounds empty", "// cuda_std cluster scale 4 1 1\n// cuda_std launch_bounds empty");
    assert_eq!(process(&twice), Err(PtxError::Contradiction("scale".to_owned())));
}

#[test]
fn newer_instructions_raise_the_version() {
    let version = |module: &str| process(module).unwrap().lines().next().unwrap_or_default().to_owned();
    let wide = MODULE.replace("\tret;", "\tatom.relaxed.gpu.global.exch.b128 %old, [%rd1], %new;\n\tret;");
    assert_eq!(version(MODULE), ".version 7.0");
    assert_eq!(version(&wide), ".version 8.4");
    assert_eq!(version(&wide.replace("7.0", "7.8")), ".version 8.4");
    assert_eq!(version(&wide.replace("7.0", "8.7")), ".version 8.7");
    for (instruction, needed) in [
        ("wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e5m2 {%r1}", ".version 8.0"),
        ("wgmma.mma_async.sync.aligned.m64n8k32.s32.u8.s8 {%r1}", ".version 8.4"),
        ("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%r1}", ".version 8.4"),
        ("mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%r1}", ".version 7.0"),
        ("setmaxnreg.dec.sync.aligned.u32 24", ".version 8.0"),
    ] {
        assert_eq!(version(&MODULE.replace("\tret;", &format!("\t{instruction};\n\tret;"))), needed, "{instruction}");
    }
    let relaxed = MODULE.replace("\tret;", "\tbarrier.cluster.arrive.relaxed;\n\tret;");
    assert_eq!(version(&relaxed), ".version 8.0");
}

#[test]
fn bounds_without_their_kernel_are_an_error() {
    let text = MODULE.replace("launch_bounds scale ", "launch_bounds scal ");
    assert_eq!(process(&text), Err(PtxError::UnknownKernel("scal".to_owned())));
    // The name in the comment belongs to a device function and not to a kernel.
    let text = "// cuda_std launch_bounds look 32 0\n.func  look(\n)\n{\n}\n";
    assert_eq!(process(text), Err(PtxError::UnknownKernel("look".to_owned())));
}

#[test]
fn bounds_that_cannot_be_read_are_an_error() {
    for wrong in ["scale", "scale 256", "scale 256 4 1", "scale many 4", "scale -1 4", ""] {
        let line = format!("// cuda_std launch_bounds {wrong}");
        let text = format!("{line}\n{MODULE}");
        assert_eq!(process(&text), Err(PtxError::Malformed(line.trim().to_owned())), "{wrong}");
    }
    for threads in [0, 1025] {
        let text = MODULE.replace("scale 256 4", &format!("scale {threads} 4"));
        assert_eq!(process(&text), Err(PtxError::Threads { kernel: "scale".to_owned(), threads }));
    }
}

#[test]
fn one_kernel_has_one_pair_of_bounds() {
    let repeated = format!("// cuda_std launch_bounds scale 256 4\n{MODULE}");
    assert_eq!(process(&repeated), process(MODULE));
    let other = format!("// cuda_std launch_bounds scale 128 4\n{MODULE}");
    assert_eq!(process(&other), Err(PtxError::Contradiction("scale".to_owned())));
}

#[test]
fn hashes_of_two_builds_become_the_same_numbers() {
    let of = |dep: &str, other: &str, legacy: &str, constant: &str| {
        let text = format!(
            "call.uni (r), _RNvCs{dep}_3dep4look, (p);\nmov.b64 %rd3, _RNvCs{dep}_3dep5TABLE;\n\
             call _RNvNtCs{other}_4core3foo_param_0;\nmov anon_$_{constant}_$_12;\n\
             call _ZN4core3foo17h{legacy}E;\nmov alloc_{constant};\n"
        );
        process(&text).unwrap()
    };
    let here = of("9x3iVemsPyN", "1a2B3c4D5e6", "0123456789abcdef", "0cb47aeb6e5f9323f0969e628c4e59f5");
    let there = of("8yn8buyDvJf", "a7777777777", "fedcba9876543210", "11111111111111111111111111111111");
    assert_eq!(here, there);
    assert!(here.contains("_RNvCs_3dep4look, (p)"), "{here}");
    assert!(here.contains("_RNvCs_3dep5TABLE"), "{here}");
    assert!(here.contains("_RNvNtCs0_4core3foo_param_0"), "{here}");
    assert!(here.contains("anon_$_0_$_12"), "{here}");
    assert!(here.contains("_ZN4core3foo17h0000000000000000E"), "{here}");
}

#[test]
fn different_hashes_stay_different_and_plain_names_untouched() {
    let text = "a _RNvCsaaaaaaaaaa1_3dep4look\nb _RNvCsbbbbbbbbbb2_3dep4look\nc Csaaaaaaaaaa1_kernel\nd alloc_abc\n";
    let done = process(text).unwrap();
    assert_eq!(done, "a _RNvCs_3dep4look\nb _RNvCs0_3dep4look\nc Csaaaaaaaaaa1_kernel\nd alloc_abc\n");
}

#[test]
fn blanks_and_line_ends_are_normalised() {
    assert_eq!(process("\n\na  \t\r\n\r\n\r\n\tb\n\n").unwrap(), "a\n\n\tb\n");
    let once = process(MODULE).unwrap();
    assert_eq!(process(&once).unwrap(), once);
}

#[test]
fn marks_of_inline_assembly_are_left_out() {
    let text = "a\n\t// begin inline asm\n\tb; // begin inline asm\n\t// end inline asm\n\n\tc\n";
    assert_eq!(process(text).unwrap(), "a\n\tb; // begin inline asm\n\n\tc\n");
}

#[test]
fn a_finished_text_starts_with_its_header() {
    let header = Header {
        compiler: "rustc 1.96.0 (ac68faa20 2026-05-25), LLVM 22.1.8".to_owned(),
        arch: crate::Arch::Sm90,
        krate: "gpu".to_owned(),
        features: vec!["life".to_owned()],
        sources: Some("sha256:00ff".to_owned()),
        text: None,
    };
    let text = finish(MODULE, &header).unwrap();
    assert!(text.starts_with("// Generated by cuda_builder. Do not edit.\n"), "{text}");
    assert_eq!(Header::parse(&text), Some(header));
}
