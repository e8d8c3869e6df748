#!/usr/bin/env bash
# A run's metrics as JSONL and as events of TensorBoard, read back record by record: the same
# numbers, and nothing else differs from run to run.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
run one "$source_folder/pipelines/karate.yaml" --set epochs=3 >/dev/null
"$bin/graphmill" export "$work/one" --what metrics --output "$work/metrics.jsonl" >/dev/null
"$bin/graphmill" export "$work/one" --what tensorboard --output "$work/events" >/dev/null
"$bin/graphmill" export "$work/one" --what tensorboard --output "$work/again" >/dev/null
cmp "$work/events" "$work/again" || fail "two exports differ"
cmp "$work/metrics.jsonl" "$work/one/metrics.jsonl" || fail "the metrics are others"
/usr/bin/python3 - "$work/events" "$work/metrics.jsonl" <<'PYTHON' || fail "see above"
import json, struct, sys

def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF

def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF

def fields(data):
    at = 0
    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    while at < len(data):
        key = varint()
        kind = key & 7
        if kind == 0:
            yield key >> 3, varint()
            continue
        size = {1: 8, 5: 4}.get(kind) or varint()
        yield key >> 3, data[at:at + size]
        at += size

data = open(sys.argv[1], "rb").read()
found, at = {}, 0
while at < len(data):
    (size,) = struct.unpack_from("<Q", data, at)
    assert struct.unpack_from("<I", data, at + 8) == (masked(data[at:at + 8]),), "sum of a length"
    event = data[at + 12:at + 12 + size]
    assert struct.unpack_from("<I", data, at + 12 + size) == (masked(event),), "sum of a record"
    event = dict(fields(event))
    if at == 0:
        assert event[3] == b"brain.Event:2", event
    else:
        value = dict(fields(dict(fields(event[5]))[1]))
        found[value[1].decode(), event[2]] = struct.unpack("<f", value[2])[0]
    at += 16 + size
assert at == len(data)

expected = {}
for text in open(sys.argv[2]):
    line = json.loads(text)
    kind = "round" if "round" in line else "snapshot"
    for key, value in line.items():
        if key not in ("round", "snapshot", "epoch", "best") and isinstance(value, (int, float)) and not isinstance(value, bool):
            expected[f"{kind}/{key}", line[kind]] = struct.unpack("<f", struct.pack("<f", value))[0]
assert found == expected and len(found) > 10, (found, expected)
PYTHON
