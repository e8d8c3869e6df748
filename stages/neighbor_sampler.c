#include "stages/neighbor_sampler.h"

#include "common/base/memory.h"
#include "common/base/random.h"
#include "stages/distinct_positions.h"
#include "stages/growing_array.h"
#include "stages/known_nodes.h"

#include <inttypes.h>

/*
 * Rows are written into `neighbor` three times: as positions in the row, as node ids, as local indices,
 * each pass over the same few kilobytes. A block ends early at BLOCK_EDGES so that what was
 * prefetched is still in cache when it is used.
 */
enum { BLOCK_ROWS = 64, BLOCK_EDGES = 2048, HINT_BITS = 12 };

struct sampled_row {
    const struct topology_part *part;
    uint32_t index;  /* in the part */
    uint32_t length; /* of the whole row */
    uint32_t count;  /* neighbours kept */
    uint64_t start;
};

struct neighbor_sampler {
    const struct topology *topology;
    bool has_self_loops;
    struct array_budget budget;
    struct known_nodes known;
    struct growing_array node, row_start, neighbor, degree;
    struct growing_array bits; /* scratch of distinct_positions_draw(), as pairs */
    uint32_t edge_count;
    uint32_t hop_end[HOP_COUNT_MAX + 1];
    unsigned hint_shift;
    uint32_t part_hint[(1 << HINT_BITS) + 1]; /* the part of node i << hint_shift */
    struct sampled_row row[BLOCK_ROWS];
};

/* A part may be found from the hint in a step or none: much cheaper than halving the book per node. */
static void make_hints(struct neighbor_sampler *s)
{
    const uint32_t last = s->topology->node_count ? s->topology->node_count - 1 : 0;
    while (last >> s->hint_shift >> HINT_BITS)
        s->hint_shift++;
    for (uint32_t i = 0; i <= last >> s->hint_shift; i++)
        s->part_hint[i] = (uint32_t)topology_part_of(s->topology, i << s->hint_shift);
}

enum error_code neighbor_sampler_new(const struct neighbor_sampler_config *config,
                                     struct neighbor_sampler **out, struct error *err)
{
    struct neighbor_sampler *sampler = NULL;
    *out = NULL;
    enum error_code rc = memory_new(&sampler, 1, "the neighbour sampler", err);
    if (rc != ERROR_NONE)
        return rc;
    sampler->topology = config->topology;
    sampler->has_self_loops = config->has_self_loops;
    sampler->budget.limit = config->budget_bytes;
    rc = known_nodes_init(&sampler->known, &sampler->budget, config->topology->node_count, err);
    if (rc != ERROR_NONE) {
        neighbor_sampler_free(sampler);
        return rc;
    }
    make_hints(sampler);
    *out = sampler;
    return ERROR_NONE;
}

void neighbor_sampler_free(struct neighbor_sampler *sampler)
{
    if (!sampler)
        return;
    known_nodes_release(&sampler->known, &sampler->budget);
    growing_array_release(&sampler->node, &sampler->budget);
    growing_array_release(&sampler->row_start, &sampler->budget);
    growing_array_release(&sampler->neighbor, &sampler->budget);
    growing_array_release(&sampler->degree, &sampler->budget);
    growing_array_release(&sampler->bits, &sampler->budget);
    memory_free(sampler);
}

uint64_t neighbor_sampler_bytes(const struct neighbor_sampler *sampler)
{
    return sampler->budget.used + sizeof *sampler;
}

static enum error_code add_seeds(struct neighbor_sampler *s, const struct neighbor_request *request,
                                 struct error *err)
{
    enum error_code rc = growing_array_reserve(&s->node, &s->budget, request->seed_count, 0,
                                               "the nodes of a mini-batch", err);
    if (rc != ERROR_NONE)
        return rc;
    for (uint32_t i = 0; i < request->seed_count; i++) {
        const uint32_t node = request->seed_node[i];
        if (node >= s->topology->node_count)
            return error_set(err, ERROR_CORRUPT,
                             "seed %" PRIu32 " is node %" PRIu32 ", expected below %" PRIu32, i,
                             node, s->topology->node_count);
        if (known_nodes_has(&s->known, node))
            return error_set(err, ERROR_CORRUPT,
                             "seed %" PRIu32 " is node %" PRIu32 ", which is seed %" PRIu32
                             " already, expected each node once",
                             i, node, known_nodes_local(&s->known, node));
        s->node.data[i] = node;
        known_nodes_add(&s->known, node);
    }
    return ERROR_NONE;
}

static inline void locate_row(const struct neighbor_sampler *s, uint32_t node,
                              struct sampled_row *row)
{
    uint32_t part = s->part_hint[node >> s->hint_shift];
    while (s->topology->book[part + 1] <= node)
        part++;
    row->part = &s->topology->part[part];
    row->index = node - s->topology->book[part];
}

static inline void prefetch_row_start(const struct sampled_row *row)
{
    const uint32_t mask = (1U << TOPOLOGY_CHUNK_SHIFT) - 1;
    __builtin_prefetch(
        &row->part->row_start_chunk[row->index >> TOPOLOGY_CHUNK_SHIFT][row->index & mask]);
}

static enum error_code bad_row(const struct sampled_row *row, uint64_t end, struct error *err)
{
    return error_set(err, ERROR_CORRUPT,
                     "topology: the row of node %" PRIu64 " is %" PRIu64 " to %" PRIu64
                     ", expected ascending, at most %" PRIu64 ", and below 2^32 long",
                     (uint64_t)row->part->first_node + row->index, row->start, end,
                     row->part->edge_count);
}

static inline enum error_code read_row(struct sampled_row *row, struct error *err)
{
    row->start = topology_row_start(row->part, row->index);
    const uint64_t end = topology_row_start(row->part, row->index + 1);
    if (end < row->start || end > row->part->edge_count || end - row->start > UINT32_MAX)
        return bad_row(row, end, err);
    row->length = (uint32_t)(end - row->start);
    return ERROR_NONE;
}

/* Reads the rows of the next nodes: as many as make a block. */
static enum error_code read_block(struct neighbor_sampler *s, uint32_t first, uint32_t end,
                                  int64_t fanout, uint32_t *count, struct error *err)
{
    uint32_t found = end - first < BLOCK_ROWS ? end - first : BLOCK_ROWS;
    uint64_t edges = 0;
    for (uint32_t i = 0; i < found; i++) {
        locate_row(s, s->node.data[first + i], &s->row[i]);
        prefetch_row_start(&s->row[i]);
    }
    for (uint32_t i = 0; i < found; i++) {
        struct sampled_row *row = &s->row[i];
        const enum error_code rc = read_row(row, err);
        if (rc != ERROR_NONE)
            return rc;
        row->count = fanout == FANOUT_ALL || fanout >= row->length ? row->length : (uint32_t)fanout;
        edges += row->count;
        if (edges >= BLOCK_EDGES)
            found = i + 1;
    }
    *count = found;
    return ERROR_NONE;
}

/* Room for what the rows of a block can add. */
static enum error_code reserve_block(struct neighbor_sampler *s, uint32_t count, struct error *err)
{
    uint64_t edges = s->edge_count;
    size_t words = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct sampled_row *row = &s->row[i];
        const size_t wanted =
            row->count < row->length ? distinct_positions_scratch(row->length, row->count) : 0;
        edges += row->count;
        words = wanted > words ? wanted : words;
    }
    if (edges > UINT32_MAX)
        return error_set(err, ERROR_INVALID,
                         "the mini-batch has over %" PRIu32
                         " edges; expected a smaller batch_size or lower fan-outs",
                         UINT32_MAX);
    enum error_code rc = growing_array_reserve(&s->neighbor, &s->budget, edges, s->edge_count,
                                               "the edges of a mini-batch", err);
    if (rc != ERROR_NONE)
        return rc;
    /* One more than can be known: relabel() writes a node before it knows whether it is new. */
    const uint64_t added = edges - s->edge_count,
                   unknown = s->topology->node_count - s->known.count;
    const size_t nodes = (size_t)s->known.count + (size_t)(added < unknown ? added : unknown) + 1;
    rc = growing_array_reserve(&s->node, &s->budget, nodes, s->known.count,
                               "the nodes of a mini-batch", err);
    if (rc != ERROR_NONE)
        return rc;
    return growing_array_reserve(&s->bits, &s->budget, 2 * words, 0, "the positions of a long row",
                                 err);
}

/* Writes the kept positions of each row where its neighbours will stand. */
static void choose_positions(struct neighbor_sampler *s, uint32_t first, uint32_t count,
                             const struct random_stream *stream)
{
    uint32_t edge = s->edge_count;
    for (uint32_t i = 0; i < count; i++) {
        const struct sampled_row *row = &s->row[i];
        uint32_t *position = s->neighbor.data + edge;
        if (row->count < row->length)
            distinct_positions_draw(stream, s->node.data[first + i], row->length, row->count,
                                    (uint64_t *)(void *)s->bits.data, position);
        else
            for (uint32_t k = 0; k < row->count; k++)
                position[k] = k;
        edge += row->count;
        s->row_start.data[first + i + 1] = edge;
    }
}

/* A pass of its own: between draws, a prefetch that waits for a place in the queue of misses would hold
 * up the arithmetic behind it. */
static void prefetch_neighbors(const struct neighbor_sampler *s, uint32_t count)
{
    const uint32_t *position = s->neighbor.data + s->edge_count;
    for (uint32_t i = 0; i < count; i++) {
        const struct sampled_row *row = &s->row[i];
        for (uint32_t k = 0; k < row->count; k++)
            __builtin_prefetch(topology_neighbor(row->part, row->start + position[k]));
        position += row->count;
    }
}

static enum error_code bad_neighbor(const struct neighbor_sampler *s, uint32_t first,
                                    uint32_t count, struct error *err)
{
    for (uint32_t i = first; i < first + count; i++)
        for (uint32_t e = s->row_start.data[i]; e < s->row_start.data[i + 1]; e++)
            if (s->neighbor.data[e] >= s->topology->node_count)
                return error_set(err, ERROR_CORRUPT,
                                 "topology: a neighbour of node %" PRIu32 " is %" PRIu32
                                 ", expected below %" PRIu32,
                                 s->node.data[i], s->neighbor.data[e], s->topology->node_count);
    return ERROR_NONE;
}

/* Positions become node ids; their places in the table of known nodes are prefetched. */
static enum error_code fetch_neighbors(struct neighbor_sampler *s, uint32_t first, uint32_t count,
                                       struct error *err)
{
    const uint32_t node_count = s->topology->node_count;
    uint32_t *neighbor = s->neighbor.data + s->edge_count;
    unsigned outside = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct sampled_row *row = &s->row[i];
        for (uint32_t k = 0; k < row->count; k++) {
            neighbor[k] = *topology_neighbor(row->part, row->start + neighbor[k]);
            outside |= neighbor[k] >= node_count;
            __builtin_prefetch(&s->known.entry.data[neighbor[k]], 1);
        }
        neighbor += row->count;
    }
    return outside ? bad_neighbor(s, first, count, err) : ERROR_NONE;
}

/* Node ids become local indices; unknown nodes get the next one. Without a branch on "is it new",
 * which no predictor guesses. */
static void relabel(struct neighbor_sampler *s, uint32_t edge_end)
{
    uint32_t *restrict entry = s->known.entry.data;
    uint32_t *restrict node = s->node.data;
    uint32_t *restrict neighbor = s->neighbor.data;
    const uint32_t base = s->known.base;
    uint32_t node_count = s->known.count;
    for (uint32_t e = s->edge_count; e < edge_end; e++) {
        const uint32_t id = neighbor[e];
        const uint32_t found = entry[id];
        const bool is_new = found < base;
        const uint32_t value = is_new ? base + node_count : found;
        entry[id] = value;
        node[node_count] = id;
        neighbor[e] = value - base;
        node_count += is_new;
    }
    s->known.count = node_count;
    s->edge_count = edge_end;
}

static enum error_code expand_hop(struct neighbor_sampler *s, uint32_t first, uint32_t end,
                                  int64_t fanout, const struct random_stream *stream,
                                  struct error *err)
{
    enum error_code rc = growing_array_reserve(&s->row_start, &s->budget, (size_t)end + 1,
                                               (size_t)first + 1, "the rows of a mini-batch", err);
    if (rc != ERROR_NONE)
        return rc;
    for (uint32_t at = first, count = 0; at < end; at += count) {
        rc = read_block(s, at, end, fanout, &count, err);
        if (rc == ERROR_NONE)
            rc = reserve_block(s, count, err);
        if (rc != ERROR_NONE)
            return rc;
        choose_positions(s, at, count, stream);
        prefetch_neighbors(s, count);
        rc = fetch_neighbors(s, at, count, err);
        if (rc != ERROR_NONE)
            return rc;
        relabel(s, s->row_start.data[at + count]);
    }
    return ERROR_NONE;
}

/* Edges of the row that start at its own node. Rows are ascending, so they stand side by side. */
static uint32_t count_self_loops(const struct sampled_row *row, uint32_t node)
{
    uint32_t low = 0, high = row->length;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (*topology_neighbor(row->part, row->start + middle) < node)
            low = middle + 1;
        else
            high = middle;
    }
    uint32_t end = low;
    while (end < row->length && *topology_neighbor(row->part, row->start + end) == node)
        end++;
    return end - low;
}

static enum error_code look_up_degrees(struct neighbor_sampler *s, struct error *err)
{
    enum error_code rc = growing_array_reserve(&s->degree, &s->budget, s->known.count, 0,
                                               "the degrees of a mini-batch", err);
    if (rc != ERROR_NONE)
        return rc;
    for (uint32_t at = 0, count = 0; at < s->known.count; at += count) {
        count = s->known.count - at < BLOCK_ROWS ? s->known.count - at : BLOCK_ROWS;
        for (uint32_t i = 0; i < count; i++) {
            locate_row(s, s->node.data[at + i], &s->row[i]);
            prefetch_row_start(&s->row[i]);
        }
        for (uint32_t i = 0; i < count; i++) {
            rc = read_row(&s->row[i], err);
            if (rc != ERROR_NONE)
                return rc;
            s->degree.data[at + i] =
                s->row[i].length -
                (s->has_self_loops ? count_self_loops(&s->row[i], s->node.data[at + i]) : 0);
        }
    }
    return ERROR_NONE;
}

static enum error_code expand_seeds(struct neighbor_sampler *s,
                                    const struct neighbor_request *request, struct error *err)
{
    uint32_t first = 0;
    enum error_code rc =
        growing_array_reserve(&s->row_start, &s->budget, 1, 0, "the rows of a mini-batch", err);
    if (rc != ERROR_NONE)
        return rc;
    s->row_start.data[0] = 0;
    for (int hop = 0; hop < request->hop_count; hop++) {
        const uint32_t end = s->known.count;
        const struct random_stream stream = random_stream_of(
            request->seed, RANDOM_NEIGHBOR, request->round, (uint32_t)hop, request->slot);
        s->hop_end[hop] = end;
        rc = expand_hop(s, first, end, request->fanout[hop], &stream, err);
        if (rc != ERROR_NONE)
            return error_context(err, rc, "hop %d", hop + 1);
        first = end;
    }
    s->hop_end[request->hop_count] = s->known.count;
    return ERROR_NONE;
}

enum error_code neighbor_sampler_draw(struct neighbor_sampler *sampler,
                                      const struct neighbor_request *request,
                                      struct mini_batch *out, struct error *err)
{
    must(request->hop_count >= 0 && request->hop_count <= HOP_COUNT_MAX);
    must(request->seed_count >= 1 && request->slot < 65536);
    *out = (struct mini_batch){0};
    known_nodes_forget(&sampler->known);
    sampler->edge_count = 0;
    enum error_code rc = add_seeds(sampler, request, err);
    if (rc == ERROR_NONE)
        rc = expand_seeds(sampler, request, err);
    if (rc == ERROR_NONE && request->wants_degree)
        rc = look_up_degrees(sampler, err);
    if (rc != ERROR_NONE)
        return rc;
    *out = (struct mini_batch){
        .hop_count = request->hop_count,
        .seed_count = request->seed_count,
        .node_count = sampler->known.count,
        .row_count = request->hop_count ? sampler->hop_end[request->hop_count - 1] : 0,
        .edge_count = sampler->edge_count,
        .hop_end = sampler->hop_end,
        .node = sampler->node.data,
        .row_start = sampler->row_start.data,
        .neighbor = sampler->neighbor.data,
        .degree = request->wants_degree ? sampler->degree.data : NULL,
    };
    return ERROR_NONE;
}
