#include "store/redis/cluster_client.h"

#include "common/base/clock.h"
#include "common/base/host.h"
#include "common/base/memory.h"
#include "common/base/stop_signal.h"
#include "common/base/text.h"
#include "store/redis/redis_policy.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    IDLE_MAX = 4,         /* idle connections that are kept for each node */
    ANSWER_MS = 5 * 1000, /* a node that is silent for so long is given up for now */
    PAUSE_FIRST_MS = 8,
    PAUSE_MOST_MS = 500,
    MOVED_AT_ONCE = 4, /* redirections of a command that are followed without a pause */
};

struct cluster_client {
    struct cluster_access access;
    pthread_mutex_t lock; /* guards the members below */
    struct cluster_map map;
    int asked_last; /* node that was last asked for the map */
    uint64_t round_trips;
    struct redis_connection *idle[CLUSTER_NODE_MAX][IDLE_MAX];
    pid_t owner; /* process that owns the connections */
};

/* --- connections --- */

/* Closes the child's copies of the connections after a fork: otherwise either process could receive
 * an answer. */
static void leave_to_parent(struct cluster_client *c)
{
    if (c->owner == getpid())
        return;
    for (int node = 0; node < CLUSTER_NODE_MAX; node++)
        for (int i = 0; i < IDLE_MAX; i++) {
            redis_connection_free(c->idle[node][i]);
            c->idle[node][i] = NULL;
        }
    c->owner = getpid();
}

static struct redis_connection *take_idle(struct cluster_client *c, int node)
{
    struct redis_connection *found = NULL;
    (void)pthread_mutex_lock(&c->lock);
    leave_to_parent(c);
    for (int i = 0; !found && i < IDLE_MAX; i++) {
        found = c->idle[node][i];
        c->idle[node][i] = NULL;
    }
    (void)pthread_mutex_unlock(&c->lock);
    return found;
}

static void give_back(struct cluster_client *c, int node, struct redis_connection *connection)
{
    (void)pthread_mutex_lock(&c->lock);
    for (int i = 0; connection && i < IDLE_MAX; i++)
        if (!c->idle[node][i]) {
            c->idle[node][i] = connection;
            connection = NULL;
        }
    (void)pthread_mutex_unlock(&c->lock);
    redis_connection_free(connection);
}

/* Closes all idle connections of a node: if one is broken, the server was probably restarted. */
static void drop_idle(struct cluster_client *c, int node)
{
    for (struct redis_connection *one = take_idle(c, node); one; one = take_idle(c, node))
        redis_connection_free(one);
}

/* Connects to a node. A node that is new, because it replaces one that failed, is checked like
 * those at the start. */
static enum error_code connect_to(struct cluster_client *c, int node, struct redis_connection **out,
                                  struct error *err)
{
    struct redis_address address = c->access.like;
    *out = take_idle(c, node);
    if (*out)
        return ERROR_NONE;
    (void)pthread_mutex_lock(&c->lock);
    must(text_copy(address.host, sizeof address.host, c->map.node[node].host));
    address.port = c->map.node[node].port;
    (void)pthread_mutex_unlock(&c->lock);
    enum error_code rc = redis_connection_open(&address, &c->access.login, ANSWER_MS, out, err);
    if (rc == ERROR_NONE)
        rc = redis_policy_check(*out, c->access.what, err);
    if (rc != ERROR_NONE) {
        redis_connection_free(*out);
        *out = NULL;
    }
    return rc;
}

/* --- the map --- */

/* Asks for CLUSTER SLOTS. A node that is not in a cluster is a wrong setting, not a temporary
 * failure. */
static enum error_code ask_for_slots(struct redis_connection *connection, struct redisReply **reply,
                                     struct error *err)
{
    static const struct redis_text words[] = {{"CLUSTER", 7}, {"SLOTS", 5}};
    enum error_code rc = redis_connection_send(connection, words, 2, err);
    if (rc == ERROR_NONE)
        rc = redis_connection_receive(connection, reply, err);
    const char *text = redis_reply_error(*reply);
    if (rc != ERROR_NONE || !text)
        return rc;
    if (redis_error_is_alone(text))
        return error_set(err, ERROR_INVALID,
                         "Redis at %s is not in a cluster: " ADVICE
                         "start it with cluster-enabled yes, or name another server",
                         redis_connection_url(connection));
    return error_set(err, redis_error_code(text), "Redis at %s: CLUSTER: %s",
                     redis_connection_url(connection), text);
}

static enum error_code ask_for_map(struct cluster_client *c, int node, struct error *err)
{
    struct redis_connection *connection = NULL;
    struct redisReply *reply = NULL;
    enum error_code rc = connect_to(c, node, &connection, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = ask_for_slots(connection, &reply, err);
    if (rc == ERROR_NONE) {
        (void)pthread_mutex_lock(&c->lock);
        rc = cluster_map_update(&c->map, node, reply, err);
        (void)pthread_mutex_unlock(&c->lock);
    }
    redis_reply_free(reply);
    if (rc == ERROR_NONE)
        give_back(c, node, connection);
    else
        redis_connection_free(connection);
    return rc;
}

/* Asks the nodes in turn for the map, beginning with another node each time, because a node that is
 * cut off answers with an old map. */
static enum error_code refresh_map(struct cluster_client *c, struct error *err)
{
    enum error_code rc = ERROR_UNAVAILABLE;
    (void)pthread_mutex_lock(&c->lock);
    const int count = c->map.node_count, first = ++c->asked_last;
    (void)pthread_mutex_unlock(&c->lock);
    for (int i = 0; i < count && rc == ERROR_UNAVAILABLE; i++)
        rc = ask_for_map(c, (first + i) % count, err);
    return rc;
}

static int64_t longer_pause(int64_t pause)
{
    return pause == 0 ? PAUSE_FIRST_MS : 2 * pause < PAUSE_MOST_MS ? 2 * pause : PAUSE_MOST_MS;
}

/* Sleeps for half of the pause and a random part of the other half, so that waiting clients do not
 * all return at once. */
static void wait_some(int64_t pause, int64_t until)
{
    const int64_t chosen = pause / 2 + (int64_t)(host_random_64() % (uint64_t)(pause / 2 + 1));
    const int64_t left = until - clock_ms();
    clock_sleep_ms(chosen < left ? chosen : left > 0 ? left : 0);
}

enum error_code cluster_client_open(const struct cluster_access *access, int64_t open_ms,
                                    struct cluster_client **out, struct error *err)
{
    struct cluster_client *c = NULL;
    *out = NULL;
    enum error_code rc = memory_new(&c, 1, "a client of a Redis Cluster", err);
    if (rc != ERROR_NONE)
        return rc;
    c->access = *access;
    c->owner = getpid();
    must(pthread_mutex_init(&c->lock, NULL) == 0);
    cluster_map_init(&c->map);
    for (int i = 0; i < access->seed_count; i++)
        (void)cluster_map_node(&c->map, access->seed[i].host, strlen(access->seed[i].host),
                               access->seed[i].port);
    const int64_t until = clock_ms() + open_ms;
    rc = refresh_map(c, err);
    for (int64_t pause = 0;
         rc == ERROR_UNAVAILABLE && clock_ms() < until && !stop_signal_is_pressing();) {
        pause = longer_pause(pause);
        wait_some(pause, until);
        rc = refresh_map(c, err);
    }
    if (rc != ERROR_NONE) {
        cluster_client_close(c);
        return rc;
    }
    *out = c;
    return ERROR_NONE;
}

void cluster_client_close(struct cluster_client *client)
{
    if (!client)
        return;
    for (int i = 0; i < client->map.node_count; i++)
        drop_idle(client, i);
    (void)pthread_mutex_destroy(&client->lock);
    redis_login_wipe(&client->access.login);
    memory_free(client);
}

/* --- commands --- */

/* One attempt at the commands that are not done yet. */
struct attempt {
    struct cluster_client *client;
    struct cluster_command *command;
    size_t count;
    int64_t until;
    struct redis_connection *connection[CLUSTER_NODE_MAX];
    bool is_wanted[CLUSTER_NODE_MAX], has_replicas[CLUSTER_NODE_MAX];
    int moved;             /* redirections so far */
    bool pauses, is_stale; /* before the next attempt: pause; read the map again */
};

static void end_command(struct cluster_command *command, enum error_code rc)
{
    command->is_done = true;
    command->rc = rc;
}

/* Chooses the node of each command. A command of a slot that no node serves goes to any node, which
 * answers with the reason. */
static void pick_nodes(struct attempt *a)
{
    struct cluster_client *c = a->client;
    memset(a->is_wanted, 0, sizeof a->is_wanted);
    (void)pthread_mutex_lock(&c->lock);
    c->round_trips++;
    for (size_t i = 0; i < a->count; i++) {
        struct cluster_command *command = &a->command[i];
        if (command->is_done)
            continue;
        const int of_slot = c->map.slot_node[command->slot];
        command->node = command->asks >= 0 ? command->asks : of_slot >= 0 ? of_slot : 0;
        a->is_wanted[command->node] = true;
        a->has_replicas[command->node] = c->map.node[command->node].has_replicas;
    }
    (void)pthread_mutex_unlock(&c->lock);
}

static bool waits(const struct attempt *a, const struct cluster_command *command)
{
    return command->waits_for_replica && a->has_replicas[command->node];
}

static enum error_code send_one(const struct attempt *a, const struct cluster_command *command,
                                struct error *err)
{
    static const struct redis_text asking[] = {{"ASKING", 6}},
                                   wait[] = {{"WAIT", 4}, {"1", 1}, {"1000", 4}};
    struct redis_connection *connection = a->connection[command->node];
    enum error_code rc = ERROR_NONE;
    if (command->asks >= 0)
        rc = redis_connection_send(connection, asking, 1, err);
    if (rc == ERROR_NONE)
        rc = redis_connection_send(connection, command->argument, command->count, err);
    if (rc == ERROR_NONE && waits(a, command))
        rc = redis_connection_send(connection, wait, 3, err);
    return rc;
}

/* Gives up a node that does not answer: its commands are sent again, with a newer map. */
static void lose_node(struct attempt *a, int node, enum error_code rc, const struct error *err)
{
    redis_connection_free(a->connection[node]);
    a->connection[node] = NULL;
    drop_idle(a->client, node);
    a->pauses = a->is_stale = true;
    for (size_t i = 0; i < a->count; i++) {
        struct cluster_command *command = &a->command[i];
        if (command->is_done || command->node != node)
            continue;
        command->asks = -1;
        command->is_full = false;
        command->rc = rc;
        command->err = *err;
        command->is_done = rc != ERROR_UNAVAILABLE;
    }
}

static void send_all(struct attempt *a)
{
    struct error err = {0};
    enum error_code rc = ERROR_NONE;
    for (int node = 0; node < CLUSTER_NODE_MAX; node++) {
        if (!a->is_wanted[node])
            continue;
        rc = connect_to(a->client, node, &a->connection[node], &err);
        for (size_t i = 0; rc == ERROR_NONE && i < a->count; i++)
            if (!a->command[i].is_done && a->command[i].node == node) {
                a->command[i].was_repeated |= a->command[i].is_under_way;
                a->command[i].is_under_way = true;
                rc = send_one(a, &a->command[i], &err);
            }
        if (rc != ERROR_NONE)
            lose_node(a, node, rc, &err);
    }
}

/* Handles an error that a server answered: follows a redirection, waits, or fails the command. */
static void take_error(struct attempt *a, struct cluster_command *command, const char *text)
{
    struct cluster_client *c = a->client;
    int slot = 0, node = 0;
    (void)pthread_mutex_lock(&c->lock);
    const bool is_elsewhere = cluster_map_redirection(&c->map, command->node, text, &slot, &node);
    const bool has_moved = is_elsewhere && *text == 'M';
    if (has_moved)
        c->map.slot_node[slot] = (int16_t)node;
    const char *host = c->map.node[command->node].host;
    const enum error_code rc =
        error_set(&command->err, redis_error_code(text), "Redis at %s:%d: %.*s: %s", host,
                  c->map.node[command->node].port, (int)command->argument[0].size,
                  (const char *)command->argument[0].data, text);
    (void)pthread_mutex_unlock(&c->lock);
    command->asks = is_elsewhere && !has_moved ? node : -1;
    command->is_under_way = false; /* it was refused, so it was not done */
    command->is_full = redis_error_is_full(text);
    if (is_elsewhere) {
        a->is_stale |= has_moved;
        a->pauses |= ++a->moved > MOVED_AT_ONCE * (int)a->count;
    } else if (rc == ERROR_UNAVAILABLE) {
        a->pauses = true;
        a->is_stale |= !command->is_full && !redis_error_is_moving(text);
    } else {
        end_command(command, rc);
    }
}

static enum error_code receive_one(struct attempt *a, struct cluster_command *command,
                                   struct error *err)
{
    struct redis_connection *connection = a->connection[command->node];
    struct redisReply *reply = NULL, *other = NULL;
    enum error_code rc = ERROR_NONE;
    if (command->asks >= 0) {
        rc = redis_connection_receive(connection, &other, err);
        redis_reply_free(other);
    }
    if (rc == ERROR_NONE)
        rc = redis_connection_receive(connection, &reply, err);
    if (rc == ERROR_NONE && waits(a, command)) {
        rc = redis_connection_receive(connection, &other, err);
        redis_reply_free(other);
    }
    const char *text = redis_reply_error(reply);
    if (rc != ERROR_NONE || text) {
        if (rc == ERROR_NONE)
            take_error(a, command, text);
        redis_reply_free(reply);
        return rc;
    }
    command->reply = reply;
    end_command(command, ERROR_NONE);
    return ERROR_NONE;
}

static void receive_all(struct attempt *a)
{
    struct error err = {0};
    for (int node = 0; node < CLUSTER_NODE_MAX; node++) {
        enum error_code rc = ERROR_NONE;
        if (!a->connection[node])
            continue;
        for (size_t i = 0; rc == ERROR_NONE && i < a->count; i++)
            if (!a->command[i].is_done && a->command[i].node == node)
                rc = receive_one(a, &a->command[i], &err);
        if (rc != ERROR_NONE)
            lose_node(a, node, rc, &err);
        else
            give_back(a->client, node, a->connection[node]);
        a->connection[node] = NULL;
    }
}

static bool is_through(const struct attempt *a)
{
    for (size_t i = 0; i < a->count; i++)
        if (!a->command[i].is_done)
            return false;
    return true;
}

static void give_up(struct attempt *a)
{
    for (size_t i = 0; i < a->count; i++) {
        struct cluster_command *command = &a->command[i];
        if (command->is_done)
            continue;
        end_command(command,
                    error_context(&command->err, ERROR_UNAVAILABLE,
                                  command->is_full
                                      ? "the cluster was out of memory for %.0f s: give it more "
                                        "(maxmemory), or let fewer rounds run ahead"
                                      : "no answer from the cluster for %.0f s",
                                  (double)a->client->access.timeout_ms / 1000));
    }
}

void cluster_client_perform(struct cluster_client *client, struct cluster_command *command,
                            size_t count)
{
    struct attempt a = {.client = client, .command = command, .count = count};
    a.until = clock_ms() + client->access.timeout_ms;
    for (size_t i = 0; i < count; i++) {
        command[i].reply = NULL;
        command[i].rc = ERROR_NONE;
        command[i].err = (struct error){0};
        command[i].is_done = command[i].is_under_way = command[i].was_repeated = false;
        command[i].is_full = false;
        command[i].asks = -1;
    }
    for (int64_t pause = 0; !is_through(&a);) {
        a.pauses = a.is_stale = false;
        pick_nodes(&a);
        send_all(&a);
        receive_all(&a);
        if (is_through(&a))
            return;
        if (clock_ms() >= a.until || stop_signal_is_pressing()) {
            give_up(&a);
            return;
        }
        if (a.pauses) {
            pause = longer_pause(pause);
            wait_some(pause, a.until);
        }
        if (a.is_stale)
            /* a failure is ignored: the map is read again before the next attempt */
            error_ignore(refresh_map(client, NULL));
    }
}

int cluster_client_masters(struct cluster_client *client, int slot[CLUSTER_NODE_MAX])
{
    bool seen[CLUSTER_NODE_MAX] = {false};
    int count = 0;
    (void)pthread_mutex_lock(&client->lock);
    for (int i = 0; i < CLUSTER_SLOT_COUNT; i++) {
        const int node = client->map.slot_node[i];
        if (node < 0 || seen[node])
            continue;
        seen[node] = true;
        slot[count++] = i;
    }
    (void)pthread_mutex_unlock(&client->lock);
    return count;
}

uint64_t cluster_client_round_trips(struct cluster_client *client)
{
    (void)pthread_mutex_lock(&client->lock);
    const uint64_t round_trips = client->round_trips;
    (void)pthread_mutex_unlock(&client->lock);
    return round_trips;
}

void cluster_command_release(struct cluster_command *command)
{
    redis_reply_free(command->reply);
    command->reply = NULL;
}
