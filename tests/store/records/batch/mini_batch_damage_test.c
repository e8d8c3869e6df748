/* Mini-batches that no writer writes: reading names the error, or the batch is harmless. */
#include "common/base/memory.h"
#include "common/numbers/packed_integers.h"
#include "common/numbers/random.h"
#include "store/objects/keys.h"
#include "store/records/batch/mini_batch.h"

#include "tests/store/records/batch/mini_batch_fixture.h"
#include "tests/support/record_tamper.h"
#include "tests/support/temp_store.h"
#include "tests/support/test.h"

static void is_refused(const struct sample *broken, const char *message)
{
    struct error err = {0};
    struct mini_batch out = {0};
    struct packed_view v = view_of(broken);
    assert_fails(mini_batch_decode(&v.view, &out, &err), ERROR_CORRUPT, message, &err);
    const char *name = strstr(err.message, "run/r/mini_batch");
    assert_non_null(name);
    assert_null(strstr(name + 1, "run/r/mini_batch"));
    assert_null(out.node);
    mini_batch_release(&out);
    drop_view(&v);
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
    s.is_new = 0x3; /* edge 2, of the first hop, names node 4 of the second hop */
    s.width[2] = 3;
    s.rest_count = 4;
    s.rest[0] = 4;
    is_refused(&s, "neighbor[2]: expected below hop_end[1] = 4, found 4");
    s = valid;
    s.is_new = 0x27; /* edge 2, of the first hop, discovers node 4 */
    s.rest_count = 2;
    is_refused(&s, "neighbor[2]: expected below hop_end[1] = 4, found 4");
    s = valid;
    s.width[2] = 32;
    s.rest[1] = UINT32_MAX;
    is_refused(&s, "neighbor[5]: expected below hop_end[2] = 6, found 4294967295");
    s = valid;
    s.node[4] = 20;
    is_refused(&s, "node[4]: expected each node once, found 20, which is node[1] too");
    s = valid;
    s.width[0] = 32;
    s.node[5] = UINT32_MAX;
    is_refused(&s, "node[5]: expected at most 4294967294, found 4294967295");
}

static void names_numbers_that_cannot_be(void **state)
{
    (void)state;
    static const char *const widths[] = {
        "width[0]: expected at most 32 bits for section node, found 33",
        "width[1]: expected at most 32 bits for section row_length, found 33",
        "width[2]: expected at most 32 bits for section neighbor, found 33",
        "width[3]: expected at most 32 bits for section degree, found 33",
    };
    struct sample s;
    for (int i = 0; i < 4; i++) {
        s = valid;
        s.width[i] = 33;
        is_refused(&s, widths[i]);
    }
    s = valid;
    s.width[0] = 2; /* with two bits, one of six nodes must be there twice */
    is_refused(&s, "width[0]: expected more bits for 6 nodes, found 2");
    s = valid;
    s.width[1] = 32;
    s.row_length[1] = s.row_length[2] = UINT32_MAX;
    is_refused(&s, "row_length: expected rows of at most 4294967295 edges together, "
                   "found 8589934593");
    s = valid;
    s.is_new = 0x3d;
    s.rest_count = 1;
    is_refused(&s, "is_new: expected at most 4 edges that find a node, found 5");
}

static void names_the_section_that_has_another_length(void **state)
{
    (void)state;
    struct sample s = valid;
    s.width[0] = 12;
    s.hop_end[2] = 5;
    is_refused(&s, "section node: expected 1 elements, found 2");
    s = valid;
    s.width[1] = 20;
    s.hop_end[1] = 3;
    is_refused(&s, "section row_length: expected 1 elements, found 2");
    s = valid;
    s.width[1] = 32;
    s.row_length[3] = 61;
    is_refused(&s, "section is_new: expected 2 elements, found 1");
    s = valid;
    s.width[2] = 32;
    s.is_new = 0x19;
    is_refused(&s, "section neighbor: expected 2 elements, found 1");
    s = valid;
    s.width[3] = 0;
    s.row_length[0] = 3;
    is_refused(&s, "section weight: expected 7 elements, found 6");
}

static void names_bits_that_belong_to_no_value(void **state)
{
    (void)state;
    static const char *const message[] = {
        "section node: expected zeros behind 6 values of 6 bits, found ones",
        "section row_length: expected zeros behind 4 values of 2 bits, found ones",
        "section is_new: expected zeros behind 6 values of 1 bits, found ones",
        "section neighbor: expected zeros behind 2 values of 1 bits, found ones",
        "section degree: expected zeros behind 6 values of 4 bits, found ones",
    };
    struct error err = {0};
    struct mini_batch out = {0};
    for (int i = 0; i < 5; i++) {
        struct packed_view v = view_of(&valid);
        ((uint8_t *)v.data[2 + i])[7] = 0x80;
        assert_fails(mini_batch_decode(&v.view, &out, &err), ERROR_CORRUPT, message[i], &err);
        drop_view(&v);
    }
    mini_batch_release(&out);
}

static void names_a_section_that_is_missing_or_of_another_type(void **state)
{
    (void)state;
    static const char *const name[] = {"hop_end",    "width",  "node",
                                       "row_length", "is_new", "neighbor"};
    struct error err = {0};
    struct mini_batch out = {0};
    for (uint32_t i = 0; i < 6; i++) {
        struct packed_view v = view_of(&valid);
        v.view.section[i].type = ELEMENT_I32;
        assert_fails(mini_batch_decode(&v.view, &out, &err), ERROR_CORRUPT, name[i], &err);
        assert_non_null(strstr(err.message, i < 2 ? "expected element type 3, found 5"
                                                  : "expected element type 4, found 5"));
        v.view.section[i].name[0] = 'x';
        assert_fails(mini_batch_decode(&v.view, &out, &err), ERROR_CORRUPT, name[i], &err);
        assert_non_null(strstr(err.message, "found none"));
        drop_view(&v);
    }
    struct packed_view v = view_of(&valid);
    v.view.section[6].count = 0;
    assert_fails(mini_batch_decode(&v.view, &out, &err), ERROR_CORRUPT,
                 "section degree: expected 1 elements, found 0", &err);
    v.view.section[6].count = 1;
    v.view.section[8].count = 5;
    assert_fails(mini_batch_decode(&v.view, &out, &err), ERROR_CORRUPT,
                 "section weight: expected 6 elements, found 5", &err);
    v.view.section[8].name[0] = 'W';
    assert_fails(mini_batch_decode(&v.view, &out, &err), ERROR_CORRUPT, "weight", &err);
    assert_int_equal(edge_widths_bytes(&out.columns.width), 0);
    drop_view(&v);
    mini_batch_release(&out);
}

static void refuses_too_many_hops_and_other_records(void **state)
{
    (void)state;
    static const uint32_t many[HOP_COUNT_MAX + 2] = {1};
    struct error err = {0};
    struct mini_batch out = {0};
    struct packed_view v = view_of(&valid);
    v.view.section[0].data = many;
    v.view.section[0].count = HOP_COUNT_MAX + 2;
    assert_fails(mini_batch_decode(&v.view, &out, &err), ERROR_CORRUPT,
                 "section hop_end: expected 1 to 17 elements, found 18", &err);
    v.view.section[0].count = 0;
    assert_fails(mini_batch_decode(&v.view, &out, &err), ERROR_CORRUPT,
                 "section hop_end: expected 1 to 17 elements, found 0", &err);
    v.view.version = 1;
    assert_fails(mini_batch_decode(&v.view, &out, &err), ERROR_CORRUPT,
                 "format version: expected 7, found 1", &err);
    v.view.version = 3;
    v.view.kind = RECORD_GRADIENT;
    assert_fails(mini_batch_decode(&v.view, &out, &err), ERROR_CORRUPT,
                 "expected kind mini_batch, found gradient", &err);
    drop_view(&v);
    mini_batch_release(&out);
}

static void finds_one_repeated_node_among_many(void **state)
{
    /* one width leads to a hashed set, the other to a set of bits */
    enum { COUNT = 100000, WIDE = 40503, NARROW = 3 };
    static uint32_t ids[COUNT];
    static const uint32_t end[] = {COUNT}, start[] = {0};
    struct temp_store *t = *state;
    struct arena scratch = {0};
    struct mini_batch out = {0};
    const struct mini_batch in = {
        .seed_count = COUNT, .node_count = COUNT, .hop_end = end, .node = ids, .row_start = start};
    for (uint32_t step = NARROW; step <= WIDE; step += WIDE - NARROW) {
        char key[] = "wide-0";
        for (uint32_t i = 0; i < COUNT; i++)
            ids[i] = i * step;
        key[0] = (char)('a' + step % 26);
        for (int broken = 0; broken < 3; broken++) {
            key[sizeof key - 2] = (char)('0' + broken);
            ids[COUNT - 1] = broken ? ids[1234] : ids[COUNT - 1];
            ids[500] = broken == 2 ? ids[3] : ids[500];
            assert_ok(mini_batch_put(t->store, key, "r", &in, &scratch, &t->err), &t->err);
            if (broken)
                assert_fails(mini_batch_get(t->store, key, "r", &out, &t->err), ERROR_CORRUPT,
                             broken == 1 ? "node[99999]: expected each node once"
                                         : "which is node[3] too",
                             &t->err);
            else
                assert_ok(mini_batch_get(t->store, key, "r", &out, &t->err), &t->err);
            assert_true(broken || out.node_limit == (COUNT - 1) * step + 1);
        }
    }
    mini_batch_release(&out);
    arena_release(&scratch);
}

/* Checks that an accepted batch has no index out of range, because kernels use it without
 * checks. */
static void assert_is_inside(const struct mini_batch *batch)
{
    for (uint32_t hop = 0, row = 0; hop < (uint32_t)batch->hop_count; hop++)
        for (; row < batch->hop_end[hop]; row++) {
            assert_true(batch->row_start[row] <= batch->row_start[row + 1]);
            for (uint32_t e = batch->row_start[row]; e < batch->row_start[row + 1]; e++)
                assert_true(batch->neighbor[e] < batch->hop_end[hop + 1]);
        }
    assert_int_equal(batch->row_start[batch->row_count], batch->edge_count);
}

static void any_flipped_bits_are_refused_or_harmless(void **state)
{
    static struct random_batch in;
    struct temp_store *t = *state;
    struct arena scratch = {0};
    struct mini_batch out = {0};
    int accepted = 0, refused = 0;
    for (uint32_t number = 0; number < 40; number++) {
        struct record_view stored;
        make_random(&in, number);
        assert_ok(mini_batch_put(t->store, "k", "r", &in.batch, &scratch, &t->err), &t->err);
        assert_ok(store_get(t->store, "k", "r", &stored, &t->err), &t->err);
        for (uint32_t turn = 0; turn < 200; turn++) {
            struct packed_view v = empty_view();
            for (uint32_t i = 0; i < stored.section_count; i++)
                add(&v, stored.section[i].name, stored.section[i].type, stored.section[i].count,
                    stored.section[i].data);
            const uint32_t at = below(turn, 0, v.view.section_count);
            const uint64_t bytes = v.view.section[at].count * element_size(v.view.section[at].type);
            if (bytes)
                ((uint8_t *)v.data[at])[below(turn, 1, (uint32_t)bytes)] ^=
                    (uint8_t)(1U << below(turn, 2, 8));
            const enum error_code rc = mini_batch_decode(&v.view, &out, &t->err);
            assert_true(rc == ERROR_NONE || rc == ERROR_CORRUPT);
            if (rc == ERROR_NONE)
                assert_is_inside(&out);
            accepted += rc == ERROR_NONE;
            refused += rc != ERROR_NONE;
            drop_view(&v);
        }
        store_release_record(&stored);
        assert_ok(store_remove(t->store, "k", &t->err), &t->err);
    }
    assert_true(accepted > 500 && refused > 500);
    mini_batch_release(&out);
    arena_release(&scratch);
}

static void assert_pairs_fail(uint32_t positives, uint32_t negatives, uint64_t source_bits,
                              const char *message)
{
    struct error err = {0};
    struct mini_batch read = {0};
    struct packed_view v = view_of(&valid);
    const uint32_t count[] = {positives, negatives};
    const uint64_t target_bits = 0x2e;
    v.view.version = 4;
    add(&v, "pair_count", ELEMENT_U32, 2, count);
    add(&v, "pair_source", ELEMENT_U64, 1, &source_bits);
    add(&v, "pair_target", ELEMENT_U64, 1, &target_bits);
    if (message)
        assert_fails(mini_batch_decode(&v.view, &read, &err), ERROR_CORRUPT, message, &err);
    else
        assert_ok(mini_batch_decode(&v.view, &read, &err), &err);
    mini_batch_release(&read);
    drop_view(&v);
}

static void damaged_pairs_are_named(void **state)
{
    (void)state;
    assert_pairs_fail(2, 2, 1, NULL);
    assert_pairs_fail(0, 2, 1, "pair_count: expected 1 to 4294967295 pairs, found 0 positives");
    assert_pairs_fail(UINT32_MAX, UINT32_MAX, 1, "pair_count: expected 1 to");
    assert_pairs_fail(2, 2, 4, "section pair_source: expected zeros behind its values");
    assert_pairs_fail(2, 40, 1, "pair_target: expected 2 elements, found 1");
}

/* A disjoint batch of one seed stores no bits of seeds, so its node count must be justified by bits
 * of node ids before memory is allocated for it. */
static void nodes_without_bits_take_no_memory(void **state)
{
    (void)state;
    static const uint32_t ends[] = {1, 4, 0x7e000005}, width[] = {31, 5, 0, 3};
    struct error err = {0};
    struct mini_batch out = {.memory = {.limit = 1 << 20}};
    struct packed_view v = empty_view();
    uint64_t word = 3;
    v.view.version = 4;
    add(&v, "hop_end", ELEMENT_U32, 3, ends);
    add(&v, "width", ELEMENT_U32, 4, width);
    add(&v, "node", ELEMENT_U64, 1, &word);
    add(&v, "seed_of", ELEMENT_U64, 0, &word);
    assert_fails(mini_batch_decode(&v.view, &out, &err), ERROR_CORRUPT, "node", &err);
    mini_batch_release(&out);
    drop_view(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_the_index_that_is_wrong),
        cmocka_unit_test(nodes_without_bits_take_no_memory),
        cmocka_unit_test(names_numbers_that_cannot_be),
        cmocka_unit_test(names_the_section_that_has_another_length),
        cmocka_unit_test(names_bits_that_belong_to_no_value),
        cmocka_unit_test(names_a_section_that_is_missing_or_of_another_type),
        cmocka_unit_test(refuses_too_many_hops_and_other_records),
        test_with_store(finds_one_repeated_node_among_many),
        test_with_store(any_flipped_bits_are_refused_or_harmless),
        cmocka_unit_test(damaged_pairs_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
