/*
 * bench_sampling - nanoseconds for each sampled edge, compared with the memory accesses alone.
 *
 *     bench_sampling [nodes [mean-degree [batches [folder]]]]
 *
 * It prints lines `name value unit ratio`, for one thread, with the best of many batches of 1,024
 * seeds with fan-outs 15, 10, 5, all different. The ways alternate batch by batch, so that a busy
 * machine affects all of them alike:
 *
 *   sampling_reads     the row starts and adjacency entries of the batch, nothing else, prefetched
 *                      in blocks
 *   sampling_floor     the same, and one access for each edge to a table of all nodes, prefetched
 *                      as usual: the least that a sampler without duplicates must touch
 *   sampling_floor_l2  the same with prefetches into the second-level cache, whose queue of misses
 *                      is twice as deep: the least that was found, without a draw or a comparison
 *   sampling           neighbor_sampler_draw(): draws, removes duplicates, renumbers
 *   sampling_stored    the same from a sealed topology file through store/topology/topology.h,
 *                      copied to memory as graphmill-sample does if its --memory has room
 *   sampling_delta     the same with each 50th row in a delta over another file
 *                      (store/topology/topology_delta.h)
 *   sampling_mapped    the same without the copy: from the pages of the file
 *
 * The file is written to `folder` (default: bench_sampling.scratch), which is removed. Ratios are
 * to sampling_floor. The accesses of a batch are measured only after another batch was drawn, so
 * they are no warmer in the cache than they were for the sampler.
 */
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/files/file.h"
#include "common/numbers/cpu_kernel.h"
#include "stages/sampling/rows/distinct_positions.h"
#include "stages/sampling/rows/neighbor_sampler.h"
#include "store/records/partition/partition_delta.h"

#include "tests/bench/power_law_graph.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEED_COUNT = 1024, HOPS = 3, BLOCK_ROWS = 64, WARM_UP = 2 };

static const int64_t fanout[HOPS] = {15, 10, 5};

/* The memory accesses of one batch. */
struct trace {
    uint32_t row_count;
    uint64_t edge_count;
    uint32_t *node;      /* [row_count] */
    uint32_t *row_start; /* [row_count + 1], into position */
    uint64_t *position;  /* [edge_count], of the whole adjacency */
    size_t row_capacity, edge_capacity;
};

static void reserve(struct trace *trace, const struct mini_batch *batch)
{
    if (batch->row_count > trace->row_capacity || batch->edge_count > trace->edge_capacity) {
        trace->row_capacity = (size_t)batch->row_count * 2;
        trace->edge_capacity = (size_t)batch->edge_count * 2;
        trace->node = memory_resize(trace->node, trace->row_capacity, sizeof(uint32_t));
        trace->row_start =
            memory_resize(trace->row_start, trace->row_capacity + 1, sizeof(uint32_t));
        trace->position = memory_resize(trace->position, trace->edge_capacity, sizeof(uint64_t));
        must(trace->node && trace->row_start && trace->position);
    }
    trace->row_count = batch->row_count;
    trace->edge_count = batch->edge_count;
    memcpy(trace->node, batch->node, (size_t)batch->row_count * sizeof(uint32_t));
    memcpy(trace->row_start, batch->row_start, ((size_t)batch->row_count + 1) * sizeof(uint32_t));
}

/* Records the positions of a batch. It draws them again, because a batch does not contain them. */
static void trace_record(struct trace *trace, const struct power_law_graph *graph,
                         const struct mini_batch *batch, uint32_t round)
{
    static uint64_t scratch[1 << 20];
    static uint32_t chosen[16];
    reserve(trace, batch);
    for (uint32_t hop = 0, i = 0; hop < HOPS; hop++) {
        const struct random_stream stream = random_stream_of(1, RANDOM_NEIGHBOR, round, hop, 0);
        for (; i < batch->hop_end[hop]; i++) {
            const uint64_t start = graph->row_start[batch->node[i]];
            const uint32_t length = (uint32_t)(graph->row_start[batch->node[i] + 1] - start);
            const uint32_t count = batch->row_start[i + 1] - batch->row_start[i];
            must(length / 64 < sizeof scratch / sizeof *scratch);
            if (count < length)
                distinct_positions_draw(&stream, batch->node[i], length, count, scratch, chosen);
            for (uint32_t k = 0; k < count; k++)
                trace->position[batch->row_start[i] + k] = start + (count < length ? chosen[k] : k);
        }
    }
}

/* The level of a prefetch must be a constant. */
CPU_INLINE void prefetch(const void *address, int level)
{
    if (level == 1)
        __builtin_prefetch(address, 0, 3);
    else
        __builtin_prefetch(address, 0, 2);
}

/* Makes the plain accesses, in blocks like the sampler. The sum keeps the compiler from removing
 * them. `table` is NULL for the reads alone. */
CPU_INLINE uint64_t touch_at(const struct trace *trace, const struct power_law_graph *graph,
                             uint32_t *table, uint32_t mark, const int level)
{
    uint64_t sum = 0;
    for (uint32_t at = 0; at < trace->row_count; at += BLOCK_ROWS) {
        const uint32_t end =
            trace->row_count - at < BLOCK_ROWS ? trace->row_count : at + BLOCK_ROWS;
        const uint32_t first = trace->row_start[at], last = trace->row_start[end];
        for (uint32_t i = at; i < end; i++) {
            prefetch(&graph->row_start[trace->node[i]], level);
            prefetch(&graph->row_start[trace->node[i] + 1], level);
        }
        for (uint32_t i = at; i < end; i++)
            sum += graph->row_start[trace->node[i] + 1] - graph->row_start[trace->node[i]];
        for (uint32_t e = first; e < last; e++)
            prefetch(&graph->neighbor[trace->position[e]], level);
        if (!table) {
            for (uint32_t e = first; e < last; e++)
                sum += graph->neighbor[trace->position[e]];
            continue;
        }
        for (uint32_t e = first; e < last; e++)
            prefetch(&table[graph->neighbor[trace->position[e]]], level);
        for (uint32_t e = first; e < last; e++) {
            uint32_t *entry = &table[graph->neighbor[trace->position[e]]];
            sum += *entry;
            *entry = mark;
        }
    }
    return sum;
}

static uint64_t touch(const struct trace *trace, const struct power_law_graph *graph,
                      uint32_t *table, uint32_t mark)
{
    return touch_at(trace, graph, table, mark, 2);
}

static uint64_t touch_l1(const struct trace *trace, const struct power_law_graph *graph,
                         uint32_t *table, uint32_t mark)
{
    return touch_at(trace, graph, table, mark, 1);
}

struct times {
    double reads, floor, floor_l2, ours, stored, delta, mapped; /* least times */
    uint64_t sum; /* printed, so that no access is removed */
};

static void stop_on(enum error_code rc, const struct error *err)
{
    if (rc == ERROR_NONE)
        return;
    (void)fprintf(stderr, "bench_sampling: %s\n", err->message);
    exit(error_exit_status(rc));
}

/* The graph in a sealed file that is opened twice, and as a base and a delta; each with a
 * sampler. */
struct stored_graph {
    struct store *store;
    struct topology copied, merged, mapped;
    struct neighbor_sampler *from_copied, *from_merged, *from_mapped;
};

/* each row whose number is a multiple is in the delta, and empty in the base */
enum { DELTA_STEP = 50 };

/* Copies the rows that are in the delta, or the other rows, to `to`. Returns the number of
 * edges. */
static uint64_t take_rows(const struct power_law_graph *graph, bool of_delta, uint64_t *start,
                          uint32_t *to)
{
    uint64_t edges = 0, rows = 0;
    for (uint32_t node = 0; node < graph->part.node_count; node++) {
        const bool is_of_delta = node % DELTA_STEP == 0;
        const uint64_t from = graph->row_start[node], end = graph->row_start[node + 1];
        if (of_delta && !is_of_delta)
            continue;
        start[rows++] = edges;
        for (uint64_t e = from; is_of_delta == of_delta && e < end; e++)
            to[edges++] = graph->neighbor[e];
    }
    start[rows] = edges;
    return edges;
}

static void write_delta(struct store *store, const struct power_law_graph *graph, const char *id)
{
    const uint32_t node_count = graph->part.node_count, none[1] = {0};
    const uint32_t rows = (node_count + DELTA_STEP - 1) / DELTA_STEP;
    const struct partition_delta delta = {
        .base = "base", .part_count = 1, .base_book = graph->book, .added = none};
    uint64_t *start = memory_map(((size_t)node_count + 1) * sizeof *start);
    uint32_t *to = memory_map((size_t)graph->part.edge_count * sizeof *to);
    uint32_t *row_node = memory_map(rows * sizeof *row_node);
    struct error err = {0};
    must(start && to && row_node);
    const struct topology_arrays base = {.node_count = node_count,
                                         .edge_count = take_rows(graph, false, start, to),
                                         .row_start = start,
                                         .neighbor = to};
    stop_on(topology_write(store, delta.base, 0, &base, &err), &err);
    for (uint32_t i = 0; i < rows; i++)
        row_node[i] = i * DELTA_STEP;
    const struct topology_held held = {.node_count = node_count,
                                       .own_edge_count = graph->part.edge_count,
                                       .row_count = rows,
                                       .edge_count = take_rows(graph, true, start, to),
                                       .row_node = row_node,
                                       .row_start = start,
                                       .neighbor = to};
    const struct topology_other other = {
        .base = delta.base, .node_count = node_count, .relation = &held, .relation_count = 1};
    stop_on(topology_write_delta(store, id, 0, &other, &err), &err);
    stop_on(partition_delta_put(store, id, &delta, &err), &err);
    memory_unmap(row_node, rows * sizeof *row_node);
    memory_unmap(to, (size_t)graph->part.edge_count * sizeof *to);
    memory_unmap(start, ((size_t)node_count + 1) * sizeof *start);
}

static void open_delta(struct stored_graph *stored, const struct power_law_graph *graph)
{
    const struct partition_book book = {
        .id = "delta", .part_count = 1, .node_count = graph->part.node_count, .book = graph->book};
    const struct neighbor_sampler_config merged = {.topology = &stored->merged};
    struct error err = {0};
    write_delta(stored->store, graph, book.id);
    stop_on(topology_open(stored->store, &book, &stored->merged, &err), &err);
    stop_on(topology_open_parts(&stored->merged, NULL, &err), &err);
    stop_on(topology_copy(&stored->merged, false, NULL, &err), &err);
    stop_on(neighbor_sampler_new(&merged, &stored->from_merged, &err), &err);
}

static void stored_graph_make(struct stored_graph *stored, const struct power_law_graph *graph,
                              const char *folder)
{
    const struct partition_book book = {
        .id = "bench", .part_count = 1, .node_count = graph->part.node_count, .book = graph->book};
    const struct topology_arrays arrays = {.node_count = graph->part.node_count,
                                           .edge_count = graph->part.edge_count,
                                           .row_start = graph->row_start,
                                           .neighbor = graph->neighbor};
    const struct neighbor_sampler_config copied = {.topology = &stored->copied};
    const struct neighbor_sampler_config mapped = {.topology = &stored->mapped};
    struct error err = {0};
    stop_on(store_open(folder, 0, &stored->store, &err), &err);
    stop_on(topology_write(stored->store, book.id, 0, &arrays, &err), &err);
    stop_on(topology_open(stored->store, &book, &stored->copied, &err), &err);
    stop_on(topology_open_parts(&stored->copied, NULL, &err), &err);
    stop_on(topology_copy(&stored->copied, false, NULL, &err), &err);
    stop_on(topology_open(stored->store, &book, &stored->mapped, &err), &err);
    stop_on(topology_open_parts(&stored->mapped, NULL, &err), &err);
    stop_on(neighbor_sampler_new(&copied, &stored->from_copied, &err), &err);
    stop_on(neighbor_sampler_new(&mapped, &stored->from_mapped, &err), &err);
    open_delta(stored, graph);
}

static void stored_graph_release(struct stored_graph *stored, const char *folder)
{
    struct error err = {0};
    neighbor_sampler_free(stored->from_copied);
    neighbor_sampler_free(stored->from_merged);
    neighbor_sampler_free(stored->from_mapped);
    topology_close(&stored->copied);
    topology_close(&stored->merged);
    topology_close(&stored->mapped);
    store_close(stored->store);
    stop_on(file_remove_all(folder, &err), &err);
}

static void keep_least(double *least, double start, uint64_t edges)
{
    const double ns = (clock_seconds() - start) * 1e9 / (double)edges;
    if (*least <= 0 || ns < *least)
        *least = ns;
}

static void draw_batch(struct neighbor_sampler *sampler, uint32_t node_count, uint32_t round,
                       struct mini_batch *batch)
{
    static uint32_t seed_node[SEED_COUNT];
    const struct random_stream stream = random_stream_of(1, RANDOM_SHUFFLE, round, 0, 0);
    struct error err = {0};
    for (uint32_t i = 0; i < SEED_COUNT; i++)
        seed_node[i] = (uint32_t)random_permute(&stream, i, node_count);
    const struct neighbor_request request = {.seed = 1,
                                             .round = round,
                                             .hop_count = HOPS,
                                             .fanout = fanout,
                                             .seed_node = seed_node,
                                             .seed_count = SEED_COUNT};
    stop_on(neighbor_sampler_draw(sampler, &request, batch, &err), &err);
}

/* Draws another batch first, so that this one finds the caches as if all batches were drawn in this
 * way. */
static void measure_draw(struct neighbor_sampler *sampler, uint32_t node_count, uint32_t round,
                         double *least)
{
    struct mini_batch batch;
    draw_batch(sampler, node_count, round + 1, &batch);
    const double start = clock_seconds();
    draw_batch(sampler, node_count, round, &batch);
    if (round >= WARM_UP)
        keep_least(least, start, batch.edge_count);
}

/* Measures one batch of ours, then the accesses of the batch before. Between two of these the batch
 * is drawn again, so that the caches no longer have the trace. */
static void measure(struct neighbor_sampler *sampler, const struct power_law_graph *graph,
                    uint32_t *table, struct trace *trace, uint32_t round, struct times *times)
{
    struct mini_batch batch;
    measure_draw(sampler, graph->part.node_count, round, &times->ours);
    draw_batch(sampler, graph->part.node_count, round, &batch);
    if (round >= WARM_UP) {
        double start = clock_seconds();
        times->sum += touch(trace, graph, table, round);
        keep_least(&times->floor_l2, start, trace->edge_count);
        draw_batch(sampler, graph->part.node_count, round, &batch);
        start = clock_seconds();
        times->sum += touch(trace, graph, NULL, 0);
        keep_least(&times->reads, start, trace->edge_count);
        draw_batch(sampler, graph->part.node_count, round, &batch);
        start = clock_seconds();
        times->sum += touch_l1(trace, graph, table, round);
        keep_least(&times->floor, start, trace->edge_count);
    }
    trace_record(trace, graph, &batch, round);
}

static void print_line(const char *name, double value, double bound)
{
    printf("%s %.1f ns/edge %.2f\n", name, value, value / bound);
}

static void print_times(const struct times *times, const struct trace *trace)
{
    (void)fprintf(stderr, "last batch: %" PRIu32 " rows, %" PRIu64 " edges; checksum %" PRIu64 "\n",
                  trace->row_count, trace->edge_count, times->sum);
    print_line("sampling_reads", times->reads, times->floor);
    print_line("sampling_floor", times->floor, times->floor);
    print_line("sampling_floor_l2", times->floor_l2, times->floor);
    print_line("sampling", times->ours, times->floor);
    print_line("sampling_stored", times->stored, times->floor);
    print_line("sampling_delta", times->delta, times->floor);
    print_line("sampling_mapped", times->mapped, times->floor);
}

static double argument(int argc, char **argv, int index, double usual)
{
    return argc > index ? strtod(argv[index], NULL) : usual;
}

int main(int argc, char **argv)
{
    static struct power_law_graph graph;
    static struct stored_graph stored;
    static struct times times;
    const char *folder = argc > 4 ? argv[4] : "bench_sampling.scratch";
    struct trace trace = {0};
    struct neighbor_sampler *sampler = NULL;
    struct error err = {0};
    const double nodes = argument(argc, argv, 1, 2449029.0);
    const double batches = argument(argc, argv, 3, 20.0);
    if (!(nodes >= SEED_COUNT && nodes < 4e9 && batches >= 1 && batches <= 1e6)) {
        (void)fprintf(stderr, "usage: bench_sampling [nodes [mean-degree [batches [folder]]]]\n");
        return error_exit_status(ERROR_USAGE);
    }
    power_law_graph_make(&graph, (uint32_t)nodes, argument(argc, argv, 2, 50.5));
    const struct neighbor_sampler_config config = {.topology = &graph.topology};
    uint32_t *table = memory_map((size_t)nodes * sizeof *table);
    if (!table || neighbor_sampler_new(&config, &sampler, &err) != ERROR_NONE)
        return error_exit_status(ERROR_NO_MEMORY);
    stored_graph_make(&stored, &graph, folder);
    for (uint32_t round = 0; round < WARM_UP + (uint32_t)batches; round++) {
        measure(sampler, &graph, table, &trace, round, &times);
        measure_draw(stored.from_copied, (uint32_t)nodes, round, &times.stored);
        measure_draw(stored.from_merged, (uint32_t)nodes, round, &times.delta);
        measure_draw(stored.from_mapped, (uint32_t)nodes, round, &times.mapped);
    }
    print_times(&times, &trace);
    stored_graph_release(&stored, folder);
    neighbor_sampler_free(sampler);
    memory_unmap(table, (size_t)nodes * sizeof *table);
    memory_free(trace.node);
    memory_free(trace.row_start);
    memory_free(trace.position);
    power_law_graph_release(&graph);
    return 0;
}
