/* Tests series of records on every backend: in order, verified, and read together as far as
 * possible. */
#include "common/base/memory.h"

#include "tests/store/objects/contract_fixture.h"
#include "tests/support/store_watch.h"

enum { COUNT = 2 * STORE_TOGETHER_MAX + 5, NOWHERE = COUNT };

/* Record i is the number 1000 + i. These fields say what a visit does: */
struct visits {
    size_t next;
    size_t fails_at; /* NOWHERE: never */
    size_t keeps;    /* same */
    struct record_view kept;
};

static struct key key_of_number(const void *context, size_t index)
{
    (void)context;
    return key_gradient("x", (int64_t)index, 0);
}

static uint32_t number_in(const struct record_view *view)
{
    const void *data = NULL;
    struct error err = {0};
    assert_ok(record_section_get(view, "value", ELEMENT_U32, 1, &data, NULL, &err), &err);
    return *(const uint32_t *)data;
}

static enum error_code visit(void *context, size_t index, struct record_view *view,
                             struct error *err)
{
    struct visits *visits = context;
    assert_int_equal(index, visits->next++);
    assert_int_equal(number_in(view), 1000 + index);
    if (index == visits->keeps) {
        visits->kept = *view;
        *view = (struct record_view){0};
    }
    return index == visits->fails_at ? error_set(err, ERROR_BUSY, "enough of them") : ERROR_NONE;
}

static void put_all(struct store *store)
{
    struct error err = {0};
    for (uint32_t i = 0; i < COUNT; i++)
        assert_ok(
            put_number(store, key_of_number(NULL, i).text, 1000 + i, STORE_RECOMPUTABLE, &err),
            &err);
}

static enum error_code read_all(struct store *store, size_t together, struct visits *visits,
                                struct error *err)
{
    const struct store_series series = {.owner_id = "owner",
                                        .count = COUNT,
                                        .together = together,
                                        .key = key_of_number,
                                        .visit = visit,
                                        .context = visits};
    return store_get_each(store, &series, err);
}

static void each_is_visited_once_in_order(void **state)
{
    (void)state;
    FOR_EACH_BACKEND
    {
        put_all(f.store);
        for (size_t together = 0; together < 20; together++) {
            const long blocks = memory_live_blocks();
            struct visits visits = {.fails_at = NOWHERE, .keeps = together};
            assert_ok(read_all(f.store, together, &visits, &f.err), &f.err);
            assert_int_equal(visits.next, COUNT);
            assert_int_equal(number_in(&visits.kept), 1000 + together);
            store_release_record(&visits.kept);
            assert_int_equal(memory_live_blocks(), blocks);
        }
    }
}

static void the_first_that_fails_ends_it(void **state)
{
    (void)state;
    FOR_EACH_BACKEND
    {
        put_all(f.store);
        const long blocks = memory_live_blocks();
        struct visits visits = {.fails_at = 5, .keeps = NOWHERE};
        assert_fails(read_all(f.store, 0, &visits, &f.err), ERROR_BUSY, "enough of them", &f.err);
        assert_int_equal(visits.next, 6);
        const struct key gone = key_of_number(NULL, 19), damaged = key_of_number(NULL, 17);
        assert_ok(store_remove(f.store, gone.text, &f.err), &f.err);
        visits = (struct visits){.fails_at = NOWHERE, .keeps = NOWHERE};
        assert_fails(read_all(f.store, 0, &visits, &f.err), ERROR_NOT_FOUND, gone.text, &f.err);
        assert_int_equal(visits.next, 19);
        f.backend->damage(&f, damaged.text, "damaged", 7);
        visits.next = 0;
        assert_fails(read_all(f.store, 0, &visits, &f.err), ERROR_CORRUPT, damaged.text, &f.err);
        assert_int_equal(visits.next, 17);
        assert_int_equal(memory_live_blocks(), blocks);
    }
}

static void those_that_may_be_in_memory_together_are_asked_for_at_once(void **state)
{
    (void)state;
    static const struct {
        size_t together;
        int most, calls;
    } expected[] = {{0, STORE_TOGETHER_MAX, 3},
                    {STORE_TOGETHER_MAX + 1, STORE_TOGETHER_MAX, 3},
                    {10, 10, 4},
                    {1, 1, COUNT}};
    struct store *store = store_watch_open(&memory_backend, "series");
    struct error err = {0};
    put_all(store);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        struct visits visits = {.fails_at = NOWHERE, .keeps = NOWHERE};
        store_watch_begin(0);
        assert_ok(read_all(store, expected[i].together, &visits, &err), &err);
        const struct store_watch_count count = store_watch_end();
        assert_int_equal(count.reads, COUNT);
        assert_int_equal(count.most, expected[i].most);
        assert_int_equal(count.calls, expected[i].calls);
    }
    store_close(store);
    memory_store_forget("series");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_visited_once_in_order),
        cmocka_unit_test(the_first_that_fails_ends_it),
        cmocka_unit_test(those_that_may_be_in_memory_together_are_asked_for_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
