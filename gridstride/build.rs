//! Compresses the PTX of the algorithms that `src/catalogue.rs` lists. The crate embeds the compressed PTX.

use std::{fs, io};

fn main() -> io::Result<()> {
    let catalogue = fs::read_to_string("src/catalogue.rs")?;
    println!("cargo::rerun-if-changed=src/catalogue.rs");
    let list = catalogue.split_once("$with! {").and_then(|(_, rest)| rest.split_once('}'));
    let (names, _) =
        list.ok_or_else(|| io::Error::other("src/catalogue.rs has no list of algorithms after `$with! {`"))?;
    ptx_embed::compress(&names.split([' ', ';', '\n']).filter(|name| !name.is_empty()).collect::<Vec<_>>())
}
