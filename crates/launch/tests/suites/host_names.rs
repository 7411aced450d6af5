//! Checks that each method that docs/cuda-host.md names exists.

use std::fs;
use std::path::Path;

/// Returns the text of all Rust files in `folder`, without subfolders.
fn sources(folder: &Path) -> String {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let rust = files.filter(|file| file.extension().is_some_and(|extension| extension == "rs"));
    rust.map(|file| fs::read_to_string(file).unwrap()).collect()
}

#[test]
fn the_page_names_methods_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("../../docs/cuda-host.md")).unwrap();
    let text = sources(&root.join("src")) + &sources(&root.join("../simt/src"));
    let types = ["Device", "Buffer", "Queue", "Stream", "Event", "Graph", "Group", "LaunchConfig"];
    let mut names = 0;
    for quoted in page.split('`').skip(1).step_by(2) {
        for method in types.iter().filter_map(|name| quoted.split_once(&format!("{name}::"))) {
            let is_word = |c: &char| c.is_alphanumeric() || *c == '_';
            let name: String = method.1.chars().take_while(is_word).collect();
            let is_there = [format!("fn {name}("), format!("fn {name}<")].iter().any(|head| text.contains(head));
            assert!(is_there, "`{quoted}`: there is no function `{name}`");
            names += 1;
        }
    }
    assert!(names > 50, "{names}");
}
