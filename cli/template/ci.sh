#!/bin/sh
# The checks of CI, for any machine with rustup. They need no GPU.
set -eu
cd "$(dirname "$0")"
# The PTX is built with the sources of `core`. Without them only the simulator is tested.
rustup component add rust-src
cargo fmt -p sample -p sample-kernels --check
cargo clippy --workspace --all-targets -- -D warnings
cargo test --workspace
