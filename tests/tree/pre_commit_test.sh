#!/usr/bin/env bash
# tests/pre_commit.sh formats what is staged, leaves a file alone that is staged in part, and runs the checks of the rooms
# that changed: in a repository of its own, whose checks leave a file each.
set -eu
source=$GRAPHMILL_SOURCE
command -v clang-format >/dev/null || { echo "skipped: no clang-format"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
git init -q .
git config user.email test@localhost
git config user.name test
cp "$source/.clang-format" .
mkdir -p common/base common/nn/odd build tests/common/base
{
    echo 'rule note'
    echo '  command = touch ran-$out'
    for room in common-base common-nn tree; do echo "build check-$room: note"; done
} >build/build.ninja
commit() { GIT_DIR= BUILD=build env -u GIT_DIR bash "$source/tests/pre_commit.sh" >said 2>&1; }
ran() { (cd build && ls ran-check-* 2>/dev/null | xargs); }
fail() { echo "$*"; cat said; exit 1; }

commit || fail 'nothing is staged, and the hook fails'
[ -z "$(ran)" ] || fail "nothing is staged, and $(ran) ran"

echo 'int  a( void ){return 1;}' >common/base/text.c
git add common/base/text.c
commit || fail 'a file that is staged whole is refused'
git show :common/base/text.c | clang-format --assume-filename=x.c --dry-run --Werror || fail 'a staged file is not formatted'
[ "$(ran)" = 'ran-check-common-base ran-check-tree' ] || fail "expected the checks of common/base and of the tree, found $(ran)"

# A room without a check of its own is checked by the room around it.
rm build/ran-*
echo 'int b;' >common/nn/odd/more.h
git add common/nn/odd
commit || fail 'a room without tests is refused'
case " $(ran) " in *' ran-check-common-nn '*) ;; *) fail "expected the check of common/nn, found $(ran)" ;; esac

echo 'int  c;' >common/base/part.c
git add common/base/part.c
echo 'int d;' >>common/base/part.c
! commit || fail 'a file that is staged in part and not formatted is accepted'
grep -q '^common/base/part.c: is staged in part' said || fail 'expected the name of the file that is staged in part'
[ "$(wc -l <common/base/part.c)" -eq 2 ] || fail 'a file that is staged in part was changed'
