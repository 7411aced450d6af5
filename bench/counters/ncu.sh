#!/usr/bin/env bash
# Counts on this machine's GPU, with Nsight Compute, what `host explain` counts in the simulator.
#
#   bash bench/counters/ncu.sh HOST OUT [CASE…]
#
# runs the cases of cases.txt (all, or those named) with the program HOST under ncu. It writes a CSV file for each case to
# the folder OUT, and beside them cases.txt, and run.txt with the date and the machine. `cargo xtask counters OUT` compares
# them with the simulator. All cases take about two minutes. ncu must be allowed to read the GPU's counters: run it as
# root, or with a driver that allows all users to (NVreg_RestrictProfilingToAdminUsers=0).
set -uo pipefail

if [ $# -lt 2 ]; then
    echo "usage: bash $0 HOST OUT [CASE…]" >&2
    exit 2
fi
host=$1 out=$2
shift 2
folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ncu=${NCU:-ncu}
# The most seconds a case may take.
limit=60

for program in "$host" "$ncu"; do
    command -v "$program" > /dev/null || { echo "error: there is no program $program" >&2; exit 1; }
done
mkdir -p "$out" || exit 1

metrics=()
for counted in t_requests_pipe_lsu_mem_global_op t_sectors_pipe_lsu_mem_global_op; do
    for operation in ld st atom red; do metrics+=("l1tex__${counted}_$operation.sum"); done
done
for counted in data_pipe_lsu_wavefronts_mem_shared_op data_bank_conflicts_pipe_lsu_mem_shared_op; do
    for operation in ld st; do metrics+=("l1tex__${counted}_$operation.sum"); done
done
metrics=$(IFS=,; echo "${metrics[*]}")

{
    echo "date: $(date -u +%F)"
    if command -v nvidia-smi > /dev/null; then
        gpu=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader --id=0)
        echo "device: ${gpu%%,*}"
        echo "driver: ${gpu##*, }"
    fi
    echo "ncu: $("$ncu" --version | sed -n 's/^Version \([0-9.]*\).*/\1/p')"
} > "$out/run.txt"
grep '^#' "$folder/cases.txt" > "$out/cases.txt"

failed=0
# The list is read from descriptor 3, since programs may read the standard input.
while IFS='|' read -r name explain command launches <&3; do
    name=${name// /}
    case $name in '' | '#'*) continue ;; esac
    if [ $# -gt 0 ] && [[ " $* " != *" $name "* ]]; then continue; fi
    # The columns hold words without quotes.
    # shellcheck disable=SC2086
    if timeout "$limit" "$ncu" --clock-control none --csv --page raw --print-units base --metrics "$metrics" $launches \
        "$host" $command --device gpu > "$out/$name.csv" 2> "$out/$name.err" < /dev/null &&
        grep -q '^"[0-9]' "$out/$name.csv"; then
        rm -f "$out/$name.err"
        echo "$name: $(grep -c '^"[0-9]' "$out/$name.csv") launches, ${SECONDS} s"
        echo "$name|$explain|$command|$launches" >> "$out/cases.txt"
    else
        failed=1
        echo "$name: failed or profiled nothing:" >&2
        tail -n 3 "$out/$name.err" "$out/$name.csv" >&2
    fi
done 3< "$folder/cases.txt"
exit "$failed"
