//! Tests that each fault of a module is found.

use super::*;
use ptxas::Usage;

fn header() -> Header {
    Header {
        compiler: "rustc 1.96.0, LLVM 22.1.8".to_owned(),
        arch: Arch::Sm70,
        krate: "gpu".to_owned(),
        features: vec!["life".to_owned()],
        sources: None,
        text: None,
    }
}

fn a_module(file: &str, compiler: &str) -> Module {
    Module {
        file: file.to_owned(),
        path: PathBuf::new(),
        algorithm: "life".to_owned(),
        arch: Arch::Sm70,
        text: String::new(),
        header: Header { compiler: compiler.to_owned(), ..header() },
    }
}

#[test]
fn a_header_must_agree_with_the_name() {
    let finding = |algorithm: &str, arch| {
        header_finding(&Module { algorithm: algorithm.to_owned(), arch, ..a_module("life.sm_70.ptx", "") })
    };
    assert_eq!(finding("life", Arch::Sm70), None);
    assert!(finding("life", Arch::Sm90).unwrap().contains("not life for sm_90"));
    assert!(finding("scan", Arch::Sm70).unwrap().contains("not scan"));
}

#[test]
fn an_architecture_without_instructions_of_its_own_is_found() {
    let text = |arch: u32, half: &str| format!("// arch\n.version 7.{arch}\n.target sm_{arch}\n{{\n\t{half}\n}}\n");
    let old = "{ .reg .b32 tmp; mov.b64 {tmp, %r13}, %rd38; }";
    let module = |file: &str, text| Module { text, ..a_module(file, "") };
    let earlier = module("life.sm_70.ptx", text(70, old));
    let finding = |half: &str| sameness_finding(&earlier, &module("life.sm_90.ptx", text(90, half)));
    let found = finding("mov.b64 \t{_, %r13}, %rd38;").unwrap();
    assert!(
        found.contains("life.sm_90.ptx has the same instructions as life.sm_70.ptx")
            && found.contains("gpu/Cargo.toml")
    );
    assert!(finding(old).is_some());
    assert_eq!(finding("mov.b64 \t{_, %r14}, %rd38;"), None);
    assert_eq!(finding("griddepcontrol.wait;"), None);
}

#[test]
fn a_text_changed_by_hand_is_found() {
    let finding = |ptx: &str| {
        let header = Header::parse(ptx).unwrap();
        text_finding(&Module { text: ptx.to_owned(), header, ..a_module("life.sm_70.ptx", "") })
    };
    let unhashed = format!("{}//\n.version 7.0\nadd.s32 %r1, %r2, 1;\n", header());
    assert!(finding(&unhashed).unwrap().contains("does not record the hash of its text"));
    let built = build_ptx::with_text_hash(&unhashed).unwrap();
    assert_eq!(finding(&built), None);
    let changes = [
        built.replace("%r2, 1", "%r2, 2"),
        built.replace("//\n.version", "// .version"),
        built.replace("//\n.version", "// more\n//\n\n.version"),
        format!("{built}\n"),
        built.trim_end().to_owned(),
        built.replace("// text: sha256:", "// text: sha256:0"),
    ];
    for changed in changes {
        assert_ne!(changed, built);
        let found = finding(&changed).unwrap_or_else(|| panic!("not found:\n{changed}"));
        let expected = "life.sm_70.ptx: the text was changed after the build; run `cargo xtask build-ptx`";
        assert_eq!(found, expected);
    }
}

#[test]
fn a_skipped_rebuild_is_a_finding_if_it_is_required() {
    let made_by = "rustc 1.96.0, LLVM 22.1.8";
    let modules = [a_module("a.ptx", made_by), a_module("b.ptx", "rustc 1.97.0"), a_module("c.ptx", made_by)];
    let skipped: Vec<&Module> = modules.iter().collect();
    let lines = skips(&skipped, &["rustc 1.95.0", "rustc 1.94.0"]);
    let expected = [
        "rebuild skipped: a.ptx, c.ptx would need rustc 1.96.0, LLVM 22.1.8; this machine has rustc 1.95.0; rustc \
         1.94.0",
        "rebuild skipped: b.ptx would need rustc 1.97.0; this machine has rustc 1.95.0; rustc 1.94.0",
    ];
    assert_eq!(lines, expected);
    assert!(skips(&skipped, &[])[0].ends_with("this machine has no compiler that builds PTX"));
    assert!(skips(&[], &[]).is_empty());

    let mut findings = Vec::new();
    assert_eq!(warnings(lines.clone(), false, &mut findings), expected);
    assert!(findings.is_empty());
    assert!(warnings(lines, true, &mut findings).is_empty());
    assert_eq!(findings, expected);
}

#[test]
fn a_difference_names_its_line() {
    assert_eq!(difference("a.ptx", "1\n2\n", "1\n2\n"), None);
    let found = difference("a.ptx", "1\n2\n3\n", "1\nx\n3\n").unwrap();
    assert!(found.contains("line 2 is `2`, and `x` in the new build"), "{found}");
    let found = difference("a.ptx", "1\n", "1\n2\n").unwrap();
    assert!(found.contains("line 2 is `(end of the file)`, and `2` in the new build"), "{found}");
    assert!(difference("a.ptx", "1\n", "1").is_some());
}

const PTX: &str = ".entry plain()\n{\nret;\n}\n.entry prints()\n{\ncall.uni (r), vprintf, (a, b);\nret;\n}\n";

fn usage(name: &str) -> Usage {
    Usage { name: name.to_owned(), is_kernel: true, registers: 8, ..Usage::default() }
}

fn findings(functions: Vec<Usage>) -> Vec<String> {
    resource_findings("a.ptx", &ptx::Module::parse(PTX), Arch::Sm80, &Assembled { functions, ..Assembled::default() })
}

#[test]
fn serialised_products_are_found() {
    let advisories = vec!["(C7510) wgmma.mma_async instructions are serialized".to_owned()];
    let assembled = Assembled { functions: vec![usage("plain"), usage("prints")], advisories, ..Assembled::default() };
    let found = resource_findings("a.ptx", &ptx::Module::parse(PTX), Arch::Sm90a, &assembled);
    assert_eq!(found, ["a.ptx for sm_90a: (C7510) wgmma.mma_async instructions are serialized"]);
}

#[test]
fn spills_and_local_memory_are_found() {
    assert!(findings(vec![usage("plain"), usage("prints")]).is_empty());
    let spill = findings(vec![Usage { spill_stores: 4, spill_loads: 8, ..usage("plain") }, usage("prints")]);
    assert_eq!(spill, ["a.ptx, plain for sm_80: spills 4 bytes and reloads 8 bytes"]);
    let stack = findings(vec![Usage { stack: 16, ..usage("plain") }, usage("prints")]);
    assert_eq!(stack, ["a.ptx, plain for sm_80: 16 bytes of local memory per thread"]);
    // A buffer for printing is allowed, but a spill is not.
    assert!(findings(vec![usage("plain"), Usage { stack: 16, ..usage("prints") }]).is_empty());
    assert_eq!(findings(vec![usage("plain"), Usage { stack: 16, spill_loads: 8, ..usage("prints") }]).len(), 1);
    assert_eq!(findings(vec![usage("plain")]), ["a.ptx for sm_80: 1 of 2 kernels assembled"]);
}

#[test]
fn the_local_memory_for_boxes_is_none_of_the_kernel() {
    let found = |opcode: &str, stack: u32| {
        let text = format!(".entry boxes()\n{{\n{opcode} [%r1], [%rd1, {{%r2}}], [%r3];\nret;\n}}\n");
        let functions = vec![Usage { stack, ..usage("boxes") }];
        resource_findings(
            "a.ptx",
            &ptx::Module::parse(&text),
            Arch::Sm90,
            &Assembled { functions, ..Assembled::default() },
        )
        .len()
    };
    assert_eq!(found("cp.async.bulk.tensor.1d.shared::cluster.global", 8), 0);
    assert_eq!(found("cp.async.bulk.tensor.1d.shared::cluster.global", 16), 1);
    assert_eq!(found("cp.async.bulk.shared::cluster.global", 8), 1);
}

#[test]
fn the_stamps_of_an_earlier_commit_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    std::fs::create_dir_all(root.join("gpu/ptx")).unwrap();
    std::fs::write(root.join("gpu/ptx/resources.tsv"), "life\tregisters\n").unwrap();
    std::fs::write(root.join("gpu/ptx").join(stamps::FILE), "life\tsha256:1\n").unwrap();
    let author = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
    let commit = [&author[..], &["commit", "--quiet", "--no-verify", "--message", "A."]].concat();
    for arguments in [&["init", "--quiet"][..], &["add", "."], &commit] {
        assert!(std::process::Command::new("git").args(arguments).current_dir(root).status().unwrap().success());
    }
    let stamps = |hours| stamps_before(root, hours).unwrap().0;
    assert_eq!(stamps(0).into_iter().collect::<Vec<_>>(), [("life".to_owned(), "sha256:1".to_owned())]);
    assert!(stamps(1).is_empty());
}
