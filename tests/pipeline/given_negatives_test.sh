#!/usr/bin/env bash
# Negative pairs given by files: ranks among them are computed in another way, mini-batches contain
# them, the same bits for any workers and under replay; bad lines are named.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
# Ids are words. The edge of a line may be in either direction in an undirected graph.
python3 - "$work" <<'MAKE'
import random, sys
random.seed(4)
name = lambda node: f"n{node}"
edges = sorted({(min(a, b), max(a, b)) for a in range(90) for b in random.sample(range(90), 6) if a != b})
random.shuffle(edges)
held = {"valid": edges[:40], "test": edges[40:110], "train": edges[110:]}
def write(path, lines):
    with open(f"{sys.argv[1]}/{path}", "w") as file:
        file.write("".join(",".join(map(name, line)) + "\n" for line in lines))
for split, of in held.items():
    write(f"{split}.csv", of)
    lines = [((a, b) if random.random() < 0.5 else (b, a)) + tuple(random.randrange(90) for _ in range(random.randint(3, 25))) for a, b in of]
    random.shuffle(lines)
    write(f"{split}_negatives.csv", lines[: len(lines) * (2 if split == "train" else 3) // 3])
MAKE
cat >"$work/given.yaml" <<'YAML'
name: given
epochs: 3
ingest:
  format: edge_list
  path: train.csv
  direction: undirected
  features: random
  random_dim: 8
  task: link_prediction
  edge_split: given
  valid_edges: valid.csv
  test_edges: test.csv
  train_negatives: train_negatives.csv
  valid_negatives: valid_negatives.csv
  test_negatives: test_negatives.csv
partition:
  parts: 3
sample:
  fanouts: [4, 4]
  batch_size: 64
  negatives: 3
  negative: given
train-step:
  hidden: 8
  dropout: 0
checkpoint:
  keep: 0
infer:
  ranking: given
YAML
answer=$(run one "$work/given.yaml")
hash=$(json weights_hash <<<"$answer")
[ ${#hash} -eq 32 ] || fail "no hash of the weights in: $answer"
for metric in mrr hits_1 hits_10; do
    [ -n "$(measure "$answer" test $metric)" ] && [ -n "$(measure "$answer" valid $metric)" ] ||
        fail "no $metric in: $answer"
done

# which node each row is of
run ids "$work/given.yaml" --set infer.predictions=false --set epochs=1 >/dev/null

# Computes the rank of each line again, from the embeddings, among the nodes of its line except the
# end itself.
check() { python3 - "$source_folder/tests/pipeline" "$work" "$@" 2>"$work/stderr" ||
    fail "$(tail -1 "$work/stderr")"; }
cat >"$work/given.py" <<'LIBRARY'
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
work = sys.argv[2]
lines_of = lambda path: [line.split(",") for line in open(f"{work}/{path}").read().split("\n")[:-1]]
number = {line[0]: i for i, line in enumerate(lines_of("ids/outputs/node_ids.csv")[1:])}
given = {(split, line[0], line[1]): line[2:] for split in ("train", "valid", "test") for line in lines_of(f"{split}_negatives.csv")}
LIBRARY
check "$(measure "$answer" test mrr)" < <(cat "$work/given.py" - <<'CHECK'
from link_checks import read_rows
rows = read_rows(work + "/one/outputs/embeddings.npy")
lines = lines_of("one/outputs/predictions.csv")
assert lines[0] == ["source", "target", "split", "score", "rank"] and len(lines) == 111, lines[0]
inverse = []
for source, target, split, score, rank in lines[1:]:
    dot = lambda node: sum(a * b for a, b in zip(rows[number[source]], rows[number[node]]))
    own, others = dot(target), [dot(node) for node in given[split, source, target] if node != target]
    assert abs(own - float(score)) < 1e-4, (source, target, own, score)
    least, most = (1 + sum(s > own + slack for s in others) for slack in (1e-5, -1e-5))
    assert least <= float(rank) <= most, (source, target, rank, least, most)
    inverse += [1 / float(rank)] if split == "test" else []
assert abs(sum(inverse) / len(inverse) - float(sys.argv[3])) < 1e-6, sys.argv[3]
CHECK
)

# Negatives of a mini-batch: for an edge with a line the nodes of the line, one after another; for
# others any.
"$bin/graphmill" export "$work/one" --what step --round 2 --output "$work/step.safetensors" \
    >/dev/null
check < <(cat "$work/given.py" - <<'CHECK'
from link_checks import read_step
tensors, _, _ = read_step(work + "/step.safetensors")
name = {i: word for word, i in number.items()}
node = [name[i] for i in tensors["mini_batch.node"]]
source, target = ([node[i] for i in tensors[f"pair_{end}"]] for end in ("source", "target"))
count, each, listed, others = len(source), len(target) // len(source) - 1, 0, 0
assert each == 3, each
for i in range(count):
    own = target[count + i * each:count + (i + 1) * each]
    line = given.get(("train", source[i], target[i]))
    others += line is None
    if line is not None:
        assert any(own == [line[(first + k) % len(line)] for k in range(each)] for first in range(len(line))), (own, line)
        listed += 1
assert listed > 5 and others > 5, (listed, others)
CHECK
)

other=$(run two "$work/given.yaml" --workers 2 --threads 1 --memory 400M | json weights_hash)
[ "$other" = "$hash" ] || fail "two workers give $other, one gave $hash"
for file in predictions.csv metrics.json; do cmp -s "$work/one/outputs/$file" \
    "$work/two/outputs/$file" || fail "two workers give another $file"; done
for unit in ingest partition "sample --round 1 --slot 0" "train-step --round 2 --slot 0" infer; do
    # shellcheck disable=SC2086
    said=$("$bin/graphmill" replay "$work/one" $unit) || fail "replay of $unit: $said"
    [[ $said == MATCH* ]] || fail "replay of $unit said $said"
done
answer=$(run test-only "$work/given.yaml" --set ingest.valid_negatives= \
    --set infer.ranked_end=source)
[ -n "$(measure "$answer" test mrr)" ] && [ -z "$(measure "$answer" valid mrr)" ] ||
    fail "ranks of a split without given nodes: $answer"

# Errors are named before anything is partitioned.
bad() { # PATTERN STATUS [settings]
    local pattern=$1 status=$2
    shift 2
    expect "$status" "$pattern" run bad "$work/given.yaml" "$@"
    [ ! -e "$work/bad/store/partition" ] || fail "$pattern: something was partitioned"
}
lines() { # FILE SED-SCRIPT: a copy that is edited
    sed "$2" "$work/$1_negatives.csv" >"$work/edited.csv"
}
lines test '3s/$/,nobody/'
bad "edited.csv:3: node 'nobody' is in no other file" 65 \
    --set ingest.test_negatives="$work/edited.csv"
lines test '4s/^\([^,]*,[^,]*\),.*/\1/'
bad 'edited.csv:4: expected nodes after the edge, which form negatives with it, found nothing' 65 --set ingest.test_negatives="$work/edited.csv"
lines test '5{p;}'
bad 'edited.csv:6: the edge from .* has an earlier line' 65 \
    --set ingest.test_negatives="$work/edited.csv"
lines test '5d'
bad 'edited.csv: the test edge from .* has no line: expected one with its negatives' 65 \
    --set ingest.test_negatives="$work/edited.csv"
{ cat "$work/test_negatives.csv" && tail -1 "$work/valid_negatives.csv"; } >"$work/edited.csv"
bad 'edited.csv:71: the edge from .* is not in the test split' 65 --set ingest.test_negatives="$work/edited.csv"
{ tail -1 "$work/valid_negatives.csv" && cat "$work/train_negatives.csv"; } >"$work/edited.csv"
bad 'edited.csv:1: the edge from .* is no training edge' 65 --set ingest.train_negatives="$work/edited.csv"
bad 'sample.negative is given, but ingest.train_negatives is empty' 78 --set ingest.train_negatives=
bad 'infer.ranking is given, but ingest.test_negatives is empty' 78 --set ingest.test_negatives= \
    --set ingest.valid_negatives=
bad 'infer.ranked_end is both, but infer.ranking is given' 78 --set infer.ranked_end=both
bad 'negatives are given for edges' 78 --set sample.pairs=walks
