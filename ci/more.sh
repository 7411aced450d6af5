#!/usr/bin/env bash
# The checks that .ci/run leaves out: they take long, or need what not every machine has. All steps run, or those named as
# arguments; any that fails is named at the end. CONTRIBUTING.md has the last result.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec </dev/null
export CARGO_TERM_COLOR=never CARGO_INCREMENTAL=0
unset CARGO_TARGET_DIR

all='deny advisories address debian release platforms orders barriers'
for name in "$@"; do
    if [[ " $all " != *" $name "* ]]; then
        printf 'no step is called %s: there are %s\n' "$name" "$all" >&2
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

# Licences, bans and sources by cargo deny, which is kept in target/tools.
deny() {
    local root=target/tools/cargo-deny
    [ -x $root/bin/cargo-deny ] || cargo install cargo-deny --locked --root $root --target-dir target/tools/build || return
    $root/bin/cargo-deny check bans licenses sources
}

# Known vulnerabilities. Skipped where the database cannot be had.
advisories() {
    local root=target/tools/cargo-deny
    [ -x $root/bin/cargo-deny ] || cargo install cargo-deny --locked --root $root --target-dir target/tools/build || return
    $root/bin/cargo-deny fetch db || return 77
    $root/bin/cargo-deny check advisories
}

# The crates with type-erased memory, with AddressSanitizer: the calls and the small vectors of cuda_std, and the resources of
# launch. The runtime comes with rustup's toolchain, which takes the unstable flag by RUSTC_BOOTSTRAP.
address() {
    local host
    host=$(rustc -vV | sed -n 's/^host: //p')
    [ -n "$(find "$(rustc --print sysroot)/lib/rustlib/$host/lib" -name '*_rt.asan.a' 2>/dev/null)" ] || return 77
    # The stacks of simulated threads are not the stacks that the sanitizer knows: it must not look for use after return.
    env RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=address RUSTDOCFLAGS=-Zsanitizer=address \
        ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=0 CARGO_PROFILE_DEV_DEBUG=line-tables-only \
        cargo test --target "$host" --target-dir target/asan -p cuda_std -p launch --lib --locked
}

# Debian's compiler builds all, too.
debian() {
    [ -x /usr/bin/rustc ] && [ -x /usr/bin/cargo ] || return 77
    env RUSTC=/usr/bin/rustc RUSTUP_TOOLCHAIN= /usr/bin/cargo check --workspace --locked --target-dir target/debian
}

# The program that is released, and its size.
release() {
    cargo build --release --locked -p host && ls -l target/release/host
}

# Every order for every input, and every barrier left out once: hours of processor time.
orders() {
    env GRIDSTRIDE_TEST_ALL_ORDERS=1 cargo test --release --locked -p tests
}
barriers() {
    cargo xtask mutate-barriers
}

# Other platforms compile, as far as their standard libraries are installed: rustup target add aarch64-unknown-linux-gnu.
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
