#include "stages/sampling/neighbor_sampler.h"

#include "common/base/cpu_kernel.h"
#include "common/base/memory.h"
#include "common/base/random.h"
#include "stages/sampling/batch_builder.h"
#include "stages/sampling/distinct_positions.h"
#include "stages/sampling/edge_gather.h"
#include "stages/sampling/edge_window.h"
#include "stages/sampling/growing_array.h"
#include "stages/sampling/known_nodes.h"
#include "store/topology/topology_ahead.h"

#include <inttypes.h>
#include <string.h>

enum { BLOCK_ROWS = 128, BLOCK_GROUPS = BLOCK_ROWS / DISTINCT_LANES, HINT_BITS = 12 };

struct sampled_row {
    const struct topology_part *part;
    uint32_t index;  /* in the part */
    uint32_t length; /* of the whole row */
    uint32_t count;  /* neighbours kept */
    uint64_t start;
};

/* Rows that are worked on together. */
struct row_block {
    uint32_t first, count; /* nodes of the batch */
    struct sampled_row row[BLOCK_ROWS];
};

struct neighbor_sampler {
    const struct topology *topology;
    bool has_self_loops;
    struct array_budget budget;
    struct batch_builder *builder; /* NULL until it is asked for */
    struct known_nodes known;
    struct growing_array node, row_start, neighbor, degree, weight_sum;
    edge_choice choose;                    /* the request's */
    const struct excluded_edges *excluded; /* of the hop's rows: those of seeds, or NULL */
    bool notes_places;                     /* of the edges, for their columns */
    struct edge_gather gather;
    struct growing_array bits; /* scratch of a choice, zero between two, as pairs */
    uint32_t hop_end[HOP_COUNT_MAX + 1];
    unsigned hint_shift;
    uint32_t part_hint[(1 << HINT_BITS) + 1]; /* the part of node i << hint_shift */
    struct row_block block[2]; /* one in hand, one whose row starts are on their way */
    uint32_t item[BLOCK_ROWS], length[BLOCK_ROWS]; /* of the rows that are drawn from */
    uint32_t position[BLOCK_GROUPS][DISTINCT_LANES_COUNT_MAX][DISTINCT_LANES]; /* and their draws */
    struct edge_window window;
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
    sampler->window.known = &sampler->known;
    make_hints(sampler);
    *out = sampler;
    return ERROR_NONE;
}

void neighbor_sampler_free(struct neighbor_sampler *sampler)
{
    if (!sampler)
        return;
    if (sampler->builder)
        batch_builder_release(sampler->builder);
    memory_free(sampler->builder);
    known_nodes_release(&sampler->known, &sampler->budget);
    growing_array_release(&sampler->node, &sampler->budget);
    growing_array_release(&sampler->row_start, &sampler->budget);
    growing_array_release(&sampler->neighbor, &sampler->budget);
    growing_array_release(&sampler->degree, &sampler->budget);
    growing_array_release(&sampler->weight_sum, &sampler->budget);
    edge_gather_release(&sampler->gather, &sampler->budget);
    growing_array_release(&sampler->bits, &sampler->budget);
    memory_free(sampler);
}

enum error_code neighbor_sampler_builder(struct neighbor_sampler *sampler,
                                         struct batch_builder **out, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    if (!sampler->builder) {
        rc = memory_new(&sampler->builder, 1, "the builder of mini-batches", err);
        if (rc == ERROR_NONE)
            batch_builder_init(sampler->builder, sampler->topology, &sampler->known,
                               &sampler->budget, sampler->has_self_loops);
    }
    *out = sampler->builder;
    return rc;
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

/* The end of a row is the start of the next, one time in eight on another cache line. Always inlined: gcc 12
 * takes a function that only prefetches for one without effects, and leaves out its calls. */
CPU_INLINE void prefetch_row_start(const struct sampled_row *row)
{
    const uint32_t mask = (1U << TOPOLOGY_CHUNK_SHIFT) - 1, end = row->index + 1;
    const uint64_t **chunk = row->part->row_start_chunk;
    __builtin_prefetch(&chunk[row->index >> TOPOLOGY_CHUNK_SHIFT][row->index & mask], 0, 2);
    __builtin_prefetch(&chunk[end >> TOPOLOGY_CHUNK_SHIFT][end & mask], 0, 2);
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

/* Says which nodes are the next block and asks for their row starts. */
static void locate_block(const struct neighbor_sampler *s, uint32_t first, uint32_t end,
                         struct row_block *block)
{
    block->first = first;
    block->count = end - first < BLOCK_ROWS ? end - first : BLOCK_ROWS;
    for (uint32_t i = 0; i < block->count; i++) {
        locate_row(s, s->node.data[first + i], &block->row[i]);
        prefetch_row_start(&block->row[i]);
    }
    for (uint32_t i = 0; s->topology->is_at_random && i < block->count; i++)
        topology_ask_row_start(block->row[i].part, block->row[i].index);
}

/* How many edges of the row of node `local` of the batch are left out. */
static inline uint32_t excluded_count(const struct neighbor_sampler *s, uint32_t local)
{
    return s->excluded ? s->excluded->start[local + 1] - s->excluded->start[local] : 0;
}

static enum error_code read_block(const struct neighbor_sampler *s, struct row_block *block,
                                  int64_t fanout, uint64_t *edges, struct error *err)
{
    *edges = 0;
    for (uint32_t i = 0; i < block->count; i++) {
        struct sampled_row *row = &block->row[i];
        const enum error_code rc = read_row(row, err);
        if (rc != ERROR_NONE)
            return rc;
        must(excluded_count(s, block->first + i) <= row->length);
        row->length -= excluded_count(s, block->first + i);
        row->count = fanout == FANOUT_ALL || fanout >= row->length ? row->length : (uint32_t)fanout;
        *edges += row->count;
    }
    for (uint32_t i = 0; s->topology->is_at_random && i < block->count; i++)
        topology_ask_neighbors(block->row[i].part, block->row[i].start, block->row[i].length);
    return ERROR_NONE;
}

/* Room for what the rows of a block can add. */
static enum error_code reserve_block(struct neighbor_sampler *s, uint64_t added, struct error *err)
{
    struct edge_window *window = &s->window;
    const uint64_t edges = window->pushed + added;
    if (edges > UINT32_MAX)
        return error_set(err, ERROR_INVALID,
                         "the mini-batch has over %" PRIu32
                         " edges; expected a smaller batch_size or lower fan-outs",
                         UINT32_MAX);
    enum error_code rc = growing_array_reserve(&s->neighbor, &s->budget, edges, window->fetched,
                                               "the edges of a mini-batch", err);
    if (rc == ERROR_NONE && s->notes_places)
        rc = edge_gather_reserve(&s->gather, &s->budget, edges, window->pushed, err);
    if (rc != ERROR_NONE)
        return rc;
    /* One more than can be known: the window writes a node before it knows whether it is new. */
    const uint64_t coming = edges - window->relabelled,
                   unknown = s->topology->node_count - s->known.count;
    const size_t nodes = (size_t)s->known.count + (size_t)(coming < unknown ? coming : unknown) + 1;
    rc = growing_array_reserve(&s->node, &s->budget, nodes, s->known.count,
                               "the nodes of a mini-batch", err);
    window->node = s->node.data;
    window->neighbor = s->neighbor.data;
    return rc;
}

/* Draws for all rows of the block that keep some of their neighbours, DISTINCT_LANES at a time. */
static void draw_block(struct neighbor_sampler *s, const struct row_block *block, uint32_t fanout,
                       const struct random_stream *stream)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < block->count; i++) {
        s->item[count] = s->node.data[block->first + i];
        s->length[count] = block->row[i].length;
        count += block->row[i].length > fanout;
    }
    for (uint32_t i = count; i % DISTINCT_LANES; i++)
        s->length[i] = fanout; /* lanes without a row */
    for (uint32_t i = 0; i < count; i += DISTINCT_LANES)
        distinct_positions_draw_lanes(stream, s->item + i, s->length + i, fanout,
                                      s->position[i / DISTINCT_LANES]);
}

static enum error_code bad_neighbor(const struct neighbor_sampler *s, struct error *err)
{
    const uint32_t edge = s->window.fetched;
    uint32_t row = 0;
    while (s->row_start.data[row + 1] <= edge)
        row++;
    return error_set(err, ERROR_CORRUPT,
                     "topology: a neighbour of node %" PRIu32 " is %" PRIu32
                     ", expected below %" PRIu32,
                     s->node.data[row], s->neighbor.data[edge], s->topology->node_count);
}

static enum error_code run_window(struct neighbor_sampler *s, int all, struct error *err)
{
    return edge_window_run(&s->window, all) == ERROR_NONE ? ERROR_NONE : bad_neighbor(s, err);
}

/* Where the edges of a row stand that are pushed next; `position` as below. */
static void note_places(const struct neighbor_sampler *s, const struct sampled_row *row,
                        const uint32_t *position, uint32_t stride)
{
    const uint64_t first = edge_place((int)(row->part - s->topology->part), row->start);
    uint64_t *place = edge_gather_places(&s->gather) + s->window.pushed;
    for (uint32_t k = 0; k < row->count; k++)
        place[k] = first + (position ? position[(size_t)k * stride] : k);
}

/* Pushes the neighbours at `position`, `stride` apart; NULL: the first ones. */
static inline void push_few(struct edge_window *window, const struct sampled_row *row,
                            const uint32_t *position, uint32_t stride)
{
    const uint64_t end = row->start + row->length - 1;
    const uint32_t **address = edge_window_end(window);
    const uint32_t count = row->count;
    if (row->start >> TOPOLOGY_CHUNK_SHIFT == end >> TOPOLOGY_CHUNK_SHIFT) {
        const uint32_t *base = topology_neighbor(row->part, row->start);
        for (uint32_t k = 0; k < count; k++)
            address[k] = base + (position ? position[(size_t)k * stride] : k);
    } else {
        for (uint32_t k = 0; k < count; k++)
            address[k] = topology_neighbor(
                row->part, row->start + (position ? position[(size_t)k * stride] : k));
    }
    window->pushed += count;
}

/* A row that may be longer than the window. `position` may be the place in `neighbor` that the row itself
 * will fill: what is fetched stays behind what is pushed. */
static enum error_code push_many(struct neighbor_sampler *s, const struct sampled_row *row,
                                 const uint32_t *position, struct error *err)
{
    for (uint32_t k = 0; k < row->count; k++) {
        if (edge_window_room(&s->window) == 0) {
            const enum error_code rc = run_window(s, 0, err);
            if (rc != ERROR_NONE)
                return rc;
        }
        edge_window_push(&s->window,
                         topology_neighbor(row->part, row->start + (position ? position[k] : k)));
    }
    return ERROR_NONE;
}

/* The positions that a long row keeps, or one that the request chooses from, into `position`. */
static enum error_code choose_positions(struct neighbor_sampler *s, const struct sampled_row *row,
                                        uint32_t local, const struct random_stream *stream,
                                        uint32_t *position, struct error *err)
{
    const uint32_t node = s->node.data[local];
    const size_t scratch =
        s->choose ? row->count : distinct_positions_scratch(row->length, row->count);
    enum error_code rc = growing_array_reserve(&s->bits, &s->budget, 2 * scratch, 0,
                                               "the positions of a long row", err);
    uint64_t *bits = (uint64_t *)(void *)s->bits.data;
    if (rc != ERROR_NONE)
        return rc;
    if (!s->choose) {
        distinct_positions_draw(stream, node, row->length, row->count, bits, position);
        return ERROR_NONE;
    }
    struct row_choice choice = {.part = row->part,
                                .start = row->start,
                                .length = row->length,
                                .count = row->count,
                                .node = node,
                                .stream = stream,
                                .excluded_count = excluded_count(s, local)};
    if (choice.excluded_count)
        choice.excluded = s->excluded->position + s->excluded->start[local];
    rc = s->choose(&choice, position, bits, err);
    memset(bits, 0, scratch * sizeof *bits);
    return rc;
}

/* The edges of a row of which some are left out. The draws are those of a row that has only the others. */
static enum error_code push_others(struct neighbor_sampler *s, const struct row_block *block,
                                   uint32_t index, uint32_t drawn,
                                   const struct random_stream *stream, struct error *err)
{
    const struct sampled_row *row = &block->row[index];
    const bool is_drawn = row->count < row->length;
    enum error_code rc = ERROR_NONE;
    uint32_t *position = s->neighbor.data + s->window.pushed;
    if (is_drawn && (row->count > DISTINCT_LANES_COUNT_MAX || s->choose))
        rc = choose_positions(s, row, block->first + index, stream, position, err);
    else if (is_drawn)
        for (uint32_t k = 0; k < row->count; k++)
            position[k] = s->position[drawn / DISTINCT_LANES][k][drawn % DISTINCT_LANES];
    else
        for (uint32_t k = 0; k < row->count; k++)
            position[k] = k;
    if (rc != ERROR_NONE)
        return rc;
    distinct_positions_skip(position, row->count,
                            s->excluded->position + s->excluded->start[block->first + index],
                            excluded_count(s, block->first + index));
    if (s->notes_places)
        note_places(s, row, position, 1);
    return push_many(s, row, position, err);
}

/* Pushes the edges of a row. `drawn`: its place among the rows of the block that are drawn from. */
static enum error_code push_row(struct neighbor_sampler *s, const struct row_block *block,
                                uint32_t index, uint32_t drawn, const struct random_stream *stream,
                                struct error *err)
{
    const struct sampled_row *row = &block->row[index];
    const bool is_drawn = row->count < row->length;
    uint32_t *position = NULL;
    if (row->count == 0)
        return ERROR_NONE;
    if (excluded_count(s, block->first + index))
        return push_others(s, block, index, drawn, stream, err);
    if (row->count <= DISTINCT_LANES_COUNT_MAX && !(is_drawn && s->choose)) {
        if (is_drawn)
            position = &s->position[drawn / DISTINCT_LANES][0][drawn % DISTINCT_LANES];
        const enum error_code rc =
            edge_window_room(&s->window) < row->count ? run_window(s, 0, err) : ERROR_NONE;
        if (rc == ERROR_NONE && s->notes_places)
            note_places(s, row, position, DISTINCT_LANES);
        if (rc == ERROR_NONE)
            push_few(&s->window, row, position, DISTINCT_LANES);
        return rc;
    }
    if (is_drawn) {
        position = s->neighbor.data + s->window.pushed;
        const enum error_code rc =
            choose_positions(s, row, block->first + index, stream, position, err);
        if (rc != ERROR_NONE)
            return rc;
    }
    if (s->notes_places)
        note_places(s, row, position, 1);
    return push_many(s, row, position, err);
}

static enum error_code push_block(struct neighbor_sampler *s, const struct row_block *block,
                                  int64_t fanout, const struct random_stream *stream,
                                  struct error *err)
{
    uint32_t drawn = 0, end = s->window.pushed;
    if (fanout != FANOUT_ALL && fanout <= DISTINCT_LANES_COUNT_MAX && !s->choose)
        draw_block(s, block, (uint32_t)fanout, stream);
    for (uint32_t i = 0; i < block->count; i++) {
        end += block->row[i].count;
        s->row_start.data[block->first + i + 1] = end;
    }
    for (uint32_t i = 0; i < block->count; i++) {
        const enum error_code rc = push_row(s, block, i, drawn, stream, err);
        if (rc != ERROR_NONE)
            return rc;
        drawn += block->row[i].count < block->row[i].length;
    }
    return run_window(s, 0, err);
}

static enum error_code expand_hop(struct neighbor_sampler *s, uint32_t first, uint32_t end,
                                  int64_t fanout, const struct random_stream *stream,
                                  struct error *err)
{
    struct row_block *block = &s->block[0], *next = &s->block[1];
    enum error_code rc = growing_array_reserve(&s->row_start, &s->budget, (size_t)end + 1,
                                               (size_t)first + 1, "the rows of a mini-batch", err);
    locate_block(s, first, end, block);
    while (rc == ERROR_NONE && block->count) {
        struct row_block *const done = block;
        uint64_t edges = 0;
        locate_block(s, block->first + block->count, end, next);
        rc = read_block(s, block, fanout, &edges, err);
        if (rc == ERROR_NONE)
            rc = reserve_block(s, edges, err);
        if (rc == ERROR_NONE)
            rc = push_block(s, block, fanout, stream, err);
        block = next;
        next = done;
    }
    return rc == ERROR_NONE ? run_window(s, 1, err) : rc;
}

static enum error_code look_up_degrees(struct neighbor_sampler *s, struct error *err)
{
    enum error_code rc = growing_array_reserve(&s->degree, &s->budget, s->known.count, 0,
                                               "the degrees of a mini-batch", err);
    if (rc != ERROR_NONE)
        return rc;
    struct row_block *block = &s->block[0];
    for (uint32_t at = 0; at < s->known.count; at += block->count) {
        locate_block(s, at, s->known.count, block);
        for (uint32_t i = 0; i < block->count; i++) {
            struct sampled_row *row = &block->row[i];
            const uint32_t node = s->node.data[at + i];
            rc = read_row(row, err);
            if (rc != ERROR_NONE)
                return rc;
            s->degree.data[at + i] =
                row->length - (s->has_self_loops
                                   ? topology_self_loops(row->part, row->start, row->length, node)
                                   : 0);
        }
    }
    return ERROR_NONE;
}

static enum error_code look_up_weight_sums(struct neighbor_sampler *s, struct error *err)
{
    struct row_block *block = &s->block[0];
    const enum error_code rc = growing_array_reserve(&s->weight_sum, &s->budget, s->known.count, 0,
                                                     "the sums of weights of a mini-batch", err);
    if (rc != ERROR_NONE)
        return rc;
    for (uint32_t at = 0; at < s->known.count; at += block->count) {
        const float *sum[BLOCK_ROWS];
        locate_block(s, at, s->known.count, block);
        for (uint32_t i = 0; i < block->count; i++) {
            sum[i] = topology_weight_sum(block->row[i].part, block->row[i].index);
            __builtin_prefetch(sum[i], 0, 2);
        }
        for (uint32_t i = 0; i < block->count; i++)
            memcpy(&s->weight_sum.data[at + i], sum[i], sizeof *sum[i]);
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
        s->excluded = hop == 0 ? request->excluded : NULL;
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
    const struct topology *topology = sampler->topology;
    const bool wants_sums = request->wants_weight_sum && topology->width.of[EDGE_WEIGHT];
    struct edge_columns_view columns = {0};
    sampler->choose = request->choose;
    sampler->notes_places = false;
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++)
        sampler->notes_places |= topology->width.of[c] && request->edge_columns >> c & 1;
    sampler->notes_places |= request->wants_edge_positions;
    *out = (struct mini_batch){0};
    known_nodes_forget(&sampler->known);
    edge_window_reset(&sampler->window);
    enum error_code rc = add_seeds(sampler, request, err);
    if (rc == ERROR_NONE)
        rc = expand_seeds(sampler, request, err);
    if (rc == ERROR_NONE && request->wants_degree)
        rc = look_up_degrees(sampler, err);
    if (rc == ERROR_NONE && wants_sums)
        rc = look_up_weight_sums(sampler, err);
    if (rc == ERROR_NONE && sampler->notes_places)
        rc = edge_gather_fill(&sampler->gather, &sampler->budget, topology, request->edge_columns,
                              sampler->window.pushed, &columns, err);
    if (rc != ERROR_NONE)
        return rc;
    *out = (struct mini_batch){
        .hop_count = request->hop_count,
        .seed_count = request->seed_count,
        .node_count = sampler->known.count,
        .row_count = request->hop_count ? sampler->hop_end[request->hop_count - 1] : 0,
        .edge_count = sampler->window.pushed,
        .hop_end = sampler->hop_end,
        .node = sampler->node.data,
        .row_start = sampler->row_start.data,
        .neighbor = sampler->neighbor.data,
        .degree = request->wants_degree ? sampler->degree.data : NULL,
        .weight_sum = wants_sums ? (const float *)(const void *)sampler->weight_sum.data : NULL,
        .columns = columns,
    };
    return request->wants_edge_positions
               ? edge_gather_positions(&sampler->gather, &sampler->budget, topology, out, err)
               : ERROR_NONE;
}
