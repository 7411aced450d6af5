#!/usr/bin/env bash
# Installs missing tools that the checks need in addition to rustup's toolchain: a rustc with the standard library's
# sources (for the PTX), Open MPI and libclang (for the feature `mpi`), and in target/tools NVIDIA's assemblers and mdBook
# (for the book). For Debian and Ubuntu, as root.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export DEBIAN_FRONTEND=noninteractive
apt_updated=
install() {
    if [ -z "$apt_updated" ]; then
        apt-get update --quiet
        apt_updated=yes
    fi
    apt-get install --yes --quiet --no-install-recommends "$@"
}

has_sources() {
    [ -x "$1" ] && [ -f "$("$1" --print sysroot)/lib/rustlib/src/rust/library/core/src/lib.rs" ]
}

command -v cc >/dev/null || install gcc libc6-dev
if ! has_sources "${CUDA_BUILDER_RUSTC:-}" && ! has_sources "$(command -v rustc)" && ! has_sources /usr/bin/rustc; then
    install rustc-web cargo-web rust-web-src
fi

if ! command -v mpicc >/dev/null || ! command -v mpirun >/dev/null || ! ls /usr/lib/llvm-*/lib/libclang.so >/dev/null 2>&1; then
    install libopenmpi-dev openmpi-bin libclang-dev
fi

for component in rustfmt clippy; do
    cargo "${component/rustfmt/fmt}" --version >/dev/null 2>&1 || rustup component add "$component"
done

tools=target/tools
if ! cmp --silent ci/requirements.txt "$tools/requirements.txt"; then
    # Debian's Python lacks the module that installs pip in a virtual environment.
    python3 -c 'import ensurepip' 2>/dev/null || install python3 python3-venv
    rm -rf "$tools"
    python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet --disable-pip-version-check --requirement ci/requirements.txt
    # Copied last, so that an interrupted installation is repeated.
    cp ci/requirements.txt "$tools/requirements.txt"
fi

# Without optimisations and debug information: the book is small, and the build takes longer than the books that it builds.
mdbook=0.5.4
if [ "$("$tools/mdbook/bin/mdbook" --version 2>/dev/null)" != "mdbook v$mdbook" ]; then
    CARGO_PROFILE_DEV_DEBUG=false cargo install mdbook --version "$mdbook" --locked --debug --no-default-features --force \
        --quiet --root "$tools/mdbook" --target-dir "$tools/build"
    rm -rf "$tools/build"
fi
