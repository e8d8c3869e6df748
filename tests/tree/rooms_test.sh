#!/usr/bin/env bash
# Rooms are known: at most 20 stems each, a README that says where to begin and which rooms are used, and no circles
# (rooms.py). Each rule is broken once in a copy of the tree, and must be reported.
set -u
cd "$GRAPHMILL_SOURCE" || exit 1
python3 tests/tree/rooms.py || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
missed=0
plant() { # the expected message, the command that breaks a rule
    rm -rf "$work/tree"
    mkdir "$work/tree"
    find common store stages pipelines \( -name '*.[ch]' -o -name README.md \) -print0 | tar --null -cf - -T - | tar -xf - -C "$work/tree"
    (cd "$work/tree" && eval "$2") || { echo "cannot plant: $2"; missed=1; }
    ! python3 tests/tree/rooms.py "$work/tree" >"$work/said" && grep -qE "$1" "$work/said" || { echo "not found: '$1' after: $2"; missed=1; }
}
plant '^store/redis: expected at most 20 stems, found [23]' 'for i in $(seq 20); do echo >store/redis/more_$i.c; done'
plant '^store/queue: expected a README.md' 'rm store/queue/README.md'
plant '^store/queue/README.md: expected a line "Begin with' 'sed -i s/^Begin.*// store/queue/README.md'
plant '^store/queue/README.md: expected the line below' "sed -i '1i #include \"common/nn/model.h\"' store/queue/work_queue.c"
plant '^store/redis: is in a circle of rooms; it uses store/queue' "sed -i '1i #include \"store/queue/work_queue.h\"' store/redis/redis_tls.c"
exit $missed
