/* Tests what only a store of two stores does. The contract tests show that it is a store. */
#include "store/backends/tiered/tiered_place.h"
#include "store/objects/keys.h"
#include "store/objects/object_store.h"
#include "store/objects/store.h"

#include "tests/store/objects/contract_fixture.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

#include <string.h>

struct tiers {
    struct temp_dir dir;
    char uri[FILE_PATH_SIZE], fast[FILE_PATH_SIZE], durable[FILE_PATH_SIZE];
    struct store *store;
    struct error err;
};

static struct tiers open_tiers(void)
{
    struct tiers t = {.uri = ""};
    temp_dir_make(&t.dir);
    assert_ok(file_path(t.fast, &t.err, "%s/fast", t.dir.path), &t.err);
    assert_ok(file_path(t.durable, &t.err, "%s/durable", t.dir.path), &t.err);
    assert_ok(file_path(t.uri, &t.err, "tiered:dir:%s^%s", t.fast, t.durable), &t.err);
    assert_ok(store_open(t.uri, 0, &t.store, &t.err), &t.err);
    return t;
}

static void close_tiers(struct tiers *t)
{
    store_close(t->store);
    temp_dir_remove(&t->dir);
}

static bool is_in(const char *folder, const char *key)
{
    char path[FILE_PATH_SIZE];
    struct error err = {0};
    assert_ok(file_path(path, &err, "%s/%s.record", folder, key), &err);
    return file_exists(path);
}

static void put(struct tiers *t, struct key key, uint32_t value, enum store_durability durability)
{
    assert_ok(put_number(t->store, key.text, value, durability, &t->err), &t->err);
}

static void each_key_has_its_store(void **state)
{
    (void)state;
    const struct {
        struct key key;
        enum tier tier;
    } keys[] = {
        {key_dataset("d", "schema"), TIER_DURABLE},
        {key_edge_chunk("d", 3), TIER_DURABLE},
        {key_part("p", 0, "topology_seal"), TIER_DURABLE},
        {key_run_plan("r"), TIER_DURABLE},
        {key_walk_counts("r"), TIER_DURABLE},
        {key_initial_weights("r"), TIER_DURABLE},
        {key_infer("r", 3, 1, 0, "shard_seal"), TIER_DURABLE},
        {key_outputs_seal("r", 3, ""), TIER_DURABLE},
        {key_mini_batch("r", 1, 2), TIER_FAST},
        {key_gradient("r", 1, 2), TIER_FAST},
        {key_gradient_range("r", 1, 2, 3), TIER_FAST},
        {key_gradient_sum("r", 1, 2), TIER_FAST},
        {key_round_base("r", 1), TIER_BOTH},
        {key_pass_output("r", 1, 2, 3), TIER_FAST},
        {key_pass_gradient("r", 1, 2, 3), TIER_FAST},
        {key_evaluation_mini_batch("r", 0), TIER_FAST},
        {key_evaluation("r", 1, 0), TIER_FAST},
        {key_optimizer_state("r", 1), TIER_FAST},
        {key_residual("r", 1, 2), TIER_BOTH},
        {key_weights("r", 1), TIER_BOTH},
        {key_snapshot("r", 1), TIER_BOTH},
        {key_embedding_seal("r", 1, 0), TIER_BOTH},
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        struct tiers t = open_tiers();
        put(&t, keys[i].key, 1, STORE_RECOMPUTABLE);
        assert_int_equal(tier_of_key(keys[i].key.text), keys[i].tier);
        assert_int_equal(is_in(t.fast, keys[i].key.text), keys[i].tier != TIER_DURABLE);
        assert_int_equal(is_in(t.durable, keys[i].key.text), keys[i].tier == TIER_DURABLE);
        assert_ok(store_flush(t.store, keys[i].key.text, &t.err), &t.err);
        assert_int_equal(is_in(t.durable, keys[i].key.text), keys[i].tier != TIER_FAST);
        struct keys listed;
        (void)snprintf(listed.text, sizeof listed.text, "%.199s ", keys[i].key.text);
        assert_listed(t.store, "", listed.text);
        close_tiers(&t);
    }
}

static void keys_of_both_are_listed_in_one_order(void **state)
{
    (void)state;
    struct tiers t = open_tiers();
    struct keys keys = {.text = ""};
    put(&t, key_gradient("r", 1, 0), 1, STORE_RECOMPUTABLE);
    put(&t, key_weights("r", 2), 1, STORE_RECOMPUTABLE);
    put(&t, key_run_plan("r"), 1, STORE_DURABLE);
    put(&t, key_dataset("d", "schema"), 1, STORE_DURABLE);
    put(&t, key_weights("r", 1), 1, STORE_DURABLE);
    put(&t, key_run("r", "weights"), 1, STORE_RECOMPUTABLE);
    put(&t, key_run("r", "zeta"), 1, STORE_RECOMPUTABLE);
    assert_listed(t.store, "",
                  "dataset/d/schema run/r/plan run/r/round/0000000001/slot/00000/gradient "
                  "run/r/weights run/r/weights/0000000001 run/r/weights/0000000002 run/r/zeta ");
    assert_listed(t.store, "run/r/weights", "run/r/weights/0000000001 run/r/weights/0000000002 ");
    assert_listed(t.store, "run/r/round", "run/r/round/0000000001/slot/00000/gradient ");
    assert_listed(t.store, "dataset", "dataset/d/schema ");
    void *inner = NULL;
    const struct object_backend *backend = store_backend_of(t.store, &inner);
    assert_ok(backend->list(inner, "run", "run/r/weights/0000000001", collect, &keys, &t.err),
              &t.err);
    assert_string_equal(keys.text, "run/r/weights/0000000002 run/r/zeta ");
    close_tiers(&t);
}

/* Tests what working programs find when the whole fast store is gone. */
static void what_was_flushed_outlives_the_fast_store(void **state)
{
    (void)state;
    struct tiers t = open_tiers();
    bool found = true;
    put(&t, key_gradient("r", 1, 0), 1, STORE_RECOMPUTABLE);
    put(&t, key_snapshot("r", 1), 2, STORE_RECOMPUTABLE);
    put(&t, key_snapshot("r", 2), 3, STORE_RECOMPUTABLE);
    put(&t, key_residual("r", 1, 0), 4, STORE_DURABLE);
    assert_ok(store_flush(t.store, key_snapshot("r", 1).text, &t.err), &t.err);
    assert_ok(file_remove_all(t.fast, &t.err), &t.err);
    assert_int_equal(get_number(t.store, key_snapshot("r", 1).text), 2);
    assert_int_equal(get_number(t.store, key_residual("r", 1, 0).text), 4);
    assert_ok(store_has(t.store, key_gradient("r", 1, 0).text, &found, &t.err), &t.err);
    assert_false(found);
    assert_fails(store_flush(t.store, key_snapshot("r", 2).text, &t.err), ERROR_NOT_FOUND, "",
                 &t.err);
    struct store *reader = NULL; /* cannot make a store */
    assert_ok(store_open(t.uri, STORE_READ_ONLY, &reader, &t.err), &t.err);
    assert_int_equal(get_number(reader, key_snapshot("r", 1).text), 2);
    assert_listed(reader, "run/r/snapshot", "run/r/snapshot/0000000001 ");
    assert_false(file_exists(t.fast));
    struct store *worker = NULL; /* does not make a store, but fills this one again */
    assert_ok(store_open(t.uri, STORE_MUST_EXIST, &worker, &t.err), &t.err);
    assert_ok(put_number(worker, key_gradient("r", 1, 0).text, 1, STORE_RECOMPUTABLE, &t.err),
              &t.err);
    assert_int_equal(get_number(t.store, key_gradient("r", 1, 0).text), 1);
    assert_int_equal(get_number(reader, key_gradient("r", 1, 0).text), 1);
    put(&t, key_snapshot("r", 2), 3, STORE_RECOMPUTABLE);
    assert_int_equal(get_number(worker, key_snapshot("r", 2).text), 3);
    store_close(worker);
    store_close(reader);
    assert_ok(file_remove_all(t.durable, &t.err), &t.err);
    assert_fails(store_open(t.uri, STORE_MUST_EXIST, &worker, &t.err), ERROR_NOT_FOUND,
                 "there is no store", &t.err);
    close_tiers(&t);
}

/* A fast store that is lost at the worst moments: after a record was put, or read. */
static struct {
    struct object_backend losing;
    const struct object_backend *real;
    const char *folder;
    int after_puts, after_gets; /* how many more times it is lost */
} loss;

static void lose_fast(int *left)
{
    struct error err = {0};
    if (*left > 0)
        assert_ok(file_remove_all(loss.folder, &err), &err);
    *left -= *left > 0;
}

static enum error_code put_and_lose(void *state, const char *key, const struct object_body *body,
                                    enum store_durability durability, bool *existed,
                                    struct error *err)
{
    const enum error_code rc = loss.real->put_if_absent(state, key, body, durability, existed, err);
    lose_fast(&loss.after_puts);
    return rc;
}

static void get_and_lose(void *state, struct object_get *get, size_t count)
{
    loss.real->get_many(state, get, count);
    lose_fast(&loss.after_gets);
}

static void lose_at_work(struct tiers *t, int after_puts, int after_gets)
{
    void *inner = NULL;
    (void)store_backend_of(t->store, &inner);
    struct tiered_place *place = inner;
    if (place->fast.backend != &loss.losing)
        loss.real = place->fast.backend;
    loss.losing = *loss.real;
    loss.losing.put_if_absent = put_and_lose;
    loss.losing.get_many = get_and_lose;
    loss.folder = t->fast;
    loss.after_puts = after_puts;
    loss.after_gets = after_gets;
    place->fast.backend = &loss.losing;
}

static void a_put_outlives_a_fast_store_that_goes_meanwhile(void **state)
{
    (void)state;
    struct tiers t = open_tiers();
    const struct key first = key_residual("r", 1, 0), second = key_residual("r", 1, 1);
    lose_at_work(&t, 2, 0);
    put(&t, first, 7, STORE_DURABLE);
    assert_int_equal(loss.after_puts, 0);
    assert_int_equal(get_number(t.store, first.text), 7);
    assert_true(is_in(t.durable, first.text));
    /* The record exists and is equal, but is gone before it is flushed. */
    put(&t, second, 8, STORE_RECOMPUTABLE);
    lose_at_work(&t, 0, 1);
    put(&t, second, 8, STORE_DURABLE);
    assert_int_equal(loss.after_gets, 0);
    assert_true(is_in(t.durable, second.text));
    /* A record that always vanishes is reported, not retried for ever. */
    lose_at_work(&t, 1 << 20, 0);
    assert_fails(put_number(t.store, key_residual("r", 1, 2).text, 9, STORE_DURABLE, &t.err),
                 ERROR_IO, "vanishes whenever it is put", &t.err);
    close_tiers(&t);
}

static void a_flush_compares_with_what_was_flushed(void **state)
{
    (void)state;
    struct tiers t = open_tiers();
    const struct key key = key_snapshot("r", 1);
    put(&t, key, 7, STORE_DURABLE);
    assert_ok(file_remove_all(t.fast, &t.err), &t.err);
    put(&t, key, 7, STORE_RECOMPUTABLE);
    assert_ok(store_flush(t.store, key.text, &t.err), &t.err);
    assert_ok(file_remove_all(t.fast, &t.err), &t.err);
    put(&t, key, 8, STORE_RECOMPUTABLE); /* breaks the rule "same unit, same bytes" */
    assert_fails(store_flush(t.store, key.text, &t.err), ERROR_CORRUPT, "alarm", &t.err);
    assert_fails(put_number(t.store, key.text, 7, STORE_DURABLE, &t.err), ERROR_CORRUPT, "alarm",
                 &t.err);
    assert_ok(store_remove(t.store, key.text, &t.err), &t.err);
    assert_false(is_in(t.fast, key.text) || is_in(t.durable, key.text));
    close_tiers(&t);
}

static void of_two_copies_the_sound_one_stays(void **state)
{
    (void)state;
    struct tiers t = open_tiers();
    struct record_view view;
    const struct key key = key_snapshot("r", 1);
    put(&t, key, 7, STORE_DURABLE);
    (void)temp_dir_write(&t.dir, "durable/run/r/snapshot/0000000001.record", "torn", 4);
    assert_ok(store_flush(t.store, key.text, &t.err), &t.err);
    (void)temp_dir_write(&t.dir, "fast/run/r/snapshot/0000000001.record", "torn", 4);
    assert_fails(store_get(t.store, key.text, NULL, &view, &t.err), ERROR_CORRUPT, "offset",
                 &t.err);
    assert_fails(store_flush(t.store, key.text, &t.err), ERROR_CORRUPT, "offset", &t.err);
    assert_ok(store_remove_damaged(t.store, key.text, &t.err), &t.err);
    assert_int_equal(get_number(t.store, key.text), 7);
    assert_ok(store_remove_damaged(t.store, key.text, &t.err), &t.err);
    assert_int_equal(get_number(t.store, key.text), 7);
    close_tiers(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_key_has_its_store),
        cmocka_unit_test(keys_of_both_are_listed_in_one_order),
        cmocka_unit_test(what_was_flushed_outlives_the_fast_store),
        cmocka_unit_test(a_put_outlives_a_fast_store_that_goes_meanwhile),
        cmocka_unit_test(a_flush_compares_with_what_was_flushed),
        cmocka_unit_test(of_two_copies_the_sound_one_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
