//! Tells the linker where to find an archive for the `-lcuda` of `cust`.

fn main() {
    cuda_stub::announce_archive();
}
