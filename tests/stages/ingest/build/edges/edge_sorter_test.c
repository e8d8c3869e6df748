/* Compares the rows of the sorter with rows found by going through all edges, at every budget. */
#include "common/base/memory.h"
#include "common/numbers/random.h"
#include "stages/ingest/build/edges/edge_chunk_writer.h"
#include "stages/ingest/build/edges/edge_sorter.h"
#include "store/records/dataset/edge_chunk.h"

#include "tests/support/edge_values.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { NODES = 50, EDGES = 2000 };

static struct temp_dir dir;
static struct edge_spool spool;
static struct input_edge {
    int64_t time;
    uint32_t source, target;
    float weight;
    uint16_t edge_type;
} edges[EDGES];
static uint32_t in_degree[NODES];

static int open_spool(void **state)
{
    (void)state;
    struct error err = {0};
    char path[FILE_PATH_SIZE];
    temp_dir_make(&dir);
    assert_ok(file_path(path, &err, "%s/edges", dir.path), &err);
    assert_ok(edge_spool_open(&spool, path, &err), &err);
    return 0;
}

static int close_spool(void **state)
{
    (void)state;
    edge_spool_close(&spool);
    temp_dir_remove(&dir);
    assert_int_equal(memory_live_blocks(), 0);
    return 0;
}

static const struct edge_widths bare = {{0}},
                                all = {{[EDGE_WEIGHT] = 1, [EDGE_TIME] = 1, [EDGE_TYPE] = 1}};

/* Fills `edges`, the spool and the in-degrees. Node NODES - 1 stays isolated, node 0 is a hub. */
static void spool_edges(size_t count, bool both_ways, const struct edge_widths *width)
{
    struct error err = {0};
    const bool has_all = width == &all;
    assert_ok(edge_spool_set_widths(&spool, width, &err), &err);
    const struct random_stream stream = random_stream_of(7, RANDOM_GENERATOR, 0, 0, 0);
    memset(in_degree, 0, sizeof in_degree);
    for (size_t i = 0; i < count; i++) {
        uint32_t word[4];
        random_block(&stream, i, 0, word);
        edges[i] = (struct input_edge){
            .source = word[0] % (NODES - 1),
            .target = word[1] % 3 ? word[1] / 3 % (NODES - 1) : 0,
            .weight = has_all ? (float)i : 0.0F,
            .time = has_all ? word[2] % 3 : 0,
            .edge_type = has_all ? (uint16_t)(word[3] % 2) : 0,
        };
        const struct edge_columns_view columns =
            has_all ? edge_values(&edges[i].weight, &edges[i].time, &edges[i].edge_type)
                    : (struct edge_columns_view){0};
        assert_ok(edge_spool_append(&spool, edges[i].source, edges[i].target, &columns, 0, &err),
                  &err);
        in_degree[edges[i].target]++;
        if (both_ways && edges[i].source != edges[i].target)
            in_degree[edges[i].source]++;
    }
}

/* The rows that the visitor got, as numbers, so that two runs can be compared. */
struct heard {
    uint64_t count;
    struct entry {
        uint32_t node, neighbor;
        float weight;
        int64_t time;
        uint16_t type;
    } entry[2 * EDGES];
    uint32_t next_node;
};

/* The visitor's type is not const because a visitor may reorder the edges.
 * NOLINTBEGIN(readability-non-const-parameter) */
static enum error_code hear(void *context, uint32_t node, const struct edge_row *row,
                            uint64_t *order, uint32_t kept, struct error *err)
{
    struct heard *heard = context;
    (void)err;
    assert_int_equal(node, heard->next_node++);
    for (uint32_t i = 0; i < kept; i++) {
        const uint32_t at = (uint32_t)order[i];
        const float *weight = row->columns.data[EDGE_WEIGHT];
        const int64_t *time = row->columns.data[EDGE_TIME];
        const uint16_t *type = row->columns.data[EDGE_TYPE];
        assert_int_equal(order[i] >> 32, row->neighbor[at]);
        heard->entry[heard->count++] = (struct entry){
            .node = node,
            .neighbor = row->neighbor[at],
            .weight = weight ? weight[at] : 0.0F,
            .time = time ? time[at] : 0,
            .type = type ? type[at] : 0,
        };
    }
    return ERROR_NONE;
}
/* NOLINTEND(readability-non-const-parameter) */

static struct thread_pool *pool; /* NULL: the calling thread alone */

static void sort_at(uint64_t memory_bytes, bool both_ways, enum edge_policy duplicates,
                    struct heard *heard, uint64_t *ranges)
{
    struct error err = {0};
    uint32_t degree[NODES];
    struct edge_sorter sorter = {.spool = &spool,
                                 .node_count = NODES,
                                 .both_ways = both_ways,
                                 .duplicates = duplicates,
                                 .memory_bytes = memory_bytes,
                                 .pool = pool,
                                 .visit = hear,
                                 .context = heard,
                                 .in_degree = degree};
    memcpy(degree, in_degree, sizeof degree);
    memset(heard, 0, sizeof *heard);
    assert_ok(edge_sorter_run(&sorter, &err), &err);
    assert_int_equal(heard->next_node, NODES);
    *ranges = sorter.range_count;
    uint64_t sum = 0;
    for (int i = 0; i < NODES; i++)
        sum += degree[i];
    assert_int_equal(sum, heard->count); /* the degrees count exactly the edges of the rows */
}

static int entry_order(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    if (x->neighbor != y->neighbor)
        return x->neighbor < y->neighbor ? -1 : 1;
    if (x->type != y->type)
        return x->type < y->type ? -1 : 1;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    /* the weight is the number of the edge in the input */
    return x->weight < y->weight ? -1 : x->weight > y->weight;
}

static void add_reference(struct heard *out, uint32_t node, uint32_t neighbor, size_t i)
{
    out->entry[out->count++] = (struct entry){.node = node,
                                              .neighbor = neighbor,
                                              .weight = edges[i].weight,
                                              .time = edges[i].time,
                                              .type = edges[i].edge_type};
}

static void compare_with_reference(const struct heard *heard, size_t count, bool both_ways)
{
    static struct heard reference;
    memset(&reference, 0, sizeof reference);
    for (size_t i = 0; i < count; i++) {
        add_reference(&reference, edges[i].target, edges[i].source, i);
        if (both_ways && edges[i].source != edges[i].target)
            add_reference(&reference, edges[i].source, edges[i].target, i);
    }
    qsort(reference.entry, reference.count, sizeof *reference.entry, entry_order);
    assert_int_equal(heard->count, reference.count);
    for (uint64_t i = 0; i < reference.count; i++)
        assert_int_equal(entry_order(&heard->entry[i], &reference.entry[i]), 0);
}

static void rows_are_those_of_the_reference_whatever_the_memory(void **state)
{
    (void)state;
    static struct heard first, second;
    uint64_t one = 0, many = 0;
    spool_edges(EDGES, true, &all);
    sort_at(1U << 20, true, EDGES_KEEP, &first, &one);
    assert_int_equal(one, 1);
    compare_with_reference(&first, EDGES, true);
    for (uint64_t bytes = 32000; bytes < 120000; bytes += 7000) {
        sort_at(bytes, true, EDGES_KEEP, &second, &many);
        assert_int_equal(first.count, second.count);
        for (uint64_t i = 0; i < first.count; i++)
            assert_int_equal(entry_order(&first.entry[i], &second.entry[i]), 0);
    }
    sort_at(32000, true, EDGES_KEEP, &second, &many);
    assert_true(many > 2);
}

static void plain_edges_are_sorted_as_well(void **state)
{
    (void)state;
    static struct heard heard;
    uint64_t ranges = 0;
    spool_edges(EDGES, false, &bare);
    sort_at(1U << 20, false, EDGES_KEEP, &heard, &ranges);
    compare_with_reference(&heard, EDGES, false);
}

/* Threads divide the nodes, and every row has its edges in the order of the spool, also with
 * several ranges, and with more threads than a range has nodes. */
static void sort_by_threads(bool both_ways, const struct edge_widths *width, uint64_t least)
{
    static struct heard heard;
    struct error err = {0};
    uint64_t ranges = 0;
    spool_edges(EDGES, both_ways, width);
    for (int threads = 1; threads < 16; threads += threads < 4 ? 1 : 11) {
        assert_ok(thread_pool_new(threads, &pool, &err), &err);
        sort_at(1U << 20, both_ways, EDGES_KEEP, &heard, &ranges);
        compare_with_reference(&heard, EDGES, both_ways);
        sort_at(least, both_ways, EDGES_KEEP, &heard, &ranges);
        compare_with_reference(&heard, EDGES, both_ways);
        assert_true(ranges > 1);
        thread_pool_free(pool);
        pool = NULL;
    }
}

static void threads_sort_plain_edges_one_way(void **state)
{
    (void)state;
    sort_by_threads(false, &bare, 16000);
}

static void threads_sort_plain_edges_both_ways(void **state)
{
    (void)state;
    sort_by_threads(true, &bare, 24000);
}

static void threads_sort_edges_with_columns(void **state)
{
    (void)state;
    sort_by_threads(true, &all, 40000);
}

static void a_failure_of_one_thread_is_that_of_the_sort(void **state)
{
    (void)state;
    struct error err = {0};
    spool_edges(EDGES, false, &bare);
    assert_ok(thread_pool_new(3, &pool, &err), &err);
    struct edge_sorter sorter = {.spool = &spool,
                                 .node_count = NODES,
                                 .memory_bytes = 1U << 20,
                                 .pool = pool,
                                 .in_degree = in_degree};
    assert_ok(edge_spool_finish(&spool, &err), &err);
    assert_int_equal(truncate(spool.file.path, 5), 0);
    assert_fails(edge_sorter_run(&sorter, &err), ERROR_IO, "ends at byte 5, expected 16000 bytes",
                 &err);
    thread_pool_free(pool);
    pool = NULL;
}

static void no_edges_are_rows_without_entries(void **state)
{
    (void)state;
    static struct heard heard;
    uint64_t ranges = 0;
    spool_edges(0, false, &bare);
    sort_at(1U << 20, false, EDGES_REMOVE, &heard, &ranges);
    assert_int_equal(heard.count, 0);
}

static void a_node_that_does_not_fit_is_named(void **state)
{
    (void)state;
    struct error err = {0};
    spool_edges(EDGES, false, &bare);
    struct edge_sorter sorter = {
        .spool = &spool, .node_count = NODES, .memory_bytes = 1000, .in_degree = in_degree};
    char expected[64];
    (void)snprintf(expected, sizeof expected, "sorting the %u edges that end in node 0 takes",
                   in_degree[0]);
    assert_fails(edge_sorter_run(&sorter, &err), ERROR_NO_MEMORY, expected, &err);
    assert_non_null(strstr(err.message, "the memory budget leaves 1000"));
}

static void a_spool_that_was_cut_is_an_error(void **state)
{
    (void)state;
    struct error err = {0};
    spool_edges(EDGES, false, &bare);
    struct edge_sorter sorter = {
        .spool = &spool, .node_count = NODES, .memory_bytes = 1U << 20, .in_degree = in_degree};
    assert_ok(edge_spool_finish(&spool, &err), &err);
    assert_ok(file_replace(spool.file.path, "short", 5, false, &err), &err);
    const int kept = spool.file.fd;
    FILE *cut = fopen(spool.file.path, "r");
    assert_non_null(cut);
    spool.file.fd = fileno(cut);
    assert_fails(edge_sorter_run(&sorter, &err), ERROR_IO, "ends at byte 5, expected 16000 bytes",
                 &err);
    spool.file.fd = kept;
    assert_int_equal(fclose(cut), 0);
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    struct error err = {0};
    spool_edges(100, false, &bare);
    struct edge_sorter sorter = {
        .spool = &spool, .node_count = NODES, .memory_bytes = 1U << 20, .in_degree = in_degree};
    enum error_code rc = ERROR_NO_MEMORY;
    for (long n = 0; rc != ERROR_NONE; n++) {
        const long before = memory_live_blocks();
        memory_fail_after(n);
        rc = edge_sorter_run(&sorter, &err);
        memory_fail_after(-1);
        assert_true(rc == ERROR_NONE || rc == ERROR_NO_MEMORY);
        assert_int_equal(memory_live_blocks(), before);
        assert_true(n < 10);
    }
}

/* ---- chunks --------------------------------------------------------------------------------- */

/* Writes rows of these lengths with a writer whose limits are 10 edges and 3 nodes. */
static void chunks_end_where_the_format_says(void **state)
{
    (void)state;
    static const uint32_t rows[] = {4, 6, 1, 0, 0, 0, 0, 12, 2, 8, 1};
    static const uint32_t nodes_of[] = {2, 3, 2, 1, 2, 1};
    enum { ROWS = sizeof rows / sizeof *rows, CHUNKS = sizeof nodes_of / sizeof *nodes_of };
    struct error err = {0};
    struct store *store = NULL;
    struct edge_chunk_writer writer = {0};
    uint64_t order[12];
    uint32_t neighbor[12], node = 0;
    const struct edge_chunk_needs needs = {.node_count = ROWS, .edge_count = 34, .largest_row = 12};
    for (uint32_t i = 0; i < 12; i++) {
        neighbor[i] = i;
        order[i] = (uint64_t)i << 32 | i;
    }
    assert_ok(store_open(dir.path, 0, &store, &err), &err);
    assert_ok(edge_chunk_writer_open(&writer, store, "d", &needs, &err), &err);
    writer.edges_max = 10;
    writer.nodes_max = 3;
    for (int i = 0; i < ROWS; i++) {
        const struct edge_row row = {.count = rows[i], .neighbor = neighbor};
        assert_ok(edge_chunk_writer_add(&writer, &row, order, rows[i], &err), &err);
    }
    assert_ok(edge_chunk_writer_finish(&writer, &err), &err);
    assert_int_equal(writer.chunk_count, CHUNKS);
    for (int c = 0; c < CHUNKS; c++) {
        struct edge_chunk chunk;
        assert_ok(edge_chunk_get(store, "d", c, &chunk, &err), &err);
        assert_int_equal(chunk.first_node, node);
        assert_int_equal(chunk.node_count, nodes_of[c]);
        for (uint32_t i = 0; i < chunk.node_count; i++, node++)
            assert_int_equal(chunk.row_start[i + 1] - chunk.row_start[i], rows[node]);
        store_release_record(&chunk.view);
    }
    assert_int_equal(node, ROWS);
    edge_chunk_writer_release(&writer);
    store_close(store);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_spool, close_spool)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(rows_are_those_of_the_reference_whatever_the_memory),
        TEST(plain_edges_are_sorted_as_well),
        TEST(threads_sort_plain_edges_one_way),
        TEST(threads_sort_plain_edges_both_ways),
        TEST(threads_sort_edges_with_columns),
        TEST(a_failure_of_one_thread_is_that_of_the_sort),
        TEST(no_edges_are_rows_without_entries),
        TEST(a_node_that_does_not_fit_is_named),
        TEST(a_spool_that_was_cut_is_an_error),
        TEST(every_failed_allocation_is_reported),
        TEST(chunks_end_where_the_format_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
