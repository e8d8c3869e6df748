#!/usr/bin/env bash
# From a fresh checkout to a trained model: installs what is missing, builds, runs one pipeline, and
# computes a unit of it again to show that the bits agree. If it is installed (cmake --install
# build), it runs the installed programs.
#
#   quickstart.sh             the generated graph of quickstart.yaml; needs no data
#   quickstart.sh cora        pipelines/cora.yaml, or any other name there
#
# GRAPHMILL_RUNS is the folder of the runs; the default is runs/ of the checkout, or of the current
# folder.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source=$(dirname "$here")
name=${1:-quickstart}
pipeline=$here/$name.yaml

[ -e "$pipeline" ] || {
    echo "There is no pipelines/$name.yaml. There are: $(cd "$here" && ls -- *.yaml |
        sed 's/\.yaml//' | tr '\n' ' ')" >&2
    exit 64
}

# Finds the data that a pipeline file reads from the folder of datasets.
datasets=${GRAPHMILL_DATASETS:-$source/../shared/datasets}
folder=$(sed -n 's|^ *path: *${GRAPHMILL_DATASETS:-[^}]*}/\(.*\)$|\1|p' "$pipeline")
if [ -n "$folder" ] && [ ! -d "$datasets/$folder" ]; then
    cat >&2 <<END
The data of '$name' is not here: $datasets/$folder is no folder.

To get it: put a folder '$folder' with these files anywhere and set GRAPHMILL_DATASETS to the folder above it.
  edges.csv         a line "src,dst", then one edge a line, ids from 0
  node-feat.npy     float32 [nodes, features]
  node-label.csv    one class a line, -1 for none
  train.csv valid.csv test.csv   one node id a line
  meta.json         {"num_nodes": ..., "directed": false}
Three lines of PyG make them: torch_geometric.datasets.Planetoid(root, "${folder^}")[0] has edge_index, x, y and
the three masks. Or run without data: pipelines/quickstart.sh
END
    exit 66
fi

# Shows progress until it is killed: the seconds and the last line of the log, redrawn on a
# terminal, elsewhere a line every ten seconds. While the log is empty it prints nothing, because
# sudo may be asking: tell LABEL LOG
tell() {
    local began=$SECONDS last=$SECONDS text width
    while sleep 0.5; do
        text=$(tail -c 400 "$2" 2>/dev/null | tr '\r' '\n' | tail -n 1 | tr -cd '[:print:]')
        [ -n "$text" ] || continue
        if [ -t 2 ]; then
            width=$(stty size <&2 2>/dev/null | cut -d' ' -f2)
            [ "${width:-0}" -gt 30 ] || width=80
            printf '\r%-10s %4d s  %.*s\033[K' "$1" $((SECONDS - began)) $((width - 20)) "$text" >&2
        elif [ $((SECONDS - last)) -ge 10 ]; then
            last=$SECONDS
            printf '%-10s %4d s  %s\n' "$1" $((SECONDS - began)) "$text" >&2
        fi
    done
}

# Runs a command that writes to LOG, and shows its progress: follow LABEL LOG COMMAND...
follow() {
    local label=$1 log=$2 status=0 teller
    shift 2
    : >"$log"
    tell "$label" "$log" &
    teller=$!
    trap 'kill "$teller" 2>/dev/null' EXIT
    "$@" || status=$?
    trap - EXIT
    kill "$teller" 2>/dev/null || true
    wait "$teller" 2>/dev/null || true
    [ ! -t 2 ] || printf '\r\033[K' >&2
    return $status
}

build_all() { ninja -C "$build" >"$build/build.log" 2>&1; }

if [ -e "$source/CMakeLists.txt" ]; then
    echo "packages     looking for what is missing" >&2
    GRAPHMILL_INSTALL_LOG=$(mktemp "${TMPDIR:-/tmp}/graphmill-install-XXXXXX.log")
    export GRAPHMILL_INSTALL_LOG
    follow packages "$GRAPHMILL_INSTALL_LOG" "$here/install.sh" build
    rm -f "$GRAPHMILL_INSTALL_LOG"
    build=$source/build
    echo "build        into $build; the first time takes about a minute" >&2
    mkdir -p "$build"
    [ -e "$build/build.ninja" ] || cmake -S "$source" -B "$build" -G Ninja -DBUILD_TESTING=OFF \
        >/dev/null
    follow build "$build/build.log" build_all || {
        tail -30 "$build/build.log" >&2
        exit 70
    }
    bin=$build/bin
    runs=${GRAPHMILL_RUNS:-$source/runs}
else
    bin=$(cd "$here/../../../bin" && pwd) # beside share/graphmill/pipelines
    runs=${GRAPHMILL_RUNS:-runs}
fi

directory=$runs/$name
"$bin/graphmill" run "$pipeline" --directory "$directory"

echo
echo "One unit of work again, from the stored records:"
last=$("$bin/graphmill" status "$directory" --json |
    sed -n 's/.*"snapshot_round":\([0-9]*\).*/\1/p')
"$bin/graphmill" replay "$directory" train-step --round $((last - 1)) --slot 0

[ "$(readlink -f "$(command -v graphmill || true)")" = "$(readlink -f "$bin/graphmill")" ] ||
    cat <<END

To type graphmill alone, in this shell:
    export PATH=$(printf %q "$bin"):\$PATH
END
