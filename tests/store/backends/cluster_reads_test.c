/* Tests how often a real Redis Cluster is waited for when several records are read together, and
 * what is read. */
#include "store/backends/cluster/cluster_backend.h"
#include "store/backends/cluster/cluster_place.h"
#include "store/objects/object_store.h"

#include "tests/support/redis_cluster.h"
#include "tests/support/redis_command.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>

struct scene {
    const struct redis_cluster *cluster;
    struct store *store;
    const struct object_backend *backend;
    void *place;
    struct error err;
};

static bool open_scene(struct scene *s, const char *prefix)
{
    char uri[FILE_PATH_SIZE];
    *s = (struct scene){.cluster = redis_cluster_shared()};
    if (!s->cluster)
        return false;
    redis_cluster_uri(s->cluster, prefix, uri);
    assert_ok(store_open(uri, 0, &s->store, &s->err), &s->err);
    s->backend = store_backend_of(s->store, &s->place);
    return true;
}

static uint64_t round_trips(const struct scene *s)
{
    const struct cluster_place *place = s->place;
    return cluster_client_round_trips(place->client);
}

/* Returns byte `i` of record `number`. */
static char byte_of(int number, uint64_t i)
{
    return (char)((uint64_t)number * 31 + i % 251 + i / CLUSTER_CHUNK_SIZE);
}

struct whole_body {
    char *data;
    size_t size;
};

static enum error_code next_piece(void *context, uint64_t offset,
                                  struct object_piece piece[OBJECT_PIECE_COUNT_MAX], size_t *count,
                                  struct error *err)
{
    const struct whole_body *b = context;
    (void)err;
    *count = offset == 0;
    piece[0] = (struct object_piece){b->data, b->size};
    return ERROR_NONE;
}

static void put_bytes(struct scene *s, int number, uint64_t size)
{
    char key[32];
    bool existed = true;
    struct whole_body b = {.data = malloc(size), .size = size};
    must(b.data);
    for (uint64_t i = 0; i < size; i++)
        b.data[i] = byte_of(number, i);
    const struct object_body body = {.size = size, .next = next_piece, .context = &b};
    (void)snprintf(key, sizeof key, "run/x/%d", number);
    assert_ok(
        s->backend->put_if_absent(s->place, key, &body, STORE_RECOMPUTABLE, &existed, &s->err),
        &s->err);
    assert_false(existed);
    free(b.data);
}

/* Returns how many bytes of a record are correct. */
static uint64_t right_bytes(const struct object_get *get, int number)
{
    uint64_t right = 0;
    for (uint64_t i = 0; i < get->bytes.size; i++)
        right += (char)get->bytes.data[i] == byte_of(number, i);
    return right;
}

enum { COUNT = 6 };

static void name_all(char key[COUNT][32], struct object_get get[COUNT])
{
    for (int i = 0; i < COUNT; i++) {
        (void)snprintf(key[i], sizeof key[i], "run/x/%d", i);
        get[i] = (struct object_get){.key = key[i]};
    }
}

/* Reads 1 + 2 + 3 + 20 chunks, 8 at a time, after one round trip for the values of the keys. */
static void chunks_of_several_records_share_round_trips(void **state)
{
    static const uint64_t size[COUNT] = {1 << 20,        (1 << 20) + 1, 10,
                                         0 /* absent */, (3 << 20) - 5, 20 << 20};
    (void)state;
    struct scene s;
    char key[COUNT][32];
    struct object_get get[COUNT];
    if (!open_scene(&s, "together"))
        skip();
    for (int i = 0; i < COUNT; i++)
        if (size[i])
            put_bytes(&s, i, size[i]);
    name_all(key, get);
    const uint64_t before = round_trips(&s);
    s.backend->get_many(s.place, get, COUNT);
    assert_int_equal(round_trips(&s) - before, 1 + (26 + 7) / 8);
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(get[i].rc, size[i] ? ERROR_NONE : ERROR_NOT_FOUND);
        assert_int_equal(get[i].bytes.size, size[i]);
        assert_int_equal(right_bytes(&get[i], i), size[i]);
        stored_bytes_release(&get[i].bytes);
    }
    store_close(s.store);
}

/* Removes a chunk of record `number` from the node that has it. */
static void lose_chunk(const struct scene *s, const char *prefix, int number, int chunk)
{
    int lost = 0;
    for (int node = 0; node < s->cluster->count; node++) {
        char words[REDIS_ANSWER_SIZE], key[REDIS_ANSWER_SIZE] = "";
        (void)snprintf(words, sizeof words,
                       "EVAL return(redis.call('KEYS','%s*run/x/%d!chunk/*/%d')[1]or'') 0", prefix,
                       number, chunk);
        redis_cluster_tell(s->cluster, node, words, key);
        if (!*key)
            continue;
        (void)snprintf(words, sizeof words, "DEL %.500s", key);
        redis_cluster_tell(s->cluster, node, words, NULL);
        lost++;
    }
    assert_int_equal(lost, 1);
}

/* Tests that a record without its second chunk ends there, and that the others are whole. */
static void a_lost_chunk_cuts_its_record_and_no_other(void **state)
{
    static const uint64_t size = (uint64_t)3 << 20;
    (void)state;
    struct scene s;
    char key[COUNT][32];
    struct object_get get[COUNT];
    if (!open_scene(&s, "cut"))
        skip();
    for (int i = 0; i < COUNT; i++)
        put_bytes(&s, i, size);
    lose_chunk(&s, "cut", 2, 1);
    name_all(key, get);
    s.backend->get_many(s.place, get, COUNT);
    for (int i = 0; i < COUNT; i++) {
        const uint64_t left = i == 2 ? CLUSTER_CHUNK_SIZE : size;
        assert_int_equal(get[i].rc, ERROR_NONE);
        assert_int_equal(get[i].bytes.size, left);
        assert_int_equal(right_bytes(&get[i], i), left);
        stored_bytes_release(&get[i].bytes);
    }
    store_close(s.store);
}

/* Replaces a chunk by a value of another type, so that the server answers with an error. */
static void a_damaged_record_beside_whole_ones_fails_alone(void **state)
{
    (void)state;
    struct scene s;
    char key[COUNT][32];
    struct object_get get[COUNT];
    if (!open_scene(&s, "type"))
        skip();
    for (int i = 0; i < COUNT; i++)
        put_bytes(&s, i, (uint64_t)2 << 20);
    lose_chunk(&s, "type", 4, 0);
    for (int node = 0; node < s.cluster->count; node++) {
        char words[REDIS_ANSWER_SIZE], name[REDIS_ANSWER_SIZE] = "";
        redis_cluster_tell(s.cluster, node,
                           "EVAL return(redis.call('KEYS','type*run/x/4!chunk/*/1')[1]or'') 0",
                           name);
        if (!*name)
            continue;
        for (char *end = name + strlen(name) - 1; end >= name && *end == '1';)
            *end = '0';
        (void)snprintf(words, sizeof words, "LPUSH %.500s a", name);
        redis_cluster_tell(s.cluster, node, words, NULL);
    }
    name_all(key, get);
    s.backend->get_many(s.place, get, COUNT);
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(get[i].rc == ERROR_NONE, i != 4);
        assert_int_equal(right_bytes(&get[i], i), i == 4 ? 0 : 2 << 20);
        stored_bytes_release(&get[i].bytes);
    }
    assert_non_null(strstr(get[4].err.message, "WRONGTYPE"));
    store_close(s.store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_of_several_records_share_round_trips),
        cmocka_unit_test(a_lost_chunk_cuts_its_record_and_no_other),
        cmocka_unit_test(a_damaged_record_beside_whole_ones_fails_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
