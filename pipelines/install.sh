#!/usr/bin/env bash
# Installs the Debian packages that graphmill needs and this machine lacks.
#
#   install.sh build           for building and running
#   install.sh build test      ... and for tests/run.sh
set -euo pipefail

build=(build-essential cmake ninja-build pkg-config librocksdb-dev liblmdb-dev libhiredis-dev \
    redis-server
       libmetis-dev libarpack2-dev libopenblas-pthread-dev libyaml-dev libjansson-dev zlib1g-dev \
           libminizip-dev libzstd-dev libmicrohttpd-dev libxxhash-dev
       libcurl4-openssl-dev libssl-dev libexpat1-dev librandom123-dev)
test=(libcmocka-dev clang clang-format clang-tidy libclang-rt-14-dev git python3 python3-yaml \
    python3-venv
      python3-numpy strace procps file zstd iproute2 zsh)

# Debian has it only for processors with bf16 products; elsewhere the build does without.
[ "$(dpkg --print-architecture)" != amd64 ] || build+=(libxsmm-dev)

# Many machines have kubectl from another source, which Debian's package conflicts with.
command -v kubectl >/dev/null || test+=(kubernetes-client)

wanted=()
for group in "$@"; do
    case $group in
    build) wanted+=("${build[@]}") ;;
    test) wanted+=("${test[@]}") ;;
    *)
        echo "install.sh: '$group' is neither build nor test" >&2
        exit 64
        ;;
    esac
done

missing=()
for package in "${wanted[@]}"; do
    [[ $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) == *'ok installed'* ]] ||
        missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || {
        echo "These packages are missing and only root can install them: ${missing[*]}" >&2
        exit 77
    }
    as_root=(sudo)
fi
echo "installing ${#missing[@]} packages: ${missing[*]}" >&2
export DEBIAN_FRONTEND=noninteractive
# Run level 1 prevents the redis-server package from starting a server: runs start their own. A
# predictable name in /tmp could be a link that somebody else made, so the log has a name of its
# own, or the caller's.
log=${GRAPHMILL_INSTALL_LOG:-}
[ -n "$log" ] || log=$(mktemp "${TMPDIR:-/tmp}/graphmill-install-XXXXXX.log")
{
    "${as_root[@]}" apt-get update -q
    "${as_root[@]}" env RUNLEVEL=1 apt-get install -y -q --no-install-recommends "${missing[@]}"
} >"$log" 2>&1 || {
    tail -20 "$log" >&2
    echo "the whole log is $log" >&2
    exit 71
}
