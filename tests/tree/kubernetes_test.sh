#!/usr/bin/env bash
# Renders every overlay offline, checks it against the Kubernetes schemas, and against our own rules.
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
git ls-files --error-unmatch k8s/overlays/single-node/password >/dev/null 2>&1 && { echo "a password is committed"; exit 1; }
printf 'of-this-test' >"$work/k8s/overlays/single-node/password"
if ! kubectl kustomize "$work/k8s/overlays/single-node" >/dev/null 2>&1; then
    sed -i -e '/^  - path: /{s/path: //}' -e 's/^patches:/patchesStrategicMerge:/' \
        -e '/^resources:$/{N;s/^resources:\n  - \.\./bases:\n  - ../}' "$work"/k8s/overlays/*/kustomization.yaml
fi
for overlay in "$work"/k8s/overlays/*/; do
    name=$(basename "$overlay")
    kubectl kustomize "$overlay" >"$work/$name.yaml" 2>"$work/kustomize" || { cat "$work/kustomize"; exit 1; }
    "$tools/bin/kubernetes-validate" --strict --quiet -k $floor "$work/$name.yaml"
    "$tools/bin/python" tests/tree/kubernetes_rules.py "$work/$name.yaml"
done
