#!/usr/bin/env bash
# In a memory group below the top, version 1 or 2: the limit is detected, and a run whose --memory
# is larger than the limit is killed by the kernel once, ends with 71 and says so. It needs root,
# and a folder that is not in memory: files of a tmpfs would be charged to the group.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
not_sanitized 'a sanitizer takes memory of its own'
rm -rf "$work"
work=$(mktemp -d -p "${FAULTS_DISK:-/var/tmp}" graphmill-pipeline-XXXXXX)
[ "$(stat -f -c %T "$work")" != tmpfs ] || { echo 'skipped: no disk'; exit 77; }
group=
for above in /sys/fs/cgroup/memory /sys/fs/cgroup; do
    mkdir "$above/graphmill-$$" 2>/dev/null || continue
    for file in memory.limit_in_bytes memory.max; do
        [ -w "$above/graphmill-$$/$file" ] && group=$above/graphmill-$$ limit=$file && break 2
    done
    rmdir "$above/graphmill-$$"
done
[ -n "$group" ] || { echo 'skipped: no memory group can be made here'; exit 77; }
leave() {
    local status=$?
    end_started
    rmdir "$group" 2>/dev/null || { sleep 1; rmdir "$group" 2>/dev/null || true; }
    return $status
}
trap 'leave; finish' EXIT
cat >"$work/b.yaml" <<'YAML'
name: b
epochs: 1
ingest: {format: generated, nodes: 150000, average_degree: 10, classes: 8, feature_dim: 340}
partition: {method: hash, parts: 4}
sample: {fanouts: [10, 5], batch_size: 4096, evaluation_fanouts: [10, 5]}
train-step: {hidden: 32}
YAML
in_group() { (echo "$BASHPID" >"$group/cgroup.procs" && exec "$@"); }
echo $((250 << 20)) >"$group/$limit"
[ ! -e "$group/memory.swap.max" ] || echo 0 >"$group/memory.swap.max"
in_group "$bin/graphmill" doctor >"$work/doctor" 2>&1 || true
grep -q '250.0 MiB' "$work/doctor" ||
    fail "doctor does not see the limit: $(grep -i memory "$work/doctor")"
expect 71 'memory' in_group "$bin/graphmill" run "$work/b.yaml" --directory "$work/r"

# The budget is above the limit, so the kernel kills.
"$bin/graphmill-ingest" --store "dir:$work/k/store" --pipeline "$work/b.yaml" >/dev/null 2>&1
"$bin/graphmill-partition" --store "dir:$work/k/store" --pipeline "$work/b.yaml" >/dev/null 2>&1
echo $((180 << 20)) >"$group/$limit"
status=0
in_group timeout -s KILL 300 "$bin/graphmill" run "$work/b.yaml" --directory "$work/k" --memory 4G \
    --quiet >"$work/stdout" 2>"$work/stderr" || status=$?
echo "status $status: $(tail -1 "$work/stderr")"
[ $status -eq 71 ] || fail "killed for memory: status $status, expected 71: $(tail -3 \
    "$work/stderr")"
grep -qE 'killed by the kernel for want of memory: its budget was .* the limit here is 180.0 MiB; (--memory [0-9]+M would fit|give a limit of [0-9]+ MiB)' "$work/stderr" ||
    fail "it did not say so: $(tail -3 "$work/stderr")"
