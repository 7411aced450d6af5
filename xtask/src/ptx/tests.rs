//! Tests the parser on a text in the form of the compiler's output.

use super::*;

const TEXT: &str = "\
.version 7.0
.target sm_70, debug
.address_size 64
// life_shared's memory
.shared .align 16 .b8 cells[64];
\t// .globl\tstep
.extern .func  (.param .b32 func_retval0) vprintf
(
\t.param .b64 vprintf_param_0,
\t.param .b64 vprintf_param_1
)
;
.func  (.param .b32 func_retval0) look
(
\t.param .b64 look_param_0
)
;
.global .align 4 .b8 TABLE[8] = {5, 0, 0, 0, 4, 0, 0, 0};

.visible .entry step(
\t.param .u64 .ptr .align 1 step_param_0,
\t.param .u64 step_param_1
)
.maxntid 256, 1, 1
.minnctapersm 4
{
\t.local .align 8 .b8 \t__local_depot0[8];
\t.reg .b64 \t%SP;
\t.loc\t1 6 0

\tld.param.b64 \t%rd1, [step_param_0];
$L__BB0_1:                              // =>This Inner Loop Header
\tld.global.v4.b32 \t{%r1, %r2, %r3, %r4}, [%rd1];
\t@%p1 bra \t$L__BB0_3;
\t// begin inline asm
\t{ .reg .pred q; setp.ne.u32 q, %r1, 0; @q bar.sync 0; }
\t// end inline asm
\tst.shared::cta.b32 \t[%r9], %r1;
\t{ // callseq 0, 0
\t.param .b64 param0;
\tst.param.b64 \t[param0], %rd2;
\tcall.uni (retval0), 
\tlook, 
\t(
\tparam0
\t);
\tld.param.b32 \t%r5, [retval0];
\t} // callseq 0
\tcall.uni (retval0), vprintf, (param0, param1);
$L__BB0_3: ret;
}
.func  (.param .b32 func_retval0) look(
\t.param .b64 look_param_0
)
{
\tbarrier.sync 0;
\tld.b32 %r1, [%rd4];
\tatom.add.u32 %r2, [%rd4], 1;
\ttrap; exit;
}
.visible .entry nothing()
{
\tbar.warp.sync -1;
\tret;
}
";

#[test]
fn parses_a_module() {
    let module = Module::parse(TEXT);
    assert_eq!(module.target, "sm_70");
    let names = |functions: &[Function]| functions.iter().map(|f| f.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&module.entries), ["step", "nothing"]);
    assert_eq!(names(&module.functions), ["look"]);

    let step = module.entry("step").unwrap();
    assert_eq!(step.params, [".param .u64 .ptr .align 1 step_param_0", ".param .u64 step_param_1"]);
    assert_eq!(step.directive(".maxntid"), Some("256, 1, 1"));
    assert_eq!(step.directive(".minnctapersm"), Some("4"));
    let opcodes: Vec<&str> = step.instructions.iter().map(|i| i.opcode.as_str()).collect();
    assert_eq!(
        opcodes,
        [
            "ld.param.b64",
            "ld.global.v4.b32",
            "bra",
            "setp.ne.u32",
            "bar.sync",
            "st.shared::cta.b32",
            "st.param.b64",
            "call.uni",
            "ld.param.b32",
            "call.uni",
            "ret",
        ]
    );
    let load = &step.instructions[1];
    assert_eq!(load.operands, "{%r1, %r2, %r3, %r4}, [%rd1]");
    assert_eq!(TEXT.lines().nth(load.line - 1).unwrap().trim(), "ld.global.v4.b32 \t{%r1, %r2, %r3, %r4}, [%rd1];");

    let nothing = module.entry("nothing").unwrap();
    assert!(nothing.params.is_empty() && nothing.directives.is_empty());
}

#[test]
fn follows_calls() {
    let module = Module::parse(TEXT);
    let step = module.entry("step").unwrap();
    let targets: Vec<&str> = step.instructions.iter().filter_map(Instruction::call_target).collect();
    assert_eq!(targets, ["look", "vprintf"]);
    let reached: Vec<&str> = module.reachable(step).iter().map(|f| f.name.as_str()).collect();
    assert_eq!(reached, ["step", "look"]);
    let indirect = Instruction { line: 1, opcode: "call".into(), operands: "%rd5, (param0), prototype_0".into() };
    assert_eq!(indirect.call_target(), Some("%rd5"));
}

#[test]
fn finds_generic_accesses() {
    let module = Module::parse(TEXT);
    assert!(generic_accesses(module.entry("step").unwrap()).is_empty());
    let found: Vec<&str> = generic_accesses(&module.functions[0]).iter().map(|i| i.opcode.as_str()).collect();
    assert_eq!(found, ["ld.b32", "atom.add.u32"]);
    let volatile =
        Module::parse(".entry a()\n{\nld.volatile.u32 %r1, [%rd1];\nld.relaxed.gpu.global.u32 %r1, [%rd1];\n}\n");
    assert_eq!(generic_accesses(&volatile.entries[0]).len(), 1);
}

#[test]
fn finds_calls_but_not_to_vprintf() {
    let module = Module::parse(TEXT);
    let found: Vec<_> = calls(module.entry("step").unwrap()).iter().map(|i| i.call_target()).collect();
    assert_eq!(found, [Some("look")]);
    assert!(calls(module.entry("nothing").unwrap()).is_empty());
}

#[test]
fn counts_barriers_also_in_what_is_called() {
    let module = Module::parse(TEXT);
    assert_eq!(barriers(&module, module.entry("step").unwrap()).block, 2);
    assert_eq!(barriers(&module, module.entry("nothing").unwrap()), Barriers { block: 0, warp: 1 });
    let others = ".entry a()\n{\nbarrier.red.popc.u32 %r1, 0, %p1;\nbar.arrive 0, 64;\nbarrier.cta.sync 0;\n\
        bar.warp.sync %r1;\nbarrier.cta.arrive 0, 64;\n}\n";
    let others = Module::parse(others);
    assert_eq!(barriers(&others, &others.entries[0]), Barriers { block: 2, warp: 1 });
}

#[test]
fn knows_the_shared_arrays_that_a_kernel_uses() {
    let text = ".shared .align 16 .b8 tile[1024];\n.shared .align 16 .b8 tile_2[16];\n\
        .extern .shared .align 16 .b8 any[];\n.entry a()\n{\nmov.u32 %r1, tile;\nld.shared.u32 %r2, [tile+8];\n}\n\
        .entry b()\n{\nmov.u32 %r1, tile_2;\nmov.u32 %r2, any;\n}\n";
    let module = Module::parse(text);
    assert_eq!(module.shared, BTreeMap::from([("tile".to_owned(), 1024), ("tile_2".to_owned(), 16)]));
    let used = |name: &str| shared_arrays(&module, module.entry(name).unwrap());
    assert_eq!(used("a"), BTreeSet::from(["tile"]));
    assert_eq!(used("b"), BTreeSet::from(["tile_2"]));
}
