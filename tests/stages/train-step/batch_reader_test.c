#include "stages/train-step/batch_reader.h"

#include "tests/stages/train-step/batch_fixture.h"

enum { ROUNDS = 12 };

static struct key key_of(int64_t round)
{
    return key_mini_batch(FIXTURE_RUN, round, 0);
}

/* Gets a batch as step_input does: the one that was read ahead, otherwise reads it now. Returns
 * whether it was read ahead. */
static bool get(struct batch_fixture *f, struct batch_reader *reader, struct prepared_batch *batch,
                int64_t round)
{
    const struct key key = key_of(round);
    const bool ahead = batch_reader_take(reader, &key, batch);
    if (!ahead)
        assert_ok(prepared_batch_read(&f->preparer, batch, &key, &f->err), &f->err);
    if (!batch->has_rows) {
        struct prepared_batch *left = batch_reader_settle(reader);
        enum error_code rc = prepared_batch_fill(&f->preparer, batch, NULL, &f->err);
        if (rc == ERROR_NO_MEMORY) { /* the batch that was read ahead is discarded */
            prepared_batch_release(&f->preparer, left);
            rc = prepared_batch_fill(&f->preparer, batch, NULL, &f->err);
        }
        assert_ok(rc, &f->err);
    }
    assert_string_equal(batch->key.text, key.text);
    batch_fixture_check(f, batch);
    assert_true(batch_fixture_bytes(f) <= f->preparer.budget_bytes);
    return ahead;
}

static void run_rounds(struct store *store, uint64_t budget)
{
    struct batch_fixture f;
    struct batch_reader *reader = NULL;
    struct prepared_batch batch = {0};
    batch_fixture_open(&f, store, LAYER_SAGE, 32, budget);
    for (int64_t round = 0; round < ROUNDS; round++)
        batch_fixture_put(&f, round, round % 3 != 2);
    assert_ok(batch_reader_new(&f.preparer, &reader, &f.err), &f.err);
    for (int64_t round = 0; round < ROUNDS; round++) {
        const bool right =
            round % 4 != 3; /* some guesses are wrong, and one batch does not exist */
        const struct key guess = key_of(right ? round : round == 7 ? 1000 : 0);
        batch_reader_begin(reader, &guess, round % 5 != 0);
        assert_true(get(&f, reader, &batch, round) == right);
    }
    const struct key left = key_of(3); /* never taken */
    batch_reader_begin(reader, &left, true);
    batch_reader_free(reader);
    prepared_batch_release(&f.preparer, &batch);
    batch_fixture_close(&f);
}

static void what_is_read_ahead_is_what_is_read(void **state)
{
    struct temp_store *temp = *state;
    const long blocks = memory_live_blocks();
    run_rounds(temp->store, 130000);
    run_rounds(temp->store, 1 << 20); /* all rows fit */
    assert_int_equal(memory_live_blocks(), blocks);
}

static void a_batch_that_does_not_fit_twice_is_not_read_ahead(void **state)
{
    struct temp_store *temp = *state;
    struct batch_fixture f;
    struct batch_reader *reader = NULL;
    struct prepared_batch batch = {0};
    const struct key next = key_of(1);
    batch_fixture_open(&f, temp->store, LAYER_SAGE, 32, 46000);
    batch_fixture_put(&f, 0, true);
    batch_fixture_put(&f, 1, true);
    assert_ok(batch_reader_new(&f.preparer, &reader, &f.err), &f.err);
    assert_false(get(&f, reader, &batch, 0));
    batch_reader_begin(reader, &next, true);
    assert_false(get(&f, reader, &batch, 1));
    batch_reader_free(reader);
    prepared_batch_release(&f.preparer, &batch);
    batch_fixture_close(&f);
}

static void a_reader_that_cannot_be_leaves_nothing(void **state)
{
    struct temp_store *temp = *state;
    struct batch_fixture f;
    struct batch_reader *reader = NULL;
    batch_fixture_open(&f, temp->store, LAYER_SAGE, 32, 60000);
    const long blocks = memory_live_blocks();
    memory_fail_after(0);
    assert_int_equal(batch_reader_new(&f.preparer, &reader, &f.err), ERROR_NO_MEMORY);
    memory_fail_after(-1);
    assert_null(reader);
    batch_reader_free(reader);
    assert_int_equal(memory_live_blocks(), blocks);
    batch_fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_read_ahead_is_what_is_read, temp_store_setup,
                                        temp_store_teardown),
        cmocka_unit_test_setup_teardown(a_batch_that_does_not_fit_twice_is_not_read_ahead,
                                        temp_store_setup, temp_store_teardown),
        cmocka_unit_test_setup_teardown(a_reader_that_cannot_be_leaves_nothing, temp_store_setup,
                                        temp_store_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
