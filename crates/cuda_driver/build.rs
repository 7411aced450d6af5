//! Tells the linker where to find an empty `libcuda.a`, because `cust` links with `-lcuda`.

fn main() {
    cuda_stub::announce_archive();
}
