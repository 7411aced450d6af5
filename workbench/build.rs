//! Compresses the PTX of the kernels that the crate embeds.

fn main() -> std::io::Result<()> {
    ptx_embed::compress(&["probe"])
}
