//! Passes to the linker the folder of an empty archive for the `-lcuda` of `cust`.

fn main() {
    cuda_stub::announce_archive();
}
