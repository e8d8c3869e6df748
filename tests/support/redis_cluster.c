#include "tests/support/redis_cluster.h"

#include "common/base/clock.h"
#include "store/redis/cluster_map.h"

#include "tests/support/free_ports.h"
#include "tests/support/redis_command.h"
#include "tests/support/redis_fixture.h"
#include "tests/support/test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { START_MS = 60 * 1000, BUS_OFFSET = 10000 };

/* Runs in a child that ends with its parent. */
static _Noreturn void serve(const struct redis_cluster *cluster, int port)
{
    char number[16], nodes[32], log[FILE_PATH_SIZE + 16];
    (void)snprintf(number, sizeof number, "%d", port);
    (void)snprintf(nodes, sizeof nodes, "nodes-%d.conf", port);
    (void)snprintf(log, sizeof log, "%s/%d.log", cluster->dir.path, port);
    const int fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)dup2(fd, STDOUT_FILENO);
    (void)dup2(fd, STDERR_FILENO);
    (void)execlp("redis-server", "redis-server", "--port", number, "--bind", "127.0.0.1",
                 "--cluster-enabled", "yes", "--cluster-config-file", nodes,
                 "--cluster-node-timeout", "1000", "--cluster-replica-validity-factor", "0",
                 "--repl-diskless-sync-delay", "0", "--save", "", "--appendonly", "no", "--dir",
                 cluster->dir.path, (char *)NULL);
    _exit(127);
}

static void name_node(const struct redis_cluster *cluster, int node, char url[64])
{
    (void)snprintf(url, 64, "redis://127.0.0.1:%d", cluster->port[node]);
}

void redis_cluster_tell(const struct redis_cluster *cluster, int node, const char *words,
                        char *answer)
{
    char url[64];
    name_node(cluster, node, url);
    redis_command(url, words, answer);
}

static bool answers(const struct redis_cluster *cluster, int node)
{
    struct redis_connection *connection = NULL;
    struct redisReply *reply = NULL;
    const char *argv[] = {"PING"};
    char url[64];
    name_node(cluster, node, url);
    const bool yes = redis_connection_new(url, NULL, &connection, NULL) == ERROR_NONE &&
                     redis_connection_call(connection, 1, argv, &reply, NULL) == ERROR_NONE;
    redis_reply_free(reply);
    redis_connection_free(connection);
    return yes;
}

/* Returns whether all nodes know each other, all slots have a master, and each replica follows
 * one. */
static bool is_whole(const struct redis_cluster *cluster)
{
    for (int i = 0; i < cluster->count; i++) {
        char text[REDIS_ANSWER_SIZE], known[40];
        (void)snprintf(known, sizeof known, "cluster_known_nodes:%d\r", cluster->count);
        redis_cluster_tell(cluster, i, "CLUSTER INFO", text);
        if (!strstr(text, "cluster_state:ok") || !strstr(text, known))
            return false;
        redis_cluster_tell(cluster, i, "INFO replication", text);
        if (i >= REDIS_CLUSTER_MASTERS && !strstr(text, "master_link_status:up"))
            return false;
    }
    return true;
}

static void wait_until(bool (*holds)(const struct redis_cluster *cluster),
                       const struct redis_cluster *cluster, const char *what)
{
    const int64_t until = clock_ms() + START_MS;
    while (!holds(cluster) && clock_ms() < until)
        clock_sleep_ms(50);
    if (clock_ms() >= until)
        (void)fprintf(stderr, "the Redis Cluster in %s: %s\n", cluster->dir.path, what);
    must(clock_ms() < until);
}

static bool all_answer(const struct redis_cluster *cluster)
{
    for (int i = 0; i < cluster->count; i++)
        if (!answers(cluster, i))
            return false;
    return true;
}

static bool all_are_known(const struct redis_cluster *cluster)
{
    for (int i = 0; i < cluster->count; i++) {
        char text[REDIS_ANSWER_SIZE], known[40];
        (void)snprintf(known, sizeof known, "cluster_known_nodes:%d\r", cluster->count);
        redis_cluster_tell(cluster, i, "CLUSTER INFO", text);
        if (!strstr(text, known))
            return false;
    }
    return true;
}

static void join_nodes(struct redis_cluster *cluster)
{
    char words[128];
    for (int i = 0; i < REDIS_CLUSTER_MASTERS; i++) {
        (void)snprintf(words, sizeof words, "CLUSTER ADDSLOTSRANGE %d %d",
                       i * CLUSTER_SLOT_COUNT / REDIS_CLUSTER_MASTERS,
                       (i + 1) * CLUSTER_SLOT_COUNT / REDIS_CLUSTER_MASTERS - 1);
        redis_cluster_tell(cluster, i, words, NULL);
    }
    for (int i = 0; i < cluster->count; i++) {
        char id[REDIS_ANSWER_SIZE];
        redis_cluster_tell(cluster, i, "CLUSTER MYID", id);
        (void)snprintf(cluster->id[i], sizeof cluster->id[i], "%.40s", id);
        (void)snprintf(words, sizeof words, "CLUSTER SET-CONFIG-EPOCH %d", i + 1);
        redis_cluster_tell(cluster, i, words, NULL);
    }
    for (int i = 1; i < cluster->count; i++) {
        (void)snprintf(words, sizeof words, "CLUSTER MEET 127.0.0.1 %d", cluster->port[i]);
        redis_cluster_tell(cluster, 0, words, NULL);
    }
    wait_until(all_are_known, cluster, "its nodes do not meet");
    for (int i = REDIS_CLUSTER_MASTERS; i < cluster->count; i++) {
        (void)snprintf(words, sizeof words, "CLUSTER REPLICATE %s",
                       cluster->id[i - REDIS_CLUSTER_MASTERS]);
        redis_cluster_tell(cluster, i, words, NULL);
    }
    wait_until(is_whole, cluster, "it does not become whole");
}

void redis_cluster_start(struct redis_cluster *cluster, bool has_replicas)
{
    *cluster = (struct redis_cluster){.count = REDIS_CLUSTER_MASTERS * (has_replicas ? 2 : 1)};
    (void)signal(SIGPIPE, SIG_IGN); /* as stop_signal_install() does for the programs */
    temp_dir_make(&cluster->dir);
    const int first = free_ports(cluster->count, BUS_OFFSET);
    for (int i = 0; i < cluster->count; i++) {
        cluster->port[i] = first + i;
        cluster->pid[i] = fork();
        must(cluster->pid[i] >= 0);
        if (cluster->pid[i] == 0)
            serve(cluster, cluster->port[i]);
    }
    wait_until(all_answer, cluster, "a server does not start");
    join_nodes(cluster);
}

void redis_cluster_kill(struct redis_cluster *cluster, int node)
{
    if (!cluster->pid[node])
        return;
    (void)kill(cluster->pid[node], SIGKILL);
    (void)waitpid(cluster->pid[node], NULL, 0);
    cluster->pid[node] = 0;
}

void redis_cluster_stop(struct redis_cluster *cluster)
{
    for (int i = 0; i < cluster->count; i++)
        redis_cluster_kill(cluster, i);
    temp_dir_remove(&cluster->dir);
}

static int owner_as_seen(const struct redis_cluster *cluster, int node, int slot)
{
    struct cluster_map *map = malloc(sizeof *map);
    struct redis_connection *connection = NULL;
    struct redisReply *reply = NULL;
    const char *argv[] = {"CLUSTER", "SLOTS"};
    char url[64];
    int found = -1;
    must(map);
    cluster_map_init(map);
    name_node(cluster, node, url);
    const int asked = cluster_map_node(map, "127.0.0.1", 9, cluster->port[node]);
    must(redis_connection_new(url, NULL, &connection, NULL) == ERROR_NONE);
    must(redis_connection_call(connection, 2, argv, &reply, NULL) == ERROR_NONE);
    if (cluster_map_update(map, asked, reply, NULL) == ERROR_NONE && map->slot_node[slot] >= 0)
        for (int i = 0; i < cluster->count; i++)
            if (cluster->port[i] == map->node[map->slot_node[slot]].port)
                found = i;
    redis_reply_free(reply);
    redis_connection_free(connection);
    free(map);
    return found;
}

int redis_cluster_owner(const struct redis_cluster *cluster, int slot)
{
    int node = 0;
    while (!cluster->pid[node])
        node++;
    return owner_as_seen(cluster, node, slot);
}

void redis_cluster_move_slot(const struct redis_cluster *cluster, int slot, int from, int to)
{
    char words[256], key[REDIS_ANSWER_SIZE];
    (void)snprintf(words, sizeof words, "CLUSTER SETSLOT %d IMPORTING %s", slot, cluster->id[from]);
    redis_cluster_tell(cluster, to, words, NULL);
    (void)snprintf(words, sizeof words, "CLUSTER SETSLOT %d MIGRATING %s", slot, cluster->id[to]);
    redis_cluster_tell(cluster, from, words, NULL);
    for (;;) {
        (void)snprintf(words, sizeof words, "CLUSTER GETKEYSINSLOT %d 1", slot);
        redis_cluster_tell(cluster, from, words, key);
        if (!*key)
            break;
        char move[REDIS_ANSWER_SIZE + 64];
        (void)snprintf(move, sizeof move, "MIGRATE 127.0.0.1 %d %s 0 5000 REPLACE",
                       cluster->port[to], key);
        redis_cluster_tell(cluster, from, move, NULL);
    }
    (void)snprintf(words, sizeof words, "CLUSTER SETSLOT %d NODE %s", slot, cluster->id[to]);
    redis_cluster_tell(cluster, to, words, NULL);
    redis_cluster_tell(cluster, from, words, NULL);
    for (int i = 0; i < REDIS_CLUSTER_MASTERS; i++)
        if (i != to && i != from)
            redis_cluster_tell(cluster, i, words, NULL);
    /* Moves that overlap could leave two masters that name each other for ever. */
    const int64_t until = clock_ms() + START_MS;
    for (int i = 0; i < cluster->count; i++)
        while (cluster->pid[i] && owner_as_seen(cluster, i, slot) != to) {
            must(clock_ms() < until);
            clock_sleep_ms(10);
        }
}

void redis_cluster_uri(const struct redis_cluster *cluster, const char *prefix,
                       char uri[FILE_PATH_SIZE])
{
    must(file_path(uri, NULL, "redis+cluster://127.0.0.1:%d/%s", cluster->port[0], prefix) ==
         ERROR_NONE);
}

/* --- one for a program --- */

static struct redis_cluster shared;
static bool was_tried;
static pid_t owner;

static void stop_shared(void)
{
    if (owner == getpid()) /* not in a child of a test */
        redis_cluster_stop(&shared);
}

const struct redis_cluster *redis_cluster_shared(void)
{
    if (was_tried)
        return shared.count ? &shared : NULL;
    was_tried = true;
    if (!redis_fixture_installed()) {
        (void)fprintf(stderr, "redis+cluster: skipped, there is no redis-server here\n");
        return NULL;
    }
    owner = getpid();
    redis_cluster_start(&shared, false);
    (void)atexit(stop_shared);
    return &shared;
}
