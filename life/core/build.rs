//! Compresses the PTX of Life's kernels, which the crate embeds.

fn main() -> std::io::Result<()> {
    ptx_embed::compress(&["life"])
}
