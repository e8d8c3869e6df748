/* Batches of every form: the blocks that layers get from them, and the batches that are refused. */
#include "store/objects/keys.h"
#include "store/records/batch/batch_form.h"

#include "tests/support/temp_store.h"
#include "tests/support/test.h"

#include <string.h>

enum { SEEDS = 2, NODES = 5 };

static const uint32_t node[NODES] = {7, 3, 9, 1, 4};
static const uint32_t degree[NODES] = {2, 3, 1, 4, 5};
static const float seed_weight[SEEDS] = {0.5F, 1.5F};

/* Two hops: two rows, then four. */
static const uint32_t hop_end[] = {2, 4, 5};
static const uint32_t layered_start[] = {0, 2, 3, 4, 4, 6, 7};
static const uint32_t layered_neighbor[] = {2, 3, 0, 4, 1, 4, 3};
static const float layered_factor[] = {1, 2, 3, 4, 5, 6, 7};
static const struct mini_batch layered = {.form = BATCH_LAYERED,
                                          .hop_count = 2,
                                          .seed_count = SEEDS,
                                          .node_count = NODES,
                                          .row_count = 6,
                                          .edge_count = 7,
                                          .hop_end = hop_end,
                                          .node = node,
                                          .row_start = layered_start,
                                          .neighbor = layered_neighbor,
                                          .degree = degree,
                                          .edge_factor = layered_factor};

static const uint32_t subgraph_end[] = {2, 5, 5};
static const uint32_t subgraph_start[] = {0, 2, 3, 3, 5, 6};
static const uint32_t subgraph_neighbor[] = {2, 4, 0, 1, 3, 4};
static const struct mini_batch subgraph = {.form = BATCH_SUBGRAPH,
                                           .hop_count = 2,
                                           .seed_count = SEEDS,
                                           .node_count = NODES,
                                           .row_count = 5,
                                           .edge_count = 6,
                                           .hop_end = subgraph_end,
                                           .node = node,
                                           .row_start = subgraph_start,
                                           .neighbor = subgraph_neighbor,
                                           .seed_weight = seed_weight};

/* In a disjoint batch a node may be there once for each seed. */
static const uint32_t twice[NODES] = {7, 3, 9, 9, 7}, seed_of[NODES] = {0, 1, 0, 1, 1};
static const uint32_t nested_start[] = {0, 1, 2, 2, 3}, nested_neighbor[] = {2, 3, 4};
static const struct mini_batch disjoint = {.hop_count = 2,
                                           .seed_count = SEEDS,
                                           .node_count = NODES,
                                           .row_count = 4,
                                           .edge_count = 3,
                                           .hop_end = hop_end,
                                           .node = twice,
                                           .row_start = nested_start,
                                           .neighbor = nested_neighbor,
                                           .seed_of = seed_of};

static void assert_block(const struct message_block *block, uint32_t destinations, uint32_t sources,
                         const uint32_t *row_start)
{
    assert_int_equal(block->destination_count, destinations);
    assert_int_equal(block->source_count, sources);
    assert_memory_equal(block->row_start, row_start, (destinations + 1) * sizeof *row_start);
}

static void each_layer_has_the_edges_of_its_hop(void **state)
{
    (void)state;
    struct message_block block = mini_batch_block(&layered, 1); /* the last layer */
    assert_block(&block, 2, 4, layered_start);
    assert_ptr_equal(block.edge_factor, layered_factor);
    block = mini_batch_block(&layered, 0);
    assert_block(&block, 4, 5, layered_start + 2);
    block = mini_batch_block(&subgraph, 1);
    assert_block(&block, 2, 5, subgraph_start);
    block = mini_batch_block(&subgraph, 0);
    assert_block(&block, 5, 5, subgraph_start);
    assert_null(block.edge_factor);
    block = mini_batch_block(&disjoint, 0);
    assert_block(&block, 4, 5, nested_start);
    block = mini_batch_block(&disjoint, 2);
    assert_int_equal(block.source_count, 0);
}

static void comes_back_as_it_was_put(void **state)
{
    static const struct mini_batch *const all[] = {&layered, &subgraph, &disjoint};
    struct temp_store *t = *state;
    struct arena scratch = {0};
    struct mini_batch out = {0};
    for (int i = 0; i < 3; i++) {
        const struct mini_batch *in = all[i];
        const struct key key = key_mini_batch("r", 3, i);
        struct record_view view;
        assert_ok(mini_batch_put(t->store, key.text, "r", in, &scratch, &t->err), &t->err);
        assert_ok(store_get(t->store, key.text, "r", &view, &t->err), &t->err);
        assert_int_equal(view.version, 4);
        store_release_record(&view);
        assert_ok(mini_batch_get(t->store, key.text, "r", &out, &t->err), &t->err);
        assert_int_equal(out.form, in->form);
        assert_int_equal(out.row_count, in->row_count);
        assert_int_equal(out.edge_count, in->edge_count);
        assert_memory_equal(out.hop_end, in->hop_end, 3 * sizeof *in->hop_end);
        assert_memory_equal(out.node, in->node, NODES * sizeof *in->node);
        assert_memory_equal(out.row_start, in->row_start,
                            (in->row_count + 1) * sizeof *in->row_start);
        assert_memory_equal(out.neighbor, in->neighbor, in->edge_count * sizeof *in->neighbor);
        assert_true(!out.edge_factor == !in->edge_factor && !out.seed_of == !in->seed_of &&
                    !out.seed_weight == !in->seed_weight);
        if (in->edge_factor)
            assert_memory_equal(out.edge_factor, in->edge_factor, in->edge_count * sizeof(float));
        if (in->seed_weight)
            assert_memory_equal(out.seed_weight, in->seed_weight, SEEDS * sizeof(float));
        if (in->seed_of)
            assert_memory_equal(out.seed_of, in->seed_of, NODES * sizeof(uint32_t));
    }
    mini_batch_release(&out);
    arena_release(&scratch);
}

static void is_refused(struct temp_store *t, const struct mini_batch *batch, const char *message)
{
    struct arena scratch = {0};
    struct mini_batch out = {0};
    assert_ok(mini_batch_put(t->store, "k", "r", batch, &scratch, &t->err), &t->err);
    assert_fails(mini_batch_get(t->store, "k", "r", &out, &t->err), ERROR_CORRUPT, message,
                 &t->err);
    assert_null(out.node);
    assert_ok(store_remove(t->store, "k", &t->err), &t->err);
    mini_batch_release(&out);
    arena_release(&scratch);
}

static void what_a_form_cannot_have_is_named(void **state)
{
    static const uint32_t unlike[] = {2, 4, 5}, far[] = {2, 4, 0, 4, 1, 4, 3},
                          outside[] = {2, 4, 0, 1, 5, 4}, other[] = {3, 3, 4},
                          swapped[NODES] = {1, 0, 0, 1, 1};
    struct temp_store *t = *state;
    struct mini_batch b = subgraph;
    b.hop_end = unlike;
    is_refused(t, &b, "hop_end[2]: expected all 4 nodes, as hop_end[1] has, found 5");
    b = subgraph;
    b.neighbor = outside;
    is_refused(t, &b, "neighbor[4]: expected below hop_end[1] = 5, found 5");
    b = layered;
    b.neighbor = far;
    is_refused(t, &b, "neighbor[1]: expected below hop_end[1] = 4, found 4");
    b = layered;
    b.degree = NULL;
    is_refused(t, &b, "expected a section degree beside edge_factor, found none");
    b = layered;
    b.node = twice;
    is_refused(t, &b, "expected each node once");
    b = layered;
    b.form = BATCH_FORM_COUNT;
    b.row_count = 4;
    b.edge_count = 4;
    is_refused(t, &b, "section form: expected below 3, found 3");
    b = disjoint;
    b.neighbor = other;
    is_refused(t, &b, "neighbor[0]: expected a node of seed 0, found one of seed 1");
    b = disjoint;
    b.seed_of = swapped;
    is_refused(t, &b, "seed_of[0]: expected itself, one of 2 seeds, found 1");
}

/* Checks that an accepted batch has no index out of range, because kernels use it without
 * checks. */
static void assert_is_inside(const struct mini_batch *batch)
{
    for (int layer = 0; layer < batch->hop_count; layer++) {
        const struct message_block block = mini_batch_block(batch, layer);
        assert_true(block.source_count <= batch->node_count);
        assert_true(block.destination_count <= block.source_count);
        for (uint32_t i = 0; i < block.destination_count; i++) {
            assert_true(block.row_start[i] <= block.row_start[i + 1]);
            for (uint32_t e = block.row_start[i]; e < block.row_start[i + 1]; e++) {
                assert_true(block.neighbor[e] < block.source_count);
                assert_true(!batch->seed_of ||
                            batch->seed_of[i] == batch->seed_of[block.neighbor[e]]);
            }
        }
    }
    assert_int_equal(batch->row_start[batch->row_count], batch->edge_count);
    assert_true(!batch->edge_factor || batch->degree);
}

static void any_flipped_bit_is_refused_or_harmless(void **state)
{
    static const struct mini_batch *const all[] = {&layered, &subgraph, &disjoint};
    struct temp_store *t = *state;
    struct arena scratch = {0};
    struct mini_batch out = {0};
    int accepted = 0, refused = 0;
    for (int i = 0; i < 3; i++) {
        struct record_view stored, view;
        assert_ok(mini_batch_put(t->store, "k", "r", all[i], &scratch, &t->err), &t->err);
        assert_ok(store_get(t->store, "k", "r", &stored, &t->err), &t->err);
        view = stored;
        for (uint32_t at = 0; at < stored.section_count; at++) {
            const size_t bytes = stored.section[at].count * element_size(stored.section[at].type);
            uint8_t *copy = NULL;
            assert_ok(arena_new_bytes(&scratch, (void **)&copy, (bytes + 63) / 64, 64, "a section",
                                      &t->err),
                      &t->err);
            for (size_t bit = 0; bit < 8 * bytes; bit++) {
                memcpy(copy, stored.section[at].data, bytes);
                copy[bit / 8] ^= (uint8_t)(1U << bit % 8);
                view.section[at].data = copy;
                const enum error_code rc = mini_batch_decode(&view, &out, &t->err);
                assert_true(rc == ERROR_NONE || rc == ERROR_CORRUPT);
                if (rc == ERROR_NONE)
                    assert_is_inside(&out);
                accepted += rc == ERROR_NONE;
                refused += rc != ERROR_NONE;
            }
            view.section[at].data = stored.section[at].data;
        }
        store_release_record(&stored);
        assert_ok(store_remove(t->store, "k", &t->err), &t->err);
    }
    assert_true(accepted > 200 && refused > 200);
    mini_batch_release(&out);
    arena_release(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_layer_has_the_edges_of_its_hop),
        cmocka_unit_test_setup_teardown(comes_back_as_it_was_put, temp_store_setup,
                                        temp_store_teardown),
        cmocka_unit_test_setup_teardown(what_a_form_cannot_have_is_named, temp_store_setup,
                                        temp_store_teardown),
        test_with_store(any_flipped_bit_is_refused_or_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
