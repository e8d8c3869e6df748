#!/usr/bin/env bash
# Renders every overlay and what `graphmill render` prints offline, checks them against the Kubernetes schemas, and against our own
# rules.
set -euo pipefail
cd "$GRAPHMILL_SOURCE"
version=1.37.0 # of kubernetes-validate
floor=1.33     # of Kubernetes
command -v kubectl >/dev/null || { echo "skipped: no kubectl"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

tools=${XDG_CACHE_HOME:-$HOME/.cache}/graphmill/kubernetes-validate-$version
if [ ! -x "$tools/bin/kubernetes-validate" ]; then
    rm -rf "$tools"
    python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet "kubernetes-validate==$version" 2>"$work/pip" || {
        rm -rf "$tools"
        echo "skipped: kubernetes-validate $version cannot be installed: $(tail -1 "$work/pip")"
        exit 77
    }
fi

# Debian's kubectl is old: it knows folders of resources as `bases` and patches as `patchesStrategicMerge`.
cp -r k8s "$work/k8s"
if ! kubectl kustomize "$work/k8s/overlays/single-node" >/dev/null 2>&1; then
    sed -i -e '/^  - path: /{s/path: //}' -e 's/^patches:/patchesStrategicMerge:/' \
        -e '/^resources:$/{N;s/^resources:\n  - \.\./bases:\n  - ../}' "$work"/k8s/overlays/*/kustomization.yaml
    sed -i 's/^resources:/bases:/' "$work/k8s/base/kustomization.yaml"
fi
for overlay in "$work"/k8s/overlays/*/; do
    name=$(basename "$overlay")
    kubectl kustomize "$overlay" >"$work/$name.yaml" 2>"$work/kustomize" || { cat "$work/kustomize"; exit 1; }
    "$tools/bin/kubernetes-validate" --strict --quiet -k $floor "$work/$name.yaml"
    "$tools/bin/python" tests/tree/kubernetes_rules.py "$work/$name.yaml"
done

# Runs of four forms, side by side on what lasts. The schemas know no Workflow of Argo and no ScaledJob of KEDA: our rules alone look at them.
kubectl kustomize "$work/k8s/base/lasting" >"$work/all.yaml"
kubectl kustomize "$work/k8s/base/run" >"$work/run.yaml"
printf -- '---\napiVersion: v1\nkind: Secret\nmetadata: {name: s3}\n' >>"$work/all.yaml"
render() { # form, further options
    printf -- '---\n' >>"$work/all.yaml"
    "$GRAPHMILL_BIN/graphmill" render k8s/base/run/pipeline.yaml --image graphmill:0.1.0 --form "$@" 2>"$work/stderr" |
        tee "$work/$1.yaml" >>"$work/all.yaml" || { cat "$work/stderr"; exit 1; }
    [[ $1 = argo || $1 = keda ]] || "$tools/bin/kubernetes-validate" --strict --quiet -k $floor "$work/$1.yaml"
}
render jobs --name mine --store dir:/data/store --workers 2
render argo --store s3://bucket/store --set seed=7 --credentials s3 --egress 8333
render keda --name scaled --store dir:/data/store --workers 5 --metrics http://prometheus:9090
[ "$(grep -c '^kind: ScaledJob' "$work/keda.yaml")" -eq 3 ] || { echo "expected a ScaledJob for each stage of any number of workers"; exit 1; }
"$tools/bin/python" -c 'import sys, yaml; yaml.safe_dump_all([d for d in yaml.safe_load_all(open(sys.argv[1])) if d["kind"] != "ScaledJob"], sys.stdout)' \
    "$work/keda.yaml" >"$work/plain.yaml"
"$tools/bin/kubernetes-validate" --strict --quiet -k $floor "$work/plain.yaml"
render indexed --store dir:/data/store --set 'name=My_Run.2' --set 'ingest.path=/data/an "in": \put' --workers 3
"$tools/bin/python" tests/tree/kubernetes_rules.py "$work/all.yaml" "mine=$work/run.yaml"
