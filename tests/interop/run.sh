#!/usr/bin/env bash
# Checks that PyG and DGL compute the same as graphmill: loads exported models with strict=True and
# compares logits, loss and gradients (README.md). It is run on demand: the first time it installs
# several GB from PyPI into a cache folder.
#
#   tests/interop/run.sh [--graphs cora,odd,arxiv] [MODEL...]
#   tests/interop/run.sh --typed [MODEL...]      only models over relations
#   tests/interop/run.sh --edges [DECODER...]    only models of pairs of nodes
#   tests/interop/run.sh --readouts              only models of graphs
#   tests/interop/run.sh --python                only pipelines/python/graphmill.py
#   tests/interop/run.sh --metrics               only metrics.json, compared with scikit-learn
#   tests/interop/run.sh --dashboard             only k8s/grafana, checked by Grafana's schema
#   tests/interop/run.sh --typed-accuracy FOLDER [OPTION...]    PyG's test accuracy on a graph with
#                                                               relations: typed_accuracy.py
#   tests/interop/run.sh --graph-accuracy FOLDER [OPTION...]    PyG's test accuracy on many graphs:
#                                                               graph_accuracy.py
#
# Without arguments all of it runs. GRAPHMILL_BIN is the folder of the programs (default build/bin).
# GRAPHMILL_DATASETS is the folder with cora and ogbn-arxiv.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
export GRAPHMILL_BIN=${GRAPHMILL_BIN:-$source/build/bin}
export GRAPHMILL_DATASETS=${GRAPHMILL_DATASETS:-$source/../shared/datasets}
cache=${XDG_CACHE_HOME:-$HOME/.cache}/graphmill
[ -x "$GRAPHMILL_BIN/graphmill" ] ||
    { echo "interop: no program $GRAPHMILL_BIN/graphmill; build first" >&2; exit 66; }

# Makes a virtual environment that is complete or absent: environment NAME PACKAGES...; prints its
# folder
environment() {
    local folder=$cache/$1
    shift
    if [ ! -e "$folder/whole" ]; then
        rm -rf "$folder"
        mkdir -p "$cache"
        echo "interop: installing $* into $folder" >&2
        { python3 -m venv "$folder" && "$folder/bin/pip" install --quiet "$@" >&2 &&
            touch "$folder/whole"; } || {
            rm -rf "$folder"
            echo "interop: $* cannot be installed" >&2
            exit 69
        }
    fi
    echo "$folder"
}

# Models over relations: typed.py repeats the steps that typed_step wrote.
typed() {
    "$pyg/bin/python" "$here/typed.py" --program "$GRAPHMILL_BIN/../tests/typed_step" "$@"
}

metrics() {
    local scikit
    scikit=$(environment interop-scikit-learn-1.9.1 scikit-learn==1.9.1)
    "$scikit/bin/python" "$here/metrics_check.py"
}
if [ "${1:-}" = --metrics ]; then
    PYTHONDONTWRITEBYTECODE=1 metrics
    exit
fi
dashboard() {
    local grafana
    grafana=$(environment interop-grafana-11.6.0 'grafana-foundation-sdk==1769699379!11.6.0')
    "$grafana/bin/python" "$here/dashboard_check.py" "$source/k8s/grafana/graphmill.json"
}
if [ "${1:-}" = --dashboard ]; then
    PYTHONDONTWRITEBYTECODE=1 dashboard
    exit
fi

# DGL 2.1.0 is built for torch up to 2.2.1, so it has its own environment.
pyg=$(environment interop-pyg-2.8.1 torch==2.13.0 numpy torch_geometric==2.8.1 safetensors)
if [ "${1:-}" = --typed ]; then
    shift
    typed "$@"
    exit
fi
if [ "${1:-}" = --edges ]; then
    shift
    exec "$pyg/bin/python" "$here/edge_heads.py" "$@"
fi
if [ "${1:-}" = --readouts ]; then
    exec env PYTHONDONTWRITEBYTECODE=1 "$pyg/bin/python" "$here/graphs.py"
fi
if [ "${1:-}" = --typed-accuracy ]; then
    shift
    exec "$pyg/bin/python" -W ignore "$here/typed_accuracy.py" "$@"
fi
if [ "${1:-}" = --graph-accuracy ]; then
    shift
    exec "$pyg/bin/python" -W ignore "$here/graph_accuracy.py" "$@"
fi
dgl=$(environment interop-dgl-2.1.0 torch==2.2.1 'numpy<2' 'pandas<2.3' dgl==2.1.0 \
    torchdata==0.7.1 pyyaml pydantic safetensors)
run_python() {
    "$pyg/bin/python" -W ignore "$here/python_example.py" "$GRAPHMILL_DATASETS/cora"
    DGLBACKEND=pytorch "$dgl/bin/python" -W ignore "$here/python_dgl.py"
}
if [ "${1:-}" = --python ]; then
    PYTHONDONTWRITEBYTECODE=1 run_python
    exit
fi
export DGLBACKEND=pytorch OMP_NUM_THREADS=${OMP_NUM_THREADS:-2}
export PYTHONDONTWRITEBYTECODE=1
[ $# -gt 0 ] || { typed && "$pyg/bin/python" "$here/edge_heads.py" &&
    "$pyg/bin/python" "$here/graphs.py" && run_python && metrics && dashboard; }
exec "$pyg/bin/python" "$here/interop.py" --dgl-python "$dgl/bin/python" "$@"
