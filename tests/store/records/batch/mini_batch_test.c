#include "common/base/memory.h"
#include "common/numbers/packed_integers.h"
#include "common/numbers/random.h"
#include "store/objects/keys.h"
#include "store/records/batch/mini_batch.h"

#include "tests/store/records/batch/mini_batch_fixture.h"
#include "tests/support/record_tamper.h"
#include "tests/support/temp_store.h"
#include "tests/support/test.h"

static void assert_equal_batches(const struct mini_batch *a, const struct mini_batch *b)
{
    assert_int_equal(a->hop_count, b->hop_count);
    assert_int_equal(a->seed_count, b->seed_count);
    assert_int_equal(a->node_count, b->node_count);
    assert_int_equal(a->row_count, b->row_count);
    assert_int_equal(a->edge_count, b->edge_count);
    assert_memory_equal(a->hop_end, b->hop_end, ((size_t)a->hop_count + 1) * 4);
    assert_memory_equal(a->node, b->node, (size_t)a->node_count * 4);
    assert_memory_equal(a->row_start, b->row_start, ((size_t)a->row_count + 1) * 4);
    assert_memory_equal(a->neighbor, b->neighbor, (size_t)a->edge_count * 4);
    assert_true(!a->degree == !b->degree && !a->weight_sum == !b->weight_sum);
    assert_true(edge_widths_equal(&a->columns.width, &b->columns.width));
    assert_true(!a->edge_position == !b->edge_position);
    if (a->edge_position)
        assert_memory_equal(a->edge_position, b->edge_position, (size_t)a->edge_count * 4);
    if (a->degree)
        assert_memory_equal(a->degree, b->degree, (size_t)a->node_count * 4);
    if (a->weight_sum)
        assert_memory_equal(a->weight_sum, b->weight_sum, (size_t)a->node_count * 4);
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++)
        if (a->columns.width.of[c])
            assert_memory_equal(a->columns.data[c], b->columns.data[c],
                                a->edge_count *
                                    edge_column_bytes((enum edge_column)c, a->columns.width.of[c]));
}

static void comes_back_as_it_was_put(void **state)
{
    struct temp_store *t = *state;
    struct arena scratch = {0};
    struct mini_batch out = {0};
    for (int optional = 0; optional < 4; optional++) {
        struct mini_batch in = valid_batch;
        const struct key key = key_mini_batch("r", 3, optional);
        in.degree = optional & 1 ? degree : NULL;
        in.columns = edge_values(optional & 2 ? weight : NULL, NULL, NULL);
        assert_ok(mini_batch_put(t->store, key.text, "r", &in, &scratch, &t->err), &t->err);
        assert_ok(mini_batch_get(t->store, key.text, "r", &out, &t->err), &t->err);
        assert_equal_batches(&out, &in);
        assert_int_equal(out.node_limit, 61);
    }
    mini_batch_release(&out);
    arena_release(&scratch);
}

/* Compares the stored bytes with those that the header describes. */
static void is_stored_as_the_header_says(void **state)
{
    struct temp_store *t = *state;
    struct arena scratch = {0};
    struct record_view view;
    struct mini_batch in = valid_batch;
    struct packed_view expected = view_of(&valid);
    in.degree = degree;
    in.columns = edge_values(weight, NULL, NULL);
    assert_ok(mini_batch_put(t->store, "k", "r", &in, &scratch, &t->err), &t->err);
    assert_ok(store_get(t->store, "k", "r", &view, &t->err), &t->err);
    assert_int_equal(view.version, 3);
    assert_int_equal(view.section_count, expected.view.section_count);
    for (uint32_t i = 0; i < view.section_count; i++) {
        const struct record_section *a = &view.section[i], *b = &expected.view.section[i];
        assert_string_equal(a->name, b->name);
        assert_int_equal(a->type, b->type);
        assert_int_equal(a->count, b->count);
        assert_memory_equal(a->data, b->data, a->count * element_size(a->type));
    }
    store_release_record(&view);
    drop_view(&expected);
    arena_release(&scratch);
}

/* Positions of edges have the width of the largest and a record version of their own; a batch
 * without them keeps the earlier version. */
static void positions_of_edges_are_packed(void **state)
{
    struct temp_store *t = *state;
    static const uint32_t position[] = {0, 1, 6, 2, 5, 3};
    struct arena scratch = {0};
    struct record_view view;
    struct mini_batch in = valid_batch, out = {0};
    const void *data = NULL;
    in.edge_position = position;
    assert_ok(mini_batch_put(t->store, "k", "r", &in, &scratch, &t->err), &t->err);
    assert_ok(store_get(t->store, "k", "r", &view, &t->err), &t->err);
    assert_int_equal(view.version, 5);
    assert_ok(record_section_get(&view, "position_width", ELEMENT_U32, 1, &data, NULL, &t->err),
              &t->err);
    assert_int_equal(*(const uint32_t *)data, 3);
    assert_ok(record_section_get(&view, "edge_position", ELEMENT_U64, 1, &data, NULL, &t->err),
              &t->err);
    uint64_t word = 0;
    for (unsigned i = 0; i < 6; i++)
        word |= (uint64_t)position[i] << 3 * i;
    assert_int_equal(*(const uint64_t *)data, word);
    store_release_record(&view);
    assert_ok(mini_batch_get(t->store, "k", "r", &out, &t->err), &t->err);
    assert_equal_batches(&out, &in);
    static const uint32_t wide[] = {33}, narrow[] = {2};
    const struct tamper bad[] = {{"position_width", ELEMENT_U32, wide, 1},
                                 {"position_width", ELEMENT_U32, narrow, 1},
                                 {"position_width", ELEMENT_U32, wide, 0},
                                 {"position_width", ELEMENT_U64, &word, 1},
                                 {"edge_position", ELEMENT_U64, &word, 0},
                                 {"edge_position", ELEMENT_U64, &(uint64_t){1ULL << 18}, 1}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        record_tamper(t->store, "k", "r", &bad[i]);
        assert_fails(mini_batch_get(t->store, "k", "r", &out, &t->err), ERROR_CORRUPT, "position",
                     &t->err);
        assert_ok(store_remove(t->store, "k", &t->err), &t->err);
        assert_ok(mini_batch_put(t->store, "k", "r", &in, &scratch, &t->err), &t->err);
    }
    mini_batch_release(&out);
    arena_release(&scratch);
}

static void any_batch_comes_back_in_the_memory_of_the_one_before(void **state)
{
    static struct random_batch in;
    struct temp_store *t = *state;
    struct arena scratch = {0};
    struct mini_batch out = {0};
    long before = 0;
    for (uint32_t number = 0; number < 300; number++) {
        make_random(&in, number);
        assert_ok(mini_batch_put(t->store, "k", "r", &in.batch, &scratch, &t->err), &t->err);
        assert_ok(mini_batch_get(t->store, "k", "r", &out, &t->err), &t->err);
        assert_equal_batches(&out, &in.batch);
        assert_ok(store_remove(t->store, "k", &t->err), &t->err);
        before = number == 0 ? memory_live_blocks() : before;
        assert_int_equal(memory_live_blocks(), before);
    }
    mini_batch_release(&out);
    arena_release(&scratch);
}

static void a_batch_without_hops_is_its_seeds(void **state)
{
    (void)state;
    static const uint32_t seeds[] = {2}, width[] = {3, 0, 0, 0}, ids[] = {5, 0};
    struct error err = {0};
    struct mini_batch out = {0};
    struct packed_view v = empty_view();
    add(&v, "hop_end", ELEMENT_U32, 1, seeds);
    add(&v, "width", ELEMENT_U32, 4, width);
    add_packed(&v, "node", ids, 2, 3);
    add(&v, "row_length", ELEMENT_U64, 0, NULL);
    add(&v, "is_new", ELEMENT_U64, 0, NULL);
    add(&v, "neighbor", ELEMENT_U64, 0, NULL);
    assert_ok(mini_batch_decode(&v.view, &out, &err), &err);
    assert_int_equal(out.hop_count, 0);
    assert_int_equal(out.row_count, 0);
    assert_int_equal(out.seed_count, 2);
    assert_memory_equal(out.node, ids, sizeof ids);
    assert_int_equal(out.row_start[0], 0);
    mini_batch_release(&out);
    drop_view(&v);
}

/* --- memory --- */

static void neither_putting_nor_getting_one_allocates(void **state)
{
    struct temp_store *t = *state;
    struct arena scratch = {0};
    struct mini_batch out = {0};
    char key[] = "run/r/round/0/slot/0/mini_batch";
    long before = 0;
    for (int slot = 0; slot <= 5; slot++) {
        key[sizeof "run/r/round/0/slot/" - 1] = (char)('0' + slot);
        before = slot == 1 ? memory_allocation_count() : before;
        assert_ok(mini_batch_put(t->store, key, "r", &valid_batch, &scratch, &t->err), &t->err);
    }
    assert_int_equal(memory_allocation_count(), before);
    struct packed_view v = view_of(&valid);
    for (int turn = 0; turn <= 5; turn++) {
        before = turn == 1 ? memory_allocation_count() : before;
        assert_ok(mini_batch_decode(&v.view, &out, &t->err), &t->err);
    }
    assert_int_equal(memory_allocation_count(), before);
    drop_view(&v);
    mini_batch_release(&out);
    arena_release(&scratch);
}

static void says_so_without_memory(void **state)
{
    struct temp_store *t = *state;
    struct mini_batch out = {0};
    struct packed_view v = view_of(&valid);
    for (long n = 0; n < 2; n++) {
        struct arena scratch = {0};
        memory_fail_after(n);
        const enum error_code rc = mini_batch_decode(&v.view, &out, &t->err);
        const enum error_code put_rc =
            mini_batch_put(t->store, "k", "r", &valid_batch, &scratch, &t->err);
        memory_fail_after(-1);
        assert_int_equal(rc, ERROR_NO_MEMORY);
        assert_int_equal(put_rc, ERROR_NO_MEMORY);
        assert_null(out.node);
        mini_batch_release(&out);
        arena_release(&scratch);
    }
    struct arena small = {.limit = 100};
    assert_fails(mini_batch_put(t->store, "k", "r", &valid_batch, &small, &t->err), ERROR_NO_MEMORY,
                 "the record of a mini-batch needs 64 bytes", &t->err);
    arena_release(&small);
    drop_view(&v);
}

static void pairs_of_seeds_are_kept(void **state)
{
    struct temp_store *t = *state;
    struct arena scratch = {0};
    struct mini_batch batch = valid_batch, read = {0};
    batch.pairs = pairs;
    assert_ok(mini_batch_put(t->store, "run/r/mini_batch", "r", &batch, &scratch, &t->err),
              &t->err);
    assert_ok(mini_batch_get(t->store, "run/r/mini_batch", "r", &read, &t->err), &t->err);
    assert_equal_batches(&batch, &read);
    assert_int_equal(read.pairs.positive_count, 2);
    assert_int_equal(read.pairs.negatives_each, 2);
    assert_memory_equal(read.pairs.source, pair_source, sizeof pair_source);
    assert_memory_equal(read.pairs.target, pair_target, sizeof pair_target);
    assert_memory_equal(read.pairs.label, pair_label, sizeof pair_label);
    assert_int_equal(seed_pairs_positive(&read.pairs, 1), 1);
    assert_int_equal(seed_pairs_positive(&read.pairs, 3), 0);
    assert_int_equal(seed_pairs_positive(&read.pairs, 4), 1);
    assert_null(read.pairs.relation);
    assert_int_equal(read.pairs.corrupt, CORRUPT_TARGET);
    const uint16_t relation[] = {65535, 3};
    batch.pairs.relation = relation;
    batch.pairs.corrupt = CORRUPT_BOTH;
    assert_ok(mini_batch_put(t->store, "run/r/typed", "r", &batch, &scratch, &t->err), &t->err);
    assert_ok(mini_batch_get(t->store, "run/r/typed", "r", &read, &t->err), &t->err);
    assert_memory_equal(read.pairs.relation, relation, sizeof relation);
    assert_memory_equal(read.pairs.target, pair_target, sizeof pair_target);
    assert_int_equal(read.pairs.corrupt, CORRUPT_BOTH);
    mini_batch_release(&read);
    arena_release(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(comes_back_as_it_was_put),
        test_with_store(is_stored_as_the_header_says),
        test_with_store(positions_of_edges_are_packed),
        test_with_store(any_batch_comes_back_in_the_memory_of_the_one_before),
        cmocka_unit_test(a_batch_without_hops_is_its_seeds),
        test_with_store(neither_putting_nor_getting_one_allocates),
        test_with_store(says_so_without_memory),
        test_with_store(pairs_of_seeds_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
