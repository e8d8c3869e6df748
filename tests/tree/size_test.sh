#!/usr/bin/env bash
# The source is no larger than tests/tree/size.txt says, and the ratchet holds: a copy of the tree
# with one more line of code is refused, with one more comment is not.
set -u
cd "$GRAPHMILL_SOURCE" || exit 1
python3 tests/tree/size.py || exit 1
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -r --parents common store stages pipelines tests/tree "$copy" && cd "$copy" || exit 1
python3 tests/tree/size.py --write || exit 1
printf '/* A comment\n * of two lines. */\n\n' >>common/base/text.c
python3 tests/tree/size.py >/dev/null || { echo 'a comment counts as a line of code'; exit 1; }
echo 'int one_more;' >>common/base/text.c
found=$(python3 tests/tree/size.py)
grep -q "^lines common/base: expected at most .*  +1 why" <<<"$found" || { echo "one more line of code is not refused"; exit 1; }
sed -i 's/^lines common\/base .*/&\n  +1 the test needs one/' tests/tree/size.txt
python3 tests/tree/size.py >/dev/null || { echo 'a line with a reason does not raise the limit'; exit 1; }
