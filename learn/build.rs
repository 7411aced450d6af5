//! Lists the exercises for the library. With the feature `course`, writes every variant of every exercise for the test
//! of that name: the hole, the solution and the wrong fillings. The environment variable `COURSE` selects exercises by
//! name.

use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

#[path = "src/answers.rs"]
#[allow(dead_code)]
mod answers;

use answers::{Answers, filled};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=course");
    println!("cargo::rerun-if-changed=src/answers.rs");
    println!("cargo::rerun-if-env-changed=COURSE");
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    let course = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?).join("course");
    let mut folders = Vec::new();
    for entry in fs::read_dir(&course)? {
        let path = entry?.path();
        folders.extend(path.is_dir().then_some(path));
    }
    folders.sort();
    let mut list = String::from("&[\n");
    for folder in &folders {
        let (number, name) = numbered(folder)?;
        let file = |file: &str| format!("include_str!({:?})", folder.join(file));
        writeln!(
            list,
            "    Source {{ number: {number}, name: {name:?}, kernel: {}, check: {}, answers: {} }},",
            file(&format!("{name}.rs")),
            file("check.rs"),
            file("answers.md")
        )?;
    }
    fs::write(out.join("sources.rs"), list + "]\n")?;
    if std::env::var_os("CARGO_FEATURE_COURSE").is_some() {
        write_variants(&out, &folders)?;
    }
    Ok(())
}

/// Returns the number and the name in the name of an exercise's folder, such as 1 and `index` of `01_index`.
fn numbered(folder: &Path) -> Result<(u32, &str), String> {
    let name = folder.file_name().and_then(|name| name.to_str()).and_then(|name| name.split_once('_'));
    let numbered = name.and_then(|(number, name)| Some((number.parse().ok()?, name)));
    numbered.ok_or_else(|| format!("{}: name it as `01_index` is named: a number and a name", folder.display()))
}

/// Writes a folder for each variant of each chosen exercise, and the modules and the table of all variants.
fn write_variants(out: &Path, folders: &[PathBuf]) -> Result<(), Box<dyn Error>> {
    let chosen = std::env::var("COURSE").unwrap_or_default();
    let chosen: Vec<&str> = chosen.split([',', ' ']).filter(|name| !name.is_empty()).collect();
    let (mut modules, mut table) = (String::new(), String::from("const VARIANTS: &[Variant] = &[\n"));
    for folder in folders {
        let (_, name) = numbered(folder)?;
        if !chosen.is_empty() && !chosen.contains(&name) {
            continue;
        }
        let kernel = fs::read_to_string(folder.join(format!("{name}.rs")))?;
        let text = fs::read_to_string(folder.join("answers.md"))?;
        let answers = Answers::parse(&text).map_err(|error| format!("{}/answers.md: {error}", folder.display()))?;
        let wrong = answers.wrong.iter().enumerate().map(|(i, wrong)| (format!("wrong_{}", i + 1), Some(wrong.code)));
        let all = [("hole".to_owned(), None), ("solution".to_owned(), Some(answers.solution.code))];
        for (variant, filling) in all.into_iter().chain(wrong) {
            let written = out.join("variants").join(name).join(&variant);
            fs::create_dir_all(&written)?;
            let text = filled(&kernel, filling).map_err(|error| format!("{}: {error}", folder.display()))?;
            let file = written.join(format!("{name}.rs"));
            fs::write(&file, text)?;
            fs::copy(folder.join("check.rs"), written.join("check.rs"))?;
            writeln!(modules, "#[allow(warnings, clippy::all)]\n#[path = {:?}]", written.join("check.rs"))?;
            writeln!(modules, "mod {name}_{variant};")?;
            let check = format!("{name}_{variant}::exercise");
            writeln!(
                table,
                "    Variant {{ exercise: {name:?}, name: {variant:?}, check: {check}, file: {file:?} }},"
            )?;
        }
    }
    fs::write(out.join("variants.rs"), format!("{modules}\n{table}];\n"))?;
    Ok(())
}
