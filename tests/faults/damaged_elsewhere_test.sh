#!/usr/bin/env bash
# Damages stores outside of the folder: in a bucket of a real SeaweedFS, and in two folders. verify
# names the damage; verify --remove and the same command end with the same bytes.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
command -v redis-server >/dev/null || { echo "skipped: no redis-server"; exit 77; }
seaweedfs
pipeline=$source_folder/pipelines/karate.yaml
cd "$work"
peace=$(run peace "$pipeline" | json weights_hash)

# Flips a bit in the middle of a file below $objects, through the file interface of its server:
# spoil_object PATTERN; prints the name
spoil_object() {
    python3 - "$objects" "$1" <<'END'
import json
import re
import sys
import urllib.parse
import urllib.request

root, pattern = sys.argv[1:]
top = urllib.parse.urlsplit(root).path


def ask(path, **more):
    address = root[: -len(top)] + urllib.parse.quote(path)
    with urllib.request.urlopen(urllib.request.Request(address, **more)) as answer:
        return answer.read()


def files(path):
    entries = json.loads(ask(path + "/", headers={"Accept": "application/json"}))["Entries"] or []
    for entry in sorted(entries, key=lambda entry: entry["FullPath"]):
        if entry["Mode"] >> 31:
            yield from files(entry["FullPath"])
        else:
            yield entry["FullPath"]


found = [path for path in files(top) if re.search(pattern, path)]
if not found:
    sys.exit(f"no object like {pattern}")
data = bytearray(ask(found[-1]))
data[len(data) // 2] ^= 4
ask(found[-1], data=bytes(data), method="PUT", headers={"Content-Type": "application/octet-stream"})
print(found[-1])
END
}

# Does the same for a file below a folder: spoil_file FOLDER PATTERN
spoil_file() {
    local file size
    file=$(find "$1" -type f | grep -E -- "$2" | sort | tail -1)
    [ -n "$file" ] || fail "no file like $2 in $1"
    size=$(stat -c %s "$file")
    printf '\377' | dd of="$file" bs=1 seek=$((size / 2)) conv=notrunc status=none
    echo "$file"
}

# The damage is named, removed and repaired: heals FOLDER WHAT NAMED
heals() {
    local found
    "$bin/graphmill" verify "$1" >said.txt 2>&1 && fail "$2: verify says OK"
    grep -qE -- "^(DAMAGED|MISSING) .*$3" said.txt ||
        fail "$2: verify does not name it: $(head -3 said.txt)"
    "$bin/graphmill" verify "$1" --remove >said.txt 2>&1 && fail "$2: verify --remove says OK"
    found=$(run "$1" "$pipeline" 2>again.log | json weights_hash)
    [ "$found" = "$peace" ] || fail "$2: weights '$found' afterwards: $(tail -2 again.log)"
    "$bin/graphmill" verify "$1" >said.txt 2>&1 ||
        fail "$2: afterwards verify says $(head -3 said.txt)"
    same_outputs "$1" peace
}

run bucket "$pipeline" --store "s3://graphmill/karate?endpoint=$endpoint" >/dev/null
for kind in snapshot/.*record dataset/.*/labels partition/.*/shard.files part/.*topology.files \
    outputs/.*files; do
    spoilt=$(spoil_object "karate/.*$kind") || fail "$kind cannot be spoilt"
    heals bucket "$spoilt" "${kind%%/*}"
done

run tiers "$pipeline" --store "tiered:dir:$work/fast^dir:$work/durable" >/dev/null
for kind in /gradient.record /optimizer/ /snapshot/; do
    heals tiers "$(spoil_file fast "$kind")" "$(tr -d / <<<"${kind%.record}")"
done
# If both stores have a snapshot, the fast copy hides the durable one until it is lost.
spoil_file durable /snapshot/ >/dev/null
rm -rf fast
heals tiers 'the durable snapshot' snapshot
for kind in /dataset/.*labels.record /part/.*/topology$ /part/.*/shard/.*sst \
    /outputs/.*predictions; do
    spoilt=$(spoil_file durable "$kind")
    heals tiers "$spoilt" "$(cut -d/ -f2 <<<"$kind")"
done
