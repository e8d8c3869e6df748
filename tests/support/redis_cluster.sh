# A real Redis Cluster for a test, on loopback ports: `source` it after tests/pipeline/library.sh.
# shellcheck shell=bash disable=SC2154 # $work is of library.sh
cluster_ports=() # masters, then their replicas
cluster_login=() # options of redis-cli: --tls, --cacert FILE, ...
cluster_pids=()

# Starts three masters, with as many replicas: cluster_start [replicas] [option of redis-server...]
cluster_start() {
    local count=3 creates=() port attempt
    [ "${1:-}" != replicas ] || { count=6 creates=(--cluster-replicas 1); shift; }
    # Another program may have a port, or the one of the bus 10000 above; then others are tried.
    # shellcheck disable=SC2034 # counts
    for attempt in 1 2 3 4 5 6 7 8; do
        port=$((12000 + (RANDOM * 32768 + RANDOM) % 8000))
        local listen=--port
        [[ " ${cluster_login[*]} " != *' --tls '* ]] || listen='--port 0 --tls-port'
        cluster_ports=() cluster_pids=()
        for ((i = 0; i < count; i++)); do
            cluster_ports+=($((port + i)))
            # shellcheck disable=SC2086 # one option or two
            redis-server $listen $((port + i)) --bind 127.0.0.1 --cluster-enabled yes \
                --cluster-config-file "nodes-$((port + i)).conf" \
                --cluster-node-timeout 1000 --cluster-replica-validity-factor 0 \
                --repl-diskless-sync-delay 0 --save '' --appendonly no \
                --dir "$work" "$@" >"$work/redis-$((port + i)).txt" 2>&1 &
            cluster_pids+=($!)
            started+=($!)
        done
        cluster_all_answer && redis-cli "${cluster_login[@]}" --cluster create \
            "${cluster_ports[@]/#/127.0.0.1:}" "${creates[@]}" --cluster-yes >"$work/create.txt" \
            2>&1 &&
            cluster_is_whole $count && return
        kill "${cluster_pids[@]}" 2>/dev/null || true
        rm -f "$work"/nodes-*.conf
    done
    fail "no Redis Cluster starts: $(tail -3 "$work"/redis-*.txt "$work/create.txt")"
}

cluster_all_answer() {
    local i try
    for i in "${!cluster_ports[@]}"; do
        for try in $(seq 100); do
            kill -0 "${cluster_pids[i]}" 2>/dev/null || return 1
            [ "$(redis-cli "${cluster_login[@]}" -p "${cluster_ports[i]}" ping 2>/dev/null)" != \
                PONG ] || break
            [ "$try" -lt 100 ] || return 1
            sleep 0.1
        done
    done
}

# Returns whether every node sees all COUNT, and each replica follows its master: cluster_is_whole
# COUNT
cluster_is_whole() {
    local port try
    for port in "${cluster_ports[@]}"; do
        for try in $(seq 200); do
            local said
            said=$(redis-cli "${cluster_login[@]}" -p "$port" cluster info; redis-cli \
                "${cluster_login[@]}" -p "$port" info replication)
            [[ $said != *cluster_state:ok* || $said != *cluster_known_nodes:$1* ||
                ($said == *role:slave* && $said != *master_link_status:up*) ]] || break
            [ "$try" -lt 200 ] || return 1
            sleep 0.1
        done
    done
}

# Prints its address: cluster_uri PREFIX
cluster_uri() \
    { echo "redis+cluster://127.0.0.1:${cluster_ports[0]},127.0.0.1:${cluster_ports[1]}/$1"; }

# Kills the server with that number, like a lost machine.
cluster_kill() { kill -KILL "${cluster_pids[$1]}"; wait "${cluster_pids[$1]}" 2>/dev/null || true; }

# Prints how many keys its masters have.
cluster_keys() {
    local port sum=0
    for port in "${cluster_ports[@]}"; do
        [[ $(redis-cli "${cluster_login[@]}" -p "$port" role 2>/dev/null | head -1) != master ]] ||
            sum=$((sum + $(redis-cli "${cluster_login[@]}" -p "$port" dbsize)))
    done
    echo $sum
}

# Moves SLOTS slots from the first to the second master, key by key, while they are in use:
# cluster_move SLOTS
cluster_move() {
    local from to
    from=$(redis-cli "${cluster_login[@]}" -p "${cluster_ports[0]}" cluster myid)
    to=$(redis-cli "${cluster_login[@]}" -p "${cluster_ports[1]}" cluster myid)
    redis-cli "${cluster_login[@]}" --cluster reshard "127.0.0.1:${cluster_ports[0]}" \
        --cluster-from "$from" --cluster-to "$to" --cluster-slots "$1" --cluster-yes \
        >"$work/reshard.txt" 2>&1
}
