//! Tells the linker where to find an empty `libcuda.a`, because `cust` links with `-lcuda`.

fn main() -> std::io::Result<()> {
    cuda_stub::announce_archive()
}
