#include "common/base/memory.h"
#include "store/keys.h"
#include "store/records/mini_batch.h"

#include "tests/support/temp_dir.h"
#include "tests/support/temp_store.h"
#include "tests/support/test.h"

/* Two seeds, two hops; written by hand. */
struct sample {
    uint32_t hop_end[3], node[6], row_start[5], neighbor[6], degree[6];
    float weight[6];
};

static const struct sample valid = {
    .hop_end = {2, 4, 6},
    .node = {10, 20, 30, 40, 50, 60},
    .row_start = {0, 2, 3, 5, 6},
    .neighbor = {2, 3, 1, 4, 5, 0},
    .degree = {7, 8, 9, 10, 11, 12},
    .weight = {0.5F, 1.5F, 2.5F, 3.5F, 4.5F, 5.5F},
};

static struct mini_batch batch_of(const struct sample *s)
{
    return (struct mini_batch){
        .hop_count = 2,
        .seed_count = 2,
        .node_count = 6,
        .row_count = 4,
        .edge_count = 6,
        .hop_end = s->hop_end,
        .node = s->node,
        .row_start = s->row_start,
        .neighbor = s->neighbor,
    };
}

static void add(struct record_view *view, const char *name, enum element_type type, uint64_t count,
                const void *data)
{
    struct record_section *section = &view->section[view->section_count++];
    *section = (struct record_section){.type = type, .count = count, .data = data};
    memcpy(section->name, name, strlen(name));
}

static struct record_view view_of(const struct sample *s)
{
    struct record_view view = {.kind = RECORD_MINI_BATCH, .version = 1, .key = "run/r/mini_batch"};
    add(&view, "hop_end", ELEMENT_U32, 3, s->hop_end);
    add(&view, "node", ELEMENT_U32, 6, s->node);
    add(&view, "row_start", ELEMENT_U32, 5, s->row_start);
    add(&view, "neighbor", ELEMENT_U32, 6, s->neighbor);
    return view;
}

static void comes_back_as_it_was_put(void **state)
{
    (void)state;
    struct error err = {0};
    struct temp_dir dir;
    struct store *store = NULL;
    struct mini_batch out;
    temp_dir_make(&dir);
    assert_ok(store_open(dir.path, 0, &store, &err), &err);
    for (int optional = 0; optional < 4; optional++) {
        struct mini_batch in = batch_of(&valid);
        const struct key key = key_mini_batch("r", 3, optional);
        in.degree = optional & 1 ? valid.degree : NULL;
        in.weight = optional & 2 ? valid.weight : NULL;
        assert_ok(mini_batch_put(store, key.text, "r", &in, &err), &err);
        assert_ok(mini_batch_get(store, key.text, "r", &out, &err), &err);
        assert_int_equal(out.hop_count, 2);
        assert_int_equal(out.seed_count, 2);
        assert_int_equal(out.node_count, 6);
        assert_int_equal(out.row_count, 4);
        assert_int_equal(out.edge_count, 6);
        assert_memory_equal(out.hop_end, valid.hop_end, sizeof valid.hop_end);
        assert_memory_equal(out.node, valid.node, sizeof valid.node);
        assert_memory_equal(out.row_start, valid.row_start, sizeof valid.row_start);
        assert_memory_equal(out.neighbor, valid.neighbor, sizeof valid.neighbor);
        assert_int_equal(out.degree != NULL, optional & 1);
        assert_int_equal(out.weight != NULL, (optional & 2) / 2);
        if (out.degree)
            assert_memory_equal(out.degree, valid.degree, sizeof valid.degree);
        if (out.weight)
            assert_memory_equal(out.weight, valid.weight, sizeof valid.weight);
        store_release_record(&out.view);
    }
    store_close(store);
    temp_dir_remove(&dir);
}

static void a_batch_without_hops_is_its_seeds(void **state)
{
    (void)state;
    static const uint32_t hop_end[] = {2}, node[] = {5, 0}, row_start[] = {0};
    struct error err = {0};
    struct mini_batch out;
    struct record_view view = {.kind = RECORD_MINI_BATCH, .version = 1, .key = "k"};
    add(&view, "hop_end", ELEMENT_U32, 1, hop_end);
    add(&view, "node", ELEMENT_U32, 2, node);
    add(&view, "row_start", ELEMENT_U32, 1, row_start);
    add(&view, "neighbor", ELEMENT_U32, 0, row_start);
    assert_ok(mini_batch_decode(&view, &out, &err), &err);
    assert_int_equal(out.hop_count, 0);
    assert_int_equal(out.row_count, 0);
    assert_int_equal(out.seed_count, 2);
}

static void is_refused(const struct sample *broken, const char *message)
{
    struct error err = {0};
    struct mini_batch out;
    const struct record_view view = view_of(broken);
    assert_fails(mini_batch_decode(&view, &out, &err), ERROR_CORRUPT, message, &err);
    assert_non_null(strstr(err.message, "run/r/mini_batch"));
    assert_null(out.node);
}

static void names_the_index_that_is_wrong(void **state)
{
    (void)state;
    struct sample s = valid;
    s.hop_end[0] = 0;
    is_refused(&s, "hop_end[0]: expected at least one seed node, found 0");
    s = valid;
    s.hop_end[1] = 1;
    is_refused(&s, "hop_end[1]: expected at least hop_end[0] = 2, found 1");
    s = valid;
    s.row_start[0] = 1;
    is_refused(&s, "row_start[0]: expected 0, found 1");
    s = valid;
    s.row_start[2] = 1;
    is_refused(&s, "row_start[2]: expected at least row_start[1] = 2, found 1");
    s = valid;
    s.neighbor[2] = 4;
    is_refused(&s, "neighbor[2]: expected below hop_end[1] = 4, found 4");
    s = valid;
    s.neighbor[5] = UINT32_MAX;
    is_refused(&s, "neighbor[5]: expected below hop_end[2] = 6, found 4294967295");
    s = valid;
    s.node[4] = 20;
    is_refused(&s, "node[4]: expected each node once, found 20, which is node[1] too");
    s = valid;
    s.node[5] = UINT32_MAX;
    is_refused(&s, "node[5]: expected at most 4294967294, found 4294967295");
}

static void names_the_section_that_has_another_length(void **state)
{
    (void)state;
    static const char *const message[] = {
        "section node: expected 5 elements, found 6",
        "section row_start: expected 4 elements, found 5",
        "section neighbor: expected 5 elements, found 6",
    };
    struct sample s = valid;
    s.hop_end[2] = 5;
    is_refused(&s, message[0]);
    s = valid;
    s.hop_end[1] = 3;
    is_refused(&s, message[1]);
    s = valid;
    s.row_start[4] = 5;
    is_refused(&s, message[2]);
}

static void names_a_section_that_is_missing_or_of_another_type(void **state)
{
    (void)state;
    static const char *const name[] = {"hop_end", "node", "row_start", "neighbor"};
    struct error err = {0};
    struct mini_batch out;
    for (uint32_t i = 0; i < 4; i++) {
        struct record_view view = view_of(&valid);
        view.section[i].type = ELEMENT_I32;
        assert_fails(mini_batch_decode(&view, &out, &err), ERROR_CORRUPT, name[i], &err);
        assert_non_null(strstr(err.message, "expected element type 3, found 5"));
        view.section[i].name[0] = 'x';
        assert_fails(mini_batch_decode(&view, &out, &err), ERROR_CORRUPT, name[i], &err);
        assert_non_null(strstr(err.message, "found none"));
    }
    struct record_view view = view_of(&valid);
    add(&view, "degree", ELEMENT_U32, 5, valid.degree);
    assert_fails(mini_batch_decode(&view, &out, &err), ERROR_CORRUPT,
                 "section degree: expected 6 elements, found 5", &err);
    view = view_of(&valid);
    add(&view, "weight", ELEMENT_F32, 7, valid.weight);
    assert_fails(mini_batch_decode(&view, &out, &err), ERROR_CORRUPT,
                 "section weight: expected 6 elements, found 7", &err);
}

static void refuses_too_many_hops_and_other_records(void **state)
{
    (void)state;
    static const uint32_t hop_end[HOP_COUNT_MAX + 2] = {1};
    struct error err = {0};
    struct mini_batch out;
    struct record_view view = view_of(&valid);
    view.section[0].data = hop_end;
    view.section[0].count = HOP_COUNT_MAX + 2;
    assert_fails(mini_batch_decode(&view, &out, &err), ERROR_CORRUPT,
                 "section hop_end: expected 1 to 17 elements, found 18", &err);
    view.section[0].count = 0;
    assert_fails(mini_batch_decode(&view, &out, &err), ERROR_CORRUPT,
                 "section hop_end: expected 1 to 17 elements, found 0", &err);
    view = view_of(&valid);
    view.version = 2;
    assert_fails(mini_batch_decode(&view, &out, &err), ERROR_CORRUPT,
                 "format version: expected 1, found 2", &err);
    view.version = 1;
    view.kind = RECORD_GRADIENT;
    assert_fails(mini_batch_decode(&view, &out, &err), ERROR_CORRUPT,
                 "expected kind mini_batch, found gradient", &err);
}

static void finds_one_repeated_node_among_many(void **state)
{
    (void)state;
    enum { COUNT = 100000, WIDE = 40503, NARROW = 3 }; /* a hashed set, one of bits */
    static uint32_t node[COUNT];
    static const uint32_t hop_end[] = {COUNT}, row_start[] = {0};
    struct error err = {0};
    struct mini_batch out;
    struct record_view view = {.kind = RECORD_MINI_BATCH, .version = 1, .key = "k"};
    add(&view, "hop_end", ELEMENT_U32, 1, hop_end);
    add(&view, "node", ELEMENT_U32, COUNT, node);
    add(&view, "row_start", ELEMENT_U32, 1, row_start);
    add(&view, "neighbor", ELEMENT_U32, 0, row_start);
    for (uint32_t step = NARROW; step <= WIDE; step += WIDE - NARROW) {
        for (uint32_t i = 0; i < COUNT; i++)
            node[i] = i * step;
        assert_ok(mini_batch_decode(&view, &out, &err), &err);
        assert_int_equal(out.node_limit, (COUNT - 1) * step + 1);
        node[COUNT - 1] = node[1234];
        assert_fails(mini_batch_decode(&view, &out, &err), ERROR_CORRUPT,
                     "node[99999]: expected each node once", &err);
        node[500] = node[3];
        assert_fails(mini_batch_decode(&view, &out, &err), ERROR_CORRUPT, "which is node[3] too",
                     &err);
    }
}

static void putting_one_allocates_nothing(void **state)
{
    struct temp_store *t = *state;
    const struct mini_batch batch = batch_of(&valid);
    char key[] = "run/r/round/0/slot/0/mini_batch";
    assert_ok(mini_batch_put(t->store, key, "r", &batch, &t->err), &t->err);
    const long before = memory_allocation_count();
    for (int slot = 1; slot <= 5; slot++) {
        key[sizeof "run/r/round/0/slot/" - 1] = (char)('0' + slot);
        assert_ok(mini_batch_put(t->store, key, "r", &batch, &t->err), &t->err);
    }
    assert_int_equal(memory_allocation_count(), before);
}

static void says_so_without_memory(void **state)
{
    (void)state;
    struct error err = {0};
    struct mini_batch out;
    const struct record_view view = view_of(&valid);
    memory_fail_after(0);
    const enum error_code rc = mini_batch_decode(&view, &out, &err);
    memory_fail_after(-1);
    assert_int_equal(rc, ERROR_NO_MEMORY);
    assert_null(out.node);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_back_as_it_was_put),
        cmocka_unit_test(a_batch_without_hops_is_its_seeds),
        cmocka_unit_test(names_the_index_that_is_wrong),
        cmocka_unit_test(names_the_section_that_has_another_length),
        cmocka_unit_test(names_a_section_that_is_missing_or_of_another_type),
        cmocka_unit_test(refuses_too_many_hops_and_other_records),
        cmocka_unit_test(finds_one_repeated_node_among_many),
        test_with_store(putting_one_allocates_nothing),
        cmocka_unit_test(says_so_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
