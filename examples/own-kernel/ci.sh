#!/bin/sh
# What CI runs: on any machine with rustup, without a GPU.
set -eu
cd "$(dirname "$0")"
# The sources of `core`, from which the PTX is built. Without them only the simulator's side would be tested.
rustup component add rust-src
cargo fmt -p sample -p sample-kernels --check
cargo clippy --workspace --all-targets -- -D warnings
cargo test --workspace
