#!/usr/bin/env bash
# No engine builds the image here, so what can go wrong in its file is checked by other means: the final image installs
# the packages of exactly the libraries that the programs load, and copies what is there.
set -euo pipefail
cd "$GRAPHMILL_SOURCE"
grep -qs '^VERSION_CODENAME=bookworm' /etc/os-release || { echo "skipped: the image is Debian 12, this machine is not"; exit 77; }
[ "$(nm -D "$GRAPHMILL_BIN/graphmill" | grep -c -E '__asan_init|__tsan_init' || true)" -eq 0 ] || { echo "skipped: a sanitizer's libraries are no part of the image"; exit 77; }
status=0

listed=$(awk '/^FROM/ {stage++} stage == 2' k8s/Dockerfile | sed -n '/--no-install-recommends/,/&& rm/p' |
    grep -oE '\b(lib[a-z0-9.+-]+|zlib1g)\b' | sort -u)
# Every library that a program names itself, and the package it is of.
needed=$(for program in "$GRAPHMILL_BIN"/graphmill*; do readelf -d "$program"; done |
    sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort -u |
    while read -r library; do
        path=$(ldconfig -p | awk -v l="$library" '$1 == l {print $NF; exit}')
        dpkg -S "$(readlink -f "$path")" "/usr$path" "$path" 2>/dev/null | head -1 | cut -d: -f1 || true
    done | sort -u | grep -vE '^(libc6|libgcc-s1)$')
needed=$(printf "%s\nlibcurl4\n" "$needed" | sort -u) # loaded when wanted: store/backends/s3/curl_library.c
[ "$listed" = "$needed" ] || { echo "the final image installs:" $listed; echo "the programs load:" $needed; status=1; }

grep -oE '^COPY [^-][^ ]*' k8s/Dockerfile | cut -d' ' -f2 | while read -r copied; do
    ls $copied >/dev/null 2>&1 || { echo "COPY $copied: not there"; exit 1; }
done || status=1
[ "$(grep -c '^FROM' k8s/Dockerfile)" -ge 2 ] || { echo "expected a multi-stage build"; status=1; }
[ "$(grep '^USER' k8s/Dockerfile | tail -1)" = 'USER 10001:10001' ] || { echo "the image must not run as root"; status=1; }
exit $status
