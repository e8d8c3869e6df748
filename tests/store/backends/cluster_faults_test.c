/* Tests a store in a real Redis Cluster whose parts are lost, full, moving, or set up wrongly. */
#include "common/base/clock.h"
#include "store/backends/cluster/cluster_backend.h"
#include "store/backends/cluster/cluster_place.h"
#include "store/objects/object_store.h"

#include "tests/support/redis_cluster.h"
#include "tests/support/redis_command.h"
#include "tests/support/redis_fixture.h"
#include "tests/support/test.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { LARGE = 3 << 18 /* of 4 bytes: 3 MiB */, WAIT_MS = 60 * 1000 };

struct scene {
    struct redis_cluster *cluster;
    struct store *store;
    struct error err;
};

static struct redis_cluster cluster;
static bool is_running;

static int start(void **state)
{
    (void)state;
    is_running = redis_fixture_installed();
    if (is_running)
        redis_cluster_start(&cluster, true);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    if (is_running)
        redis_cluster_stop(&cluster);
    return 0;
}

static bool open_scene(struct scene *s, const char *prefix)
{
    char uri[FILE_PATH_SIZE];
    *s = (struct scene){.cluster = &cluster};
    if (!is_running)
        return false;
    redis_cluster_uri(&cluster, prefix, uri);
    assert_ok(store_open(uri, 0, &s->store, &s->err), &s->err);
    return true;
}

static void tell_all(const char *words)
{
    for (int i = 0; i < cluster.count; i++)
        if (cluster.pid[i])
            redis_cluster_tell(&cluster, i, words, NULL);
}

/* Counts the keys of a pattern on all nodes, and returns the last one's name and node. */
static int keys_like(const char *pattern, char key[REDIS_ANSWER_SIZE], int *node)
{
    int count = 0;
    for (int i = 0; i < REDIS_CLUSTER_MASTERS; i++) {
        char url[64];
        const char *argv[] = {"KEYS", pattern};
        struct redis_connection *connection = NULL;
        struct redisReply *reply = NULL;
        struct error err = {0};
        (void)snprintf(url, sizeof url, "redis://127.0.0.1:%d", cluster.port[i]);
        assert_ok(redis_connection_new(url, NULL, &connection, &err), &err);
        assert_ok(redis_connection_call(connection, 2, argv, &reply, &err), &err);
        if (redis_reply_count(reply)) {
            (void)snprintf(key, REDIS_ANSWER_SIZE, "%s",
                           redis_reply_text(redis_reply_item(reply, 0)));
            *node = i;
        }
        count += (int)redis_reply_count(reply);
        redis_reply_free(reply);
        redis_connection_free(connection);
    }
    return count;
}

static enum error_code put_words(struct scene *s, const char *key, uint32_t value, uint64_t count,
                                 enum store_durability durability)
{
    uint32_t *word = malloc(count * sizeof *word);
    struct record record = {.kind = RECORD_GRADIENT, .version = 1};
    must(word);
    for (uint64_t i = 0; i < count; i++)
        word[i] = value + (uint32_t)i;
    record_add(&record, "value", ELEMENT_U32, word, count);
    const enum error_code rc = store_put(s->store, key, "owner", &record, durability, &s->err);
    free(word);
    return rc;
}

static void assert_words(struct scene *s, const char *key, uint32_t value, uint64_t count)
{
    struct record_view view;
    const void *data = NULL;
    assert_ok(store_get(s->store, key, "owner", &view, &s->err), &s->err);
    assert_ok(record_section_get(&view, "value", ELEMENT_U32, (int64_t)count, &data, NULL, &s->err),
              &s->err);
    const uint32_t *word = data;
    assert_int_equal(word[0], value);
    assert_int_equal(word[count - 1], value + (uint32_t)(count - 1));
    store_release_record(&view);
}

static enum error_code count_key(void *context, const char *key, bool is_artifact,
                                 struct error *err)
{
    (void)key;
    (void)is_artifact;
    (void)err;
    ++*(int *)context;
    return ERROR_NONE;
}

static int listed(struct scene *s, const char *prefix)
{
    int count = 0;
    assert_ok(store_list(s->store, prefix, count_key, &count, &s->err), &s->err);
    return count;
}

/* A body of MiBs of zeros that breaks off in its second pass, as if the writer were killed. The
 * first pass computes the hash. */
struct breaking_body {
    uint64_t size, at_most;
    int passes;
    char *mebibyte;
};

static enum error_code next_mebibyte(void *context, uint64_t offset,
                                     struct object_piece piece[OBJECT_PIECE_COUNT_MAX],
                                     size_t *count, struct error *err)
{
    struct breaking_body *b = context;
    b->passes += offset == 0;
    if (b->passes == 2 && offset >= b->at_most)
        return error_set(err, ERROR_IO, "broken off");
    *count = offset < b->size ? 1 : 0;
    piece[0] = (struct object_piece){b->mebibyte, CLUSTER_CHUNK_SIZE};
    return ERROR_NONE;
}

static void what_was_half_written_is_invisible_and_written_again(void **state)
{
    enum { MEBIBYTES = 20 };
    (void)state;
    struct scene s;
    void *inner = NULL;
    char key[REDIS_ANSWER_SIZE] = "";
    int node = 0;
    bool existed = true, found = true;
    if (!open_scene(&s, "half"))
        skip();
    struct breaking_body b = {.size = (uint64_t)MEBIBYTES << 20, .at_most = (uint64_t)10 << 20};
    b.mebibyte = calloc(1, CLUSTER_CHUNK_SIZE);
    const struct object_body body = {.size = b.size, .next = next_mebibyte, .context = &b};
    const struct object_backend *backend = store_backend_of(s.store, &inner);
    assert_int_equal(
        backend->put_if_absent(inner, "run/a/b", &body, STORE_RECOMPUTABLE, &existed, &s.err),
        ERROR_IO);
    assert_int_equal(keys_like("half*chunk*", key, &node), CLUSTER_CHUNKS_AT_ONCE);
    assert_ok(store_has(s.store, "run/a/b", &found, &s.err), &s.err);
    assert_false(found);
    assert_int_equal(listed(&s, ""), 0);
    b.passes = 0;
    b.at_most = b.size + 1;
    assert_ok(backend->put_if_absent(inner, "run/a/b", &body, STORE_RECOMPUTABLE, &existed, &s.err),
              &s.err);
    assert_false(existed);
    assert_int_equal(listed(&s, ""), 1);
    assert_int_equal(keys_like("half*chunk*", key, &node), MEBIBYTES);
    assert_ok(store_remove(s.store, "run/a/b", &s.err), &s.err);
    assert_int_equal(keys_like("half*chunk*", key, &node), 0);
    assert_int_equal(listed(&s, ""), 0);
    free(b.mebibyte);
    store_close(s.store);
}

/* Tests that an old draft is swept with its chunks, and that a completed one is not. */
static void what_nobody_completed_is_swept(void **state)
{
    (void)state;
    struct scene s;
    void *inner = NULL;
    char key[REDIS_ANSWER_SIZE] = "", url[64];
    int node = 0;
    bool existed = true;
    if (!open_scene(&s, "swept"))
        skip();
    struct breaking_body b = {.size = (uint64_t)20 << 20, .at_most = (uint64_t)10 << 20};
    b.mebibyte = calloc(1, CLUSTER_CHUNK_SIZE);
    const struct object_body body = {.size = b.size, .next = next_mebibyte, .context = &b};
    const struct object_backend *backend = store_backend_of(s.store, &inner);
    assert_int_equal(
        backend->put_if_absent(inner, "run/a/b", &body, STORE_RECOMPUTABLE, &existed, &s.err),
        ERROR_IO);
    assert_ok(put_words(&s, "run/a/c", 1, LARGE, STORE_RECOMPUTABLE), &s.err);
    assert_ok(backend->sweep(inner, &s.err), &s.err);
    assert_int_equal(keys_like("swept*chunk*", key, &node), CLUSTER_CHUNKS_AT_ONCE + 4);
    assert_int_equal(keys_like("swept*drafts", key, &node), 1);
    const char *argv[] = {
        "EVAL",
        "local d = redis.call('ZRANGE', KEYS[1], 0, -1) "
        "for _, m in ipairs(d) do redis.call('ZADD', KEYS[1], 1, m) end return #d",
        "1", key};
    struct redis_connection *connection = NULL;
    struct redisReply *reply = NULL;
    (void)snprintf(url, sizeof url, "redis://127.0.0.1:%d", cluster.port[node]);
    assert_ok(redis_connection_new(url, NULL, &connection, &s.err), &s.err);
    assert_ok(redis_connection_call(connection, 4, argv, &reply, &s.err), &s.err);
    redis_reply_free(reply);
    redis_connection_free(connection);
    assert_ok(backend->sweep(inner, &s.err), &s.err);
    assert_int_equal(keys_like("swept*drafts", key, &node), 0);
    assert_int_equal(keys_like("swept*chunk*", key, &node), 4);
    assert_words(&s, "run/a/c", 1, LARGE);
    free(b.mebibyte);
    store_close(s.store);
}

static void a_record_with_a_lost_chunk_is_damaged_and_made_again(void **state)
{
    (void)state;
    struct scene s;
    struct record_view view;
    char key[REDIS_ANSWER_SIZE] = "", words[REDIS_ANSWER_SIZE + 16];
    int node = 0;
    if (!open_scene(&s, "lost"))
        skip();
    assert_ok(put_words(&s, "run/a/b", 7, LARGE, STORE_RECOMPUTABLE), &s.err);
    assert_true(keys_like("lost*chunk*", key, &node) > 3);
    (void)snprintf(words, sizeof words, "DEL %.500s", key);
    redis_cluster_tell(&cluster, node, words, NULL);
    assert_fails(store_get(s.store, "run/a/b", "owner", &view, &s.err), ERROR_CORRUPT, "run/a/b",
                 &s.err);
    assert_ok(put_words(&s, "run/a/b", 7, LARGE, STORE_RECOMPUTABLE), &s.err);
    assert_words(&s, "run/a/b", 7, LARGE);
    store_close(s.store);
}

static void a_server_that_evicts_is_refused(void **state)
{
    (void)state;
    struct scene s;
    struct store *store = NULL;
    char uri[FILE_PATH_SIZE];
    if (!open_scene(&s, "evicts"))
        skip();
    store_close(s.store);
    redis_cluster_uri(&cluster, "evicts", uri);
    tell_all("CONFIG SET maxmemory 1gb");
    tell_all("CONFIG SET maxmemory-policy allkeys-lru");
    assert_fails(store_open(uri, 0, &store, &s.err), ERROR_INVALID,
                 "expected maxmemory-policy noeviction, found allkeys-lru: it would throw records",
                 &s.err);
    tell_all("CONFIG SET maxmemory-policy noeviction");
    tell_all("CONFIG SET maxmemory 0");
}

struct writer {
    struct scene scene;
    const char *stem;
    int from, to;
    enum store_durability durability;
    enum error_code rc;
};

static void *write_some(void *context)
{
    struct writer *w = context;
    for (int i = w->from; i < w->to && w->rc == ERROR_NONE; i++) {
        char key[64];
        (void)snprintf(key, sizeof key, "run/%s/%d", w->stem, i);
        w->rc = put_words(&w->scene, key, (uint32_t)i, i % 20 ? 4 : 1 << 16, w->durability);
    }
    return NULL;
}

static void assert_written(struct scene *s, const char *stem, int count)
{
    char prefix[64];
    (void)snprintf(prefix, sizeof prefix, "run/%s", stem);
    assert_int_equal(listed(s, prefix), count);
    for (int i = 0; i < count; i++) {
        char key[64];
        (void)snprintf(key, sizeof key, "run/%s/%d", stem, i);
        assert_words(s, key, (uint32_t)i, i % 20 ? 4 : 1 << 16);
    }
}

static bool some_were_refused(void)
{
    for (int i = 0; i < REDIS_CLUSTER_MASTERS; i++) {
        char text[REDIS_ANSWER_SIZE];
        redis_cluster_tell(&cluster, i, "INFO errorstats", text);
        if (strstr(text, "errorstat_OOM:count="))
            return true;
    }
    return false;
}

static void a_full_cluster_is_waited_for(void **state)
{
    (void)state;
    struct writer w = {.stem = "full", .to = 3};
    pthread_t thread;
    if (!open_scene(&w.scene, "full"))
        skip();
    tell_all("CONFIG RESETSTAT");
    tell_all("CONFIG SET maxmemory 1");
    assert_int_equal(pthread_create(&thread, NULL, write_some, &w), 0);
    const int64_t until = clock_ms() + WAIT_MS / 3;
    while (!some_were_refused() && clock_ms() < until)
        clock_sleep_ms(10);
    const bool was_refused = some_were_refused();
    tell_all("CONFIG SET maxmemory 0");
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(was_refused);
    assert_ok(w.rc, &w.scene.err);
    assert_written(&w.scene, "full", 3);
    store_close(w.scene.store);
}

/* Tests the message, and the error code of failures that pass with time. */
static void a_cluster_that_stays_full_is_told(void **state)
{
    (void)state;
    const struct object_options options = {.make = true, .timeout_ms = 1000};
    struct breaking_body b = {.size = CLUSTER_CHUNK_SIZE,
                              .at_most = UINT64_C(2) * CLUSTER_CHUNK_SIZE};
    char uri[FILE_PATH_SIZE];
    struct error err = {0};
    void *inner = NULL;
    bool existed = true;
    if (!is_running)
        skip();
    b.mebibyte = calloc(1, CLUSTER_CHUNK_SIZE);
    const struct object_body body = {.size = b.size, .next = next_mebibyte, .context = &b};
    redis_cluster_uri(&cluster, "stays", uri);
    assert_ok(cluster_backend.open(strchr(uri, ':') + 1, &options, &inner, &err), &err);
    tell_all("CONFIG SET maxmemory 1");
    const enum error_code rc =
        cluster_backend.put_if_absent(inner, "run/a/b", &body, STORE_RECOMPUTABLE, &existed, &err);
    tell_all("CONFIG SET maxmemory 0");
    assert_failed(rc, ERROR_UNAVAILABLE, "the cluster was out of memory for 1 s", &err);
    assert_int_equal(error_exit_status(rc), 75);
    cluster_backend.close(inner);
    free(b.mebibyte);
}

static double share_of(struct scene *s)
{
    double share = -1;
    assert_ok(store_memory_share(s->store, &share, &s->err), &s->err);
    return share;
}

static void it_is_known_how_full_the_memory_is(void **state)
{
    (void)state;
    struct scene s;
    if (!open_scene(&s, "share"))
        skip();
    assert_true(share_of(&s) == 0); /* no limit */
    tell_all("CONFIG SET maxmemory 1gb");
    const double before = share_of(&s);
    assert_true(before > 0 && before < 0.5);
    redis_cluster_tell(&cluster, 2, "CONFIG SET maxmemory 1", NULL); /* the fullest node counts */
    assert_true(share_of(&s) > 1);
    tell_all("CONFIG SET maxmemory 0");
    store_close(s.store);
}

static void nothing_is_missed_while_slots_move(void **state)
{
    enum { COUNT = 400, MOVED = 24 };
    (void)state;
    struct writer w[2] = {{.stem = "moves", .from = 0, .to = COUNT / 2},
                          {.stem = "moves", .from = COUNT / 2, .to = COUNT}};
    pthread_t thread[2];
    for (int i = 0; i < 2; i++)
        if (!open_scene(&w[i].scene, "moves"))
            skip();
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, write_some, &w[i]), 0);
    for (int tag = 0; tag < MOVED; tag++) {
        char name[16];
        const int size = snprintf(name, sizeof name, "{%03x}", (unsigned)tag);
        const int slot = cluster_slot(name, (size_t)size),
                  from = redis_cluster_owner(&cluster, slot);
        if (from != REDIS_CLUSTER_MASTERS - 1)
            redis_cluster_move_slot(&cluster, slot, from, REDIS_CLUSTER_MASTERS - 1);
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_join(thread[i], NULL), 0);
        assert_ok(w[i].rc, &w[i].scene.err);
    }
    assert_written(&w[0].scene, "moves", COUNT);
    for (int i = 0; i < 2; i++)
        store_close(w[i].scene.store);
}

/* Kills a master, so it is the last test. Records that had to last waited for the replica. */
static void a_replica_takes_over_from_a_master_that_is_killed(void **state)
{
    enum { BEFORE = 100, COUNT = 200 };
    (void)state;
    struct writer w = {.stem = "killed", .to = BEFORE, .durability = STORE_DURABLE};
    if (!open_scene(&w.scene, "killed"))
        skip();
    (void)write_some(&w);
    assert_ok(w.rc, &w.scene.err);
    redis_cluster_kill(&cluster, 1);
    w.from = BEFORE;
    w.to = COUNT;
    (void)write_some(&w);
    assert_ok(w.rc, &w.scene.err);
    assert_written(&w.scene, "killed", COUNT);
    store_close(w.scene.store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_half_written_is_invisible_and_written_again),
        cmocka_unit_test(what_nobody_completed_is_swept),
        cmocka_unit_test(a_record_with_a_lost_chunk_is_damaged_and_made_again),
        cmocka_unit_test(a_server_that_evicts_is_refused),
        cmocka_unit_test(a_full_cluster_is_waited_for),
        cmocka_unit_test(a_cluster_that_stays_full_is_told),
        cmocka_unit_test(it_is_known_how_full_the_memory_is),
        cmocka_unit_test(nothing_is_missed_while_slots_move),
        cmocka_unit_test(a_replica_takes_over_from_a_master_that_is_killed),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
