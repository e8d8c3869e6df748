/* Tests that the merged parts of a vertex cut equal an edge cut of the same nodes, to the byte, and
 * that errors name their cause. */
#include "common/base/memory.h"
#include "common/numbers/random.h"
#include "store/objects/keys.h"
#include "store/records/partition/topology_seal.h"
#include "store/topology/topology.h"

#include "tests/support/edge_values.h"
#include "tests/support/temp_store.h"
#include "tests/support/test.h"

#include <stdlib.h>

enum { NODES = 300, EDGES = 4000, PARTS = 5, WIDTH = 3 };

/* Includes a part without nodes and a part with one. */
static const uint32_t bounds[PARTS + 1] = {0, 0, 1, 90, 200, NODES};

/* By target, then source; repeated edges are consecutive, and there are self-loops. */
static uint32_t source[EDGES], target[EDGES];
static uint16_t edge_part[EDGES];
static float weight[EDGES], feature[EDGES][WIDTH];
static int64_t edge_time[EDGES];
static bool is_bare;

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Makes the graph. The first `held_by` parts hold all edges; the other parts hold none. */
static void make_graph(uint32_t held_by, bool bare)
{
    static uint64_t pair[EDGES];
    const struct random_stream stream = random_stream_of(3, RANDOM_GENERATOR, 0, 0, 0);
    is_bare = bare;
    for (uint32_t e = 0; e < EDGES; e++) {
        uint32_t word[4];
        random_block(&stream, e, 0, word);
        pair[e] = (uint64_t)(random_below(word[0], NODES - 20)) << 32 | random_below(word[1], 60);
    }
    qsort(pair, EDGES, sizeof *pair, compare);
    for (uint32_t e = 0; e < EDGES; e++) {
        target[e] = (uint32_t)(pair[e] >> 32);
        source[e] = (uint32_t)pair[e];
        const uint32_t low = source[e] < target[e] ? source[e] : target[e];
        edge_part[e] = (uint16_t)(random_word(&stream, low, 9 + source[e] + target[e]) % held_by);
        weight[e] = (float)e * 0.37F;
        edge_time[e] = e * 25 - 9;
        for (int k = 0; k < WIDTH; k++)
            feature[e][k] = (float)e + (float)k * 0.125F;
    }
}

struct rows {
    uint32_t row_node[NODES], neighbor[EDGES];
    uint64_t row_start[NODES + 1];
    float weight[EDGES], feature[EDGES][WIDTH];
    int64_t edge_time[EDGES];
    uint32_t row_count;
    uint64_t edge_count;
};

static struct edge_columns_view columns_of(const struct rows *rows)
{
    struct edge_columns_view columns = edge_values(rows->weight, rows->edge_time, NULL);
    columns.width.of[EDGE_FEATURE] = WIDTH;
    columns.data[EDGE_FEATURE] = rows->feature;
    return is_bare ? edge_values(NULL, NULL, NULL) : columns;
}

static void add_edge(struct rows *rows, uint32_t e)
{
    const uint64_t at = rows->edge_count++;
    rows->neighbor[at] = source[e];
    rows->weight[at] = weight[e];
    rows->edge_time[at] = edge_time[e];
    memcpy(rows->feature[at], feature[e], sizeof feature[e]);
}

/* Writes a part of the edge cut. */
static void write_own(struct store *store, int part, struct error *err)
{
    static struct rows rows;
    rows.edge_count = 0;
    for (uint32_t v = bounds[part]; v < bounds[part + 1]; v++) {
        rows.row_start[v - bounds[part]] = rows.edge_count;
        for (uint32_t e = 0; e < EDGES; e++)
            if (target[e] == v)
                add_edge(&rows, e);
    }
    rows.row_start[bounds[part + 1] - bounds[part]] = rows.edge_count;
    const struct topology_arrays arrays = {.first_node = bounds[part],
                                           .node_count = bounds[part + 1] - bounds[part],
                                           .edge_count = rows.edge_count,
                                           .row_start = rows.row_start,
                                           .neighbor = rows.neighbor,
                                           .columns = columns_of(&rows)};
    assert_ok(topology_write(store, "edges", part, &arrays, err), err);
}

static void write_held(struct store *store, const char *id, int part, uint64_t more,
                       struct error *err)
{
    static struct rows rows;
    uint64_t own = more;
    rows.row_count = 0;
    rows.edge_count = 0;
    for (uint32_t e = 0; e < EDGES; e++) {
        own += target[e] >= bounds[part] && target[e] < bounds[part + 1];
        if (edge_part[e] != part)
            continue;
        if (rows.row_count == 0 || rows.row_node[rows.row_count - 1] != target[e]) {
            rows.row_node[rows.row_count] = target[e];
            rows.row_start[rows.row_count++] = rows.edge_count;
        }
        add_edge(&rows, e);
    }
    rows.row_start[rows.row_count] = rows.edge_count;
    const struct topology_held held = {.first_node = bounds[part],
                                       .node_count = bounds[part + 1] - bounds[part],
                                       .own_edge_count = own,
                                       .row_count = rows.row_count,
                                       .edge_count = rows.edge_count,
                                       .row_node = rows.row_node,
                                       .row_start = rows.row_start,
                                       .neighbor = rows.neighbor,
                                       .columns = columns_of(&rows)};
    assert_ok(topology_write_held(store, id, part, held.first_node, held.node_count, &held, 1, err),
              err);
}

static struct partition_book book_of(const char *id)
{
    struct partition_book book = {.part_count = PARTS, .node_count = NODES, .book = bounds};
    memcpy(book.id, id, strlen(id) + 1);
    return book;
}

static void compare_rows(const struct topology_part *a, const struct topology_part *b)
{
    assert_int_equal(a->first_node, b->first_node);
    assert_int_equal(a->edge_count, b->edge_count);
    for (uint32_t row = 0; row <= a->node_count; row++)
        assert_int_equal(topology_row_start(a, row), topology_row_start(b, row));
    for (uint64_t e = 0; e < a->edge_count; e++) {
        assert_int_equal(*topology_neighbor(a, e), *topology_neighbor(b, e));
        for (int c = 0; c < EDGE_COLUMN_COUNT; c++)
            if (a->width.of[c])
                assert_memory_equal(topology_column(a, (enum edge_column)c, e),
                                    topology_column(b, (enum edge_column)c, e),
                                    edge_column_bytes((enum edge_column)c, a->width.of[c]));
    }
    for (uint32_t row = 0; a->width.of[EDGE_WEIGHT] && row < a->node_count; row++)
        assert_memory_equal(topology_weight_sum(a, row), topology_weight_sum(b, row),
                            sizeof(float));
}

static void rows_that_are_put_together_are_those_of_an_edge_cut(void **state)
{
    struct temp_store *t = *state;
    const struct partition_book edges = book_of("edges");
    struct thread_pool *pool = NULL;
    assert_ok(thread_pool_new(3, &pool, &t->err), &t->err);
    for (int form = 0; form < 4; form++) {
        const char *ids[] = {"cut-0", "cut-1", "cut-2", "cut-3"};
        const struct partition_book cut = book_of(ids[form]);
        struct topology a = {0}, b = {0};
        make_graph(form % 2 ? 2 : PARTS, form / 2);
        for (int p = 0; p < PARTS; p++) {
            assert_ok(store_remove(t->store, key_part("edges", p, "topology").text, &t->err),
                      &t->err);
            assert_ok(store_remove(t->store, key_part("edges", p, "topology_seal").text, &t->err),
                      &t->err);
            write_own(t->store, p, &t->err);
            write_held(t->store, ids[form], p, 0, &t->err);
        }
        const long blocks = memory_live_blocks();
        assert_ok(topology_open(t->store, &edges, &a, &t->err), &t->err);
        assert_ok(topology_open_parts(&a, NULL, &t->err), &t->err);
        assert_ok(topology_open(t->store, &cut, &b, &t->err), &t->err);
        assert_true(b.is_vertex_cut && !a.is_vertex_cut);
        assert_int_equal(b.edge_count, EDGES);
        assert_ok(topology_open_part(&b, 3, &t->err), &t->err);
        assert_ok(topology_open_parts(&b, pool, &t->err), &t->err);
        for (int p = 0; p < PARTS; p++)
            compare_rows(&a.part[p], &b.part[p]);
        assert_ok(topology_copy(&b, false, pool, &t->err), &t->err);
        for (int p = 0; p < PARTS; p++)
            compare_rows(&a.part[p], &b.part[p]);
        topology_close(&b);
        topology_close(&a);
        assert_int_equal(memory_live_blocks(), blocks);
    }
    thread_pool_free(pool);
}

static void parts_that_do_not_belong_together_are_named(void **state)
{
    struct temp_store *t = *state;
    const struct partition_book cut = book_of("wrong");
    struct topology topology = {0};
    make_graph(PARTS, true);
    for (int p = 0; p < PARTS; p++)
        write_held(t->store, "wrong", p, p == 3, &t->err);
    assert_ok(topology_open(t->store, &cut, &topology, &t->err), &t->err);
    assert_ok(topology_open_part(&topology, 2, &t->err), &t->err);
    for (int i = 0; i < 2; i++)
        assert_fails(topology_open_part(&topology, 3, &t->err), ERROR_CORRUPT,
                     "the parts of a vertex cut hold", &t->err);
    topology_close(&topology);

    struct topology_seal seal;
    assert_ok(topology_seal_get(t->store, "wrong", 4, &seal, &t->err), &t->err);
    seal.is_held = false;
    assert_ok(store_remove(t->store, key_part("wrong", 4, "topology_seal").text, &t->err), &t->err);
    assert_ok(topology_seal_put(t->store, "wrong", 4, &seal, &t->err), &t->err);
    assert_fails(topology_open(t->store, &cut, &topology, &t->err), ERROR_CORRUPT,
                 "topology of part 4: expected a vertex cut, as part 0 is of", &t->err);
}

/* Tests that a part cannot be opened while the file of any part is lost, that the message names the
 * file, and that it may come back. */
static void a_file_that_is_lost_is_named_whatever_part_is_opened(void **state)
{
    struct temp_store *t = *state;
    const struct partition_book cut = book_of("lost");
    struct topology topology = {0};
    make_graph(PARTS, false);
    for (int p = 0; p < PARTS; p++)
        write_held(t->store, "lost", p, 0, &t->err);
    assert_ok(store_remove(t->store, key_part("lost", 4, "topology").text, &t->err), &t->err);
    assert_ok(topology_open(t->store, &cut, &topology, &t->err), &t->err);
    assert_fails(topology_open_part(&topology, 2, &t->err), ERROR_NOT_FOUND,
                 key_part("lost", 4, "topology").text, &t->err);
    write_held(t->store, "lost", 4, 0, &t->err);
    assert_ok(topology_open_part(&topology, 2, &t->err), &t->err);
    topology_close(&topology);
}

static void memory_that_runs_out_leaves_nothing_behind(void **state)
{
    struct temp_store *t = *state;
    const struct partition_book cut = book_of("little");
    struct topology topology = {0};
    enum error_code rc = ERROR_NO_MEMORY;
    make_graph(PARTS, false);
    for (int p = 0; p < PARTS; p++)
        write_held(t->store, "little", p, 0, &t->err);
    assert_ok(topology_open(t->store, &cut, &topology, &t->err), &t->err);
    for (int after = 0; rc != ERROR_NONE; after++) {
        memory_fail_after(after);
        rc = topology_open_part(&topology, 3, &t->err);
        memory_fail_after(-1);
        assert_true(rc == ERROR_NONE || rc == ERROR_NO_MEMORY);
    }
    assert_int_equal(topology.part[3].edge_count, topology_row_start(&topology.part[3], 110));
    topology_close(&topology);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(rows_that_are_put_together_are_those_of_an_edge_cut),
        test_with_store(parts_that_do_not_belong_together_are_named),
        test_with_store(a_file_that_is_lost_is_named_whatever_part_is_opened),
        test_with_store(memory_that_runs_out_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
