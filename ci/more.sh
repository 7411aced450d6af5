#!/usr/bin/env bash
# The checks that .ci/run leaves out, because they take long or need other tools. The arguments select steps; without
# arguments all steps run. The end of the output names the failed steps. CONTRIBUTING.md has the last results.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec </dev/null
export CARGO_TERM_COLOR=never CARGO_INCREMENTAL=0
unset CARGO_TARGET_DIR

all='ptx features mpi bare address fuzz course sizes deny advisories debian editor release packages platforms interop crates
orders barriers random'
for name in "$@"; do
    if [[ " $all " != *" $name "* ]]; then
        printf 'no step is called %s: choose from %s\n' "$name" "$all" >&2
        exit 2
    fi
done
failed=() skipped=()
chosen=("$@")
step() {
    local name=$1 start=$SECONDS
    shift
    if [ ${#chosen[@]} -gt 0 ] && [[ " ${chosen[*]} " != *" $name "* ]]; then
        return
    fi
    printf '\n== %s\n' "$name"
    if "$@"; then
        printf '== %s: ok, %s s\n' "$name" $((SECONDS - start))
    elif [ $? -eq 77 ]; then
        printf '== %s: skipped\n' "$name"
        skipped+=("$name")
    else
        printf '== %s: FAILED, %s s\n' "$name" $((SECONDS - start))
        failed+=("$name")
    fi
}

# All PTX is built again, and must be the same.
ptx() {
    cargo xtask check-ptx --require-ptxas --require-rebuild
}

# Each feature of the crates alone, and the types of other crates.
features() {
    cargo xtask features && cargo clippy -p gridstride-cuda-std --lib --features glam,vek --locked -- -D warnings
}

# Ranks that are processes, which takes MPI to build.
mpi() {
    cargo test -p host --features mpi --test mpi --locked &&
        cargo clippy -p gridstride-multi -p gridstride-program -p host --all-targets --features host/mpi --locked -- \
            -D warnings
}

# All else is tested with the feature `cust`, which the program enables. Other crates use `launch` without it.
bare() {
    cargo test -p gridstride-launch --test suites --locked gpu_
}

# A minute of changed pattern files.
fuzz() {
    env FUZZ_SECONDS=60 cargo test -p host --test fuzz --locked -- --nocapture
}

# Every exercise of the course, and a course as a learner writes it: the first exercise fails as it is, and passes with its
# solution.
course() {
    cargo test -p gridstride-learn --features course --test course --locked && course_project
}
course_project() {
    local root=$PWD scratch status
    scratch=$(mktemp -d)
    cargo run --locked -p host -- learn "$scratch/course" && (
        cd "$scratch/course" && cp "$root/Cargo.lock" . || exit
        RUSTUP_TOOLCHAIN=$(sed -n 's/^channel = "\(.*\)"$/\1/p' "$root/rust-toolchain.toml")
        export RUSTUP_TOOLCHAIN CARGO_TARGET_DIR=$root/target/course
        cargo build --offline || exit
        ! cargo run --offline --quiet -- --once >failed || exit
        grep 'index.rs:24' failed && [ ! -e pictures/index.svg ] || exit
        sed -i 's/ todo!.*/ let i = thread::index_1d(); if i < y.len() { y.store(i, x.load(i) + 1); }/' \
            exercises/01_index/index.rs && cargo run --offline --quiet -- --once && cargo run -- --list | grep 'done$'
    )
    status=$?
    rm -rf "$scratch"
    return $status
}

# Element types of every size from 1 to 64 bytes in a project outside of the workspace.
sizes() (
    export CARGO_TARGET_DIR=$PWD/target CUDA_BUILDER_TARGET_DIR=$PWD/target/ptx
    cd examples/own-type
    cargo clippy --locked --workspace --all-targets --features sizes -- -D warnings &&
        cargo test --locked --features sizes
)

# Licences, bans and sources, by cargo deny, which is installed in target/tools.
deny() {
    local root=target/tools/cargo-deny
    [ -x $root/bin/cargo-deny ] || cargo install cargo-deny --locked --root $root --target-dir target/tools/build || return
    $root/bin/cargo-deny check bans licenses sources
}

# Known vulnerabilities. Skipped if the database cannot be downloaded.
advisories() {
    local root=target/tools/cargo-deny
    [ -x $root/bin/cargo-deny ] || cargo install cargo-deny --locked --root $root --target-dir target/tools/build || return
    $root/bin/cargo-deny fetch db || return 77
    $root/bin/cargo-deny check advisories
}

# The crates with type-erased memory, with AddressSanitizer: the calls and the small vectors of cuda_std, and the resources
# of launch. rustup's toolchain has the runtime. RUSTC_BOOTSTRAP enables the unstable flag.
address() {
    local host
    host=$(rustc -vV | sed -n 's/^host: //p')
    [ -n "$(find "$(rustc --print sysroot)/lib/rustlib/$host/lib" -name '*_rt.asan.a' 2>/dev/null)" ] || return 77
    # The sanitizer does not know the stacks of simulated threads, so it must not check for use after return.
    env RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=address RUSTDOCFLAGS=-Zsanitizer=address \
        ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=0 CARGO_PROFILE_DEV_DEBUG=line-tables-only \
        cargo test --target "$host" --target-dir target/asan -p gridstride-cuda-std -p gridstride-launch --lib --locked
}

# Debian's compiler also checks the workspace.
debian() {
    [ -x /usr/bin/rustc ] && [ -x /usr/bin/cargo ] || return 77
    env RUSTC=/usr/bin/rustc RUSTUP_TOOLCHAIN= /usr/bin/cargo check --workspace --locked --target-dir target/debian
}

# rust-analyzer shows no error in a new project.
editor() {
    rust-analyzer --version >/dev/null 2>&1 || return 77
    local shown
    shown=$(cd examples/own-kernel && env CARGO_TARGET_DIR=../../target CUDA_BUILDER_TARGET_DIR=../../target/ptx \
        rust-analyzer diagnostics . 2>&1 | tr '\r' '\n') || return
    ! grep -a 'at crate sample.* Error ' <<<"$shown"
}

# The released program, and its size.
release() {
    cargo build --release --locked -p host && ls -l target/release/host
}

# Every order for every input, and every barrier removed once. These take hours of processor time.
orders() {
    env GRIDSTRIDE_TEST_ALL_ORDERS=1 cargo test --release --locked -p tests
}
barriers() {
    cargo xtask mutate-barriers
}

# 10,000 sorts, selections and reductions by key, with sizes, types, orders and keys at random.
random() {
    env GRIDSTRIDE_RANDOM_RUNS=10000 cargo test --release --locked -p tests --test suites random_sorts
}

# What a user of the registry gets. The packages are packed and unpacked; from the archives, the program is built, and the
# foreign projects below are built and tested in the simulator, outside of this repository.
#
# A foreign project is a folder with a workspace of its own, whose dependencies on this repository are paths that begin with
# `../`. Another one is a line here.
foreign='
examples/own-kernel
examples/own-type
'
packages() {
    local root=$PWD scratch status
    scratch=$(mktemp -d)
    (packages_in "$root" "$scratch")
    status=$?
    rm -rf "$scratch"
    return $status
}
packages_in() {
    local root=$1 scratch=$2 archive version project name copy
    version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -1)
    rm -rf target/package
    cargo package --workspace --exclude host --exclude xtask --exclude tests --exclude records --exclude examples \
        --no-verify --allow-dirty --locked --quiet || return
    mkdir "$scratch/.cargo"
    printf '[patch.crates-io]\n' >"$scratch/.cargo/config.toml"
    for archive in target/package/*.crate; do
        # The limit of crates.io.
        [ "$(stat -c %s "$archive")" -le 10485760 ] || { printf '%s is over 10 MiB\n' "$archive" && return 1; }
        tar -xzf "$archive" -C "$scratch" || return
        name=$(basename "$archive" "-$version.crate")
        for copy in LICENSE-MIT LICENSE-APACHE README.md; do
            [ -f "$scratch/$name-$version/$copy" ] || { printf '%s has no %s\n' "$name" "$copy" && return 1; }
        done
        printf '%s = { path = "%s-%s" }\n' "$name" "$name" "$version" >>"$scratch/.cargo/config.toml"
    done
    ls -lS target/package/*.crate
    RUSTUP_TOOLCHAIN=$(sed -n 's/^channel = "\(.*\)"$/\1/p' rust-toolchain.toml)
    export RUSTUP_TOOLCHAIN CARGO_TARGET_DIR=$root/target/packages CUDA_BUILDER_TARGET_DIR=$root/target/ptx
    for project in $foreign; do
        copy=$scratch/$(basename "$project")
        cp -r "$root/$project" "$copy" || return
        rm -rf "$copy/target"
        find "$copy" -name Cargo.toml -exec sed -i -E "s|path = \"(\.\./)+[^\"]*\"|version = \"$version\"|" {} +
        printf -- '-- %s\n' "$project"
        (cd "$copy" && cargo test --quiet --workspace) || return
    done
    # The program makes the project that was tested.
    printf -- '-- gridstride-cli\n'
    (
        cd "$scratch/gridstride-cli-$version" || exit
        # A folder above may have a workspace.
        printf '\n[workspace]\n' >>Cargo.toml
        cargo build --quiet --bin gridstride || exit
        cd "$scratch" && mkdir made && program=$CARGO_TARGET_DIR/debug/gridstride
        "$program" new made/sample &&
            diff -r --exclude=Cargo.lock made/sample own-kernel &&
            "$program" life --size 64x48 --generations 20 --no-animation &&
            # From an archive, too, the program shows the kernels' source lines.
            "$program" explain reduce/shuffle --n 4096 | grep 'thread::thread_idx_x() == 0'
    )
}

# Other platforms, each if its tools are installed:
#
#   rustup target add x86_64-pc-windows-gnu aarch64-unknown-linux-gnu aarch64-apple-darwin x86_64-apple-darwin
#   apt-get install gcc-mingw-w64-x86-64 wine64 wine gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user
#
# Windows is built, and runs under wine; AArch64 Linux is built, and runs under QEMU; macOS is compiled without linking.
platforms() {
    local platform found=
    for platform in windows aarch64 macos; do
        printf -- '-- %s\n' $platform
        ($platform)
        case $? in
            0) found=yes ;;
            77) printf 'skipped: its tools are missing\n' ;;
            *) return 1 ;;
        esac
    done
    [ -n "$found" ] || return 77
}
has_target() {
    [ -d "$(rustc --print sysroot)/lib/rustlib/$1" ]
}
other() {
    env RUSTFLAGS='-D warnings' cargo "$@" --locked --target-dir target/platforms
}
windows() {
    local target=x86_64-pc-windows-gnu scratch
    has_target $target && command -v x86_64-w64-mingw32-gcc wine >/dev/null || return 77
    other build --target $target -p host || return
    scratch=$(mktemp -d)
    x86_64-w64-mingw32-gcc -shared -o "$scratch/bcryptprimitives.dll" ci/bcryptprimitives.c -ladvapi32 || return
    export WINEPREFIX=$scratch/wine WINEDEBUG=-all WINEPATH=$scratch
    commands "$scratch" wine "$PWD/target/platforms/$target/debug/host.exe" || return
    # A Windows path begins with a drive, not with `\\?\`.
    grep 'path = "[A-Z]:\\\\' "$scratch/sample/Cargo.toml" || return
    wineserver --wait
    rm -rf "$scratch"
}
aarch64() {
    local target=aarch64-unknown-linux-gnu scratch
    has_target $target && command -v aarch64-linux-gnu-gcc qemu-aarch64 >/dev/null || return 77
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc QEMU_LD_PREFIX=/usr/aarch64-linux-gnu
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER=qemu-aarch64
    other build --target $target -p host || return
    scratch=$(mktemp -d)
    commands "$scratch" qemu-aarch64 "$PWD/target/platforms/$target/debug/host" || return
    rm -rf "$scratch"
    other test --target $target -p gridstride-simt
}
macos() {
    local target
    for target in aarch64-apple-darwin x86_64-apple-darwin; do
        has_target $target || return 77
        other check --target $target -p host || return
    done
}
# Runs commands of the program that `$2…` starts, in the folder `$1`.
commands() (
    cd "$1" && shift
    "$@" --version && "$@" devices &&
        "$@" life --device sim --size 64x48 --seed 7 --generations 20 --no-animation --json --out out.rle &&
        "$@" life out.rle --device cpu --generations 200 --no-animation --checkpoint run.checkpoint &&
        "$@" reduce --device sim --n 2^12 --rung shuffle && "$@" check reduce_shuffle &&
        "$@" explain reduce/shuffle --n 4096 | tail -3 && "$@" new sample && [ -f sample/kernels/src/lib.rs ]
)

# The programs that share memory with other CUDA libraries compile without CUDA. With a GPU, they run.
interop() {
    (
        cd examples/interop && export CARGO_TARGET_DIR=$PWD/../../target
        cargo clippy --locked -- -D warnings || exit
        [ -e /dev/nvidiactl ] || exit 0
        cargo run --locked --bin with_cudarc && cargo run --locked --bin with_cust
    )
}

# The crates of docs/crates.md give the same in a kernel as on the CPU: in the simulator, and on a GPU if there is one.
crates() {
    (
        cd examples/crates && export CARGO_TARGET_DIR=$PWD/../../target CUDA_BUILDER_TARGET_DIR=$PWD/../../target/ptx
        cargo clippy --locked --all-targets -- -D warnings && cargo test --locked
    )
}

for name in $all; do
    step "$name" "$name"
done

[ ${#skipped[@]} -eq 0 ] || printf '\nskipped: %s\n' "${skipped[*]}"
if [ ${#failed[@]} -gt 0 ]; then
    printf '\nfailed: %s\n' "${failed[*]}"
    exit 1
fi
printf '\nall steps passed, %s s\n' "$SECONDS"
