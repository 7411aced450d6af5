#!/usr/bin/env bash
# The checks that .ci/run leaves out, because they take long or need other tools. The arguments select steps; without
# arguments all steps run. The end of the output names the failed steps. CONTRIBUTING.md has the last results.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec </dev/null
export CARGO_TERM_COLOR=never CARGO_INCREMENTAL=0
unset CARGO_TARGET_DIR

all='deny advisories address debian editor release platforms orders barriers'
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
        cargo test --target "$host" --target-dir target/asan -p cuda_std -p launch --lib --locked
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

# The crates compile for other platforms whose standard libraries are installed, for example by
# `rustup target add aarch64-unknown-linux-gnu`.
platforms() {
    local found= target
    for target in aarch64-unknown-linux-gnu aarch64-apple-darwin; do
        [ -d "$(rustc --print sysroot)/lib/rustlib/$target" ] || continue
        found=yes
        cargo check --locked --target $target -p simt -p launch -p gridstride || return
    done
    [ -n "$found" ] || return 77
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
