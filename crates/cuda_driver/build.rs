//! Finds an archive for the `-lcuda` of `cust`.

fn main() {
    cuda_stub::announce_archive();
}
