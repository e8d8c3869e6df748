#include "stages/sampling/rows/neighbor_sampler.h"

#include "common/base/memory.h"
#include "common/numbers/cpu_kernel.h"
#include "common/numbers/random.h"
#include "stages/sampling/rows/distinct_positions.h"
#include "stages/sampling/rows/edge_gather.h"
#include "stages/sampling/rows/neighbor_ends.h"
#include "stages/sampling/rows/neighbor_rows.h"
#include "stages/sampling/rows/neighbor_state.h"
#include "store/topology/topology_ahead.h"

#include <inttypes.h>
#include <string.h>

enum { HOP_BITS = 4, RELATION_BITS = 4 };

_Static_assert(HOP_COUNT_MAX <= 1 << HOP_BITS, "a hop is part of a word of the counter");
_Static_assert(RELATION_COUNT_MAX >> RELATION_BITS <= RANDOM_RELATION_PURPOSES,
               "as are relations, and of the purpose");

/* Returns the stream of a relation at a hop. If relations have names, the relation is part of the
 * counter: its low bits beside the hop, its high bits as one of the purposes set aside for
 * relations. */
static struct random_stream stream_of(const struct neighbor_sampler *s,
                                      const struct neighbor_request *request, uint32_t relation,
                                      int hop)
{
    const uint32_t low = relation & ((1U << RELATION_BITS) - 1);
    const enum random_purpose purpose =
        s->lists.lists_rows ? (enum random_purpose)(RANDOM_RELATION + (relation >> RELATION_BITS))
                            : RANDOM_NEIGHBOR;
    return random_stream_of(request->seed, purpose, request->round, (uint32_t)hop | low << HOP_BITS,
                            request->slot);
}

static enum error_code add_seed(struct neighbor_sampler *s, uint32_t number, uint32_t node,
                                struct error *err)
{
    struct sampled_lists *lists = &s->lists;
    if (node >= s->topology->node_count)
        return error_set(err, ERROR_CORRUPT,
                         "seed %" PRIu32 " is node %" PRIu32 ", expected below %" PRIu32, number,
                         node, s->topology->node_count);
    if (known_nodes_has(&s->known, node))
        return error_set(err, ERROR_CORRUPT,
                         "seed %" PRIu32 " is node %" PRIu32
                         ", which is a seed already, expected each node once",
                         number, node);
    const uint32_t type =
        lists->type_count == 1
            ? 0
            : type_ranges_type(&s->ranges, type_ranges_part(&s->ranges, node), node);
    const uint32_t local = lists->count[type];
    const enum error_code rc = sampled_lists_reserve_nodes(lists, type, (uint64_t)local + 1, err);
    if (rc != ERROR_NONE)
        return rc;
    lists->node[type].data[local] = node;
    s->known.count = local;
    known_nodes_add(&s->known, node);
    lists->count[type]++;
    return ERROR_NONE;
}

static enum error_code add_seeds(struct neighbor_sampler *s, const struct neighbor_request *request,
                                 struct error *err)
{
    enum error_code rc = s->lists.type_count == 1
                             ? sampled_lists_reserve_nodes(&s->lists, 0, request->seed_count, err)
                             : ERROR_NONE;
    for (uint32_t i = 0; rc == ERROR_NONE && i < request->seed_count; i++)
        rc = add_seed(s, i, request->seed_node[i], err);
    return rc;
}

/* Takes the excluded edges of a row, which are next in the list because rows come in its order. */
static inline void leave_out(struct neighbor_sampler *s, uint32_t local, struct sampled_row *row)
{
    row->excluded = s->excluded_at;
    while (s->excluded_at < s->excluded_end && s->excluded->seed[s->excluded_at] == local)
        s->excluded_at++;
    row->excluded_count = s->excluded_at - row->excluded;
    must(row->excluded_count <= row->length);
    row->length -= row->excluded_count;
}

static enum error_code read_block(struct neighbor_sampler *s, struct row_block *block,
                                  int64_t fanout, uint64_t *edges, struct error *err)
{
    *edges = 0;
    for (uint32_t i = 0; i < block->count; i++) {
        struct sampled_row *row = &block->row[i];
        const enum error_code rc = neighbor_rows_read(row, err);
        if (rc != ERROR_NONE)
            return rc;
        leave_out(s, block->first + i, row);
        row->count = fanout == FANOUT_ALL || fanout >= row->length ? row->length : (uint32_t)fanout;
        *edges += row->count;
    }
    for (uint32_t i = 0; s->topology->is_at_random && i < block->count; i++)
        topology_ask_neighbors(block->row[i].part, block->row[i].start, block->row[i].length);
    return ERROR_NONE;
}

/* Makes room for the listed rows of a block and one more, because an array that was never used has
 * no address. */
static enum error_code reserve_listed(struct neighbor_sampler *s, uint32_t count, struct error *err)
{
    static const char what[] = "the rows of a mini-batch";
    struct relation_rows *rows = s->rows;
    const size_t wanted = (size_t)rows->row_count + count + 1;
    enum error_code rc =
        growing_array_reserve(&rows->row, &s->budget, wanted, rows->row_count, what, err);
    if (rc == ERROR_NONE)
        rc = growing_array_reserve(&rows->row_end, &s->budget, wanted, rows->row_count, what, err);
    if (rc == ERROR_NONE && s->wants_degree)
        rc = growing_array_reserve(&rows->degree, &s->budget, wanted, rows->row_count, what, err);
    return rc;
}

/* Makes room for everything that the rows of a block can add. */
static enum error_code reserve_block(struct neighbor_sampler *s, uint32_t count, uint64_t added,
                                     struct error *err)
{
    struct edge_window *window = &s->window;
    const uint64_t edges = window->pushed + added;
    if (s->other_edges + edges > UINT32_MAX)
        return error_set(err, ERROR_INVALID,
                         "the mini-batch has over %" PRIu32
                         " edges; expected a smaller batch_size or lower fan-outs",
                         UINT32_MAX);
    enum error_code rc = growing_array_reserve(&s->rows->neighbor, &s->budget, edges,
                                               window->fetched, "the edges of a mini-batch", err);
    if (rc == ERROR_NONE && s->lists.lists_rows)
        rc = reserve_listed(s, count, err);
    if (rc == ERROR_NONE && s->notes_places)
        rc = growing_array_reserve(sampled_lists_places(&s->lists, s->rows), &s->budget, 2 * edges,
                                   2 * (size_t)window->pushed, "the places of a mini-batch's edges",
                                   err);
    if (rc != ERROR_NONE)
        return rc;
    /* One more than can be new: the window writes a node before it knows whether the node is
     * new. */
    struct growing_array *nodes = &s->lists.node[s->rows->source];
    const uint64_t coming = edges - window->relabelled,
                   unknown = s->topology->node_count - s->known.count;
    const size_t wanted =
        (size_t)s->known.count + (size_t)(coming < unknown ? coming : unknown) + 1;
    rc = growing_array_reserve(nodes, &s->budget, wanted, s->known.count,
                               "the nodes of a mini-batch", err);
    window->node = nodes->data;
    window->neighbor = s->rows->neighbor.data;
    return rc;
}

/* Draws for all rows of the block that keep only some neighbours, DISTINCT_LANES rows at a time. */
static void draw_block(struct neighbor_sampler *s, const struct row_block *block, uint32_t fanout,
                       const struct random_stream *stream)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < block->count; i++) {
        s->item[count] = neighbor_rows_node(s, block->first + i);
        s->length[count] = block->row[i].length;
        count += block->row[i].length > fanout;
    }
    for (uint32_t i = count; i % DISTINCT_LANES; i++)
        s->length[i] = fanout; /* for idle lanes */
    for (uint32_t i = 0; i < count; i += DISTINCT_LANES)
        distinct_positions_draw_lanes(stream, s->item + i, s->length + i, fanout,
                                      s->position[i / DISTINCT_LANES]);
}

static enum error_code bad_neighbor(const struct neighbor_sampler *s, struct error *err)
{
    const struct relation_rows *rows = s->rows;
    const uint32_t edge = s->window.fetched;
    const uint32_t *end = s->lists.lists_rows ? rows->row_end.data : rows->row_start.data + 1;
    uint32_t row = 0;
    while (end[row] <= edge)
        row++;
    return error_set(err, ERROR_CORRUPT,
                     "topology: a neighbour of node %" PRIu32 " is %" PRIu32
                     ", expected below %" PRIu32,
                     neighbor_rows_node(s, s->lists.lists_rows ? rows->row.data[row] : row),
                     rows->neighbor.data[edge], s->topology->node_count);
}

static enum error_code run_window(struct neighbor_sampler *s, int all, struct error *err)
{
    return edge_window_run(&s->window, all) == ERROR_NONE ? ERROR_NONE : bad_neighbor(s, err);
}

/* Notes the places of the edges of a row that are pushed next; `position` as in push_few(). */
static void note_places(struct neighbor_sampler *s, const struct sampled_row *row,
                        const uint32_t *position, uint32_t stride)
{
    const uint64_t first = edge_place((int)(row->part - s->topology->part), row->start);
    uint64_t *place =
        (uint64_t *)(void *)sampled_lists_places(&s->lists, s->rows)->data + s->window.pushed;
    for (uint32_t k = 0; k < row->count; k++)
        place[k] = first + (position ? position[(size_t)k * stride] : k);
}

/* Pushes the neighbours at `position`, whose entries are `stride` apart; NULL: the first ones. */
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

/* Pushes a row that may be longer than the window. `position` may be the place in `neighbor` that
 * the row itself will fill: entries are fetched only after they were pushed, so no position is
 * overwritten before it is read. */
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

/* Chooses the positions that a row keeps, into `position`: for long rows, and for requests with a
 * choice of their own. */
static enum error_code choose_positions(struct neighbor_sampler *s, const struct sampled_row *row,
                                        uint32_t local, const struct random_stream *stream,
                                        uint32_t *position, struct error *err)
{
    const uint32_t node = neighbor_rows_node(s, local);
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
                                .excluded_count = row->excluded_count};
    if (choice.excluded_count)
        choice.excluded = s->excluded->position + row->excluded;
    rc = s->choose(&choice, position, bits, err);
    memset(bits, 0, scratch * sizeof *bits);
    return rc;
}

/* Pushes the edges of a row with excluded edges. The draws are those of a row that has only the
 * others. */
static enum error_code push_others(struct neighbor_sampler *s, const struct row_block *block,
                                   uint32_t index, uint32_t drawn,
                                   const struct random_stream *stream, struct error *err)
{
    const struct sampled_row *row = &block->row[index];
    const bool is_drawn = row->count < row->length;
    enum error_code rc = ERROR_NONE;
    uint32_t *position = s->rows->neighbor.data + s->window.pushed;
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
    distinct_positions_skip(position, row->count, s->excluded->position + row->excluded,
                            row->excluded_count);
    if (s->notes_places)
        note_places(s, row, position, 1);
    return push_many(s, row, position, err);
}

/* Pushes the edges of a row. `drawn` is its place among the rows of the block that are drawn
 * from. */
static enum error_code push_row(struct neighbor_sampler *s, const struct row_block *block,
                                uint32_t index, uint32_t drawn, const struct random_stream *stream,
                                struct error *err)
{
    const struct sampled_row *row = &block->row[index];
    const bool is_drawn = row->count < row->length;
    uint32_t *position = NULL;
    if (row->count == 0)
        return ERROR_NONE;
    if (row->excluded_count)
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
        position = s->rows->neighbor.data + s->window.pushed;
        const enum error_code rc =
            choose_positions(s, row, block->first + index, stream, position, err);
        if (rc != ERROR_NONE)
            return rc;
    }
    if (s->notes_places)
        note_places(s, row, position, 1);
    return push_many(s, row, position, err);
}

/* Notes the ends of the rows of a block. Listed rows without edges are left out. */
static void end_rows(struct neighbor_sampler *s, const struct row_block *block)
{
    struct relation_rows *rows = s->rows;
    uint32_t end = s->window.pushed;
    for (uint32_t i = 0; !s->lists.lists_rows && i < block->count; i++) {
        end += block->row[i].count;
        rows->row_start.data[block->first + i + 1] = end;
    }
    for (uint32_t i = 0; s->lists.lists_rows && i < block->count; i++) {
        if (block->row[i].count == 0)
            continue;
        end += block->row[i].count;
        rows->row.data[rows->row_count] = block->first + i;
        rows->row_end.data[rows->row_count] = end;
        if (s->wants_degree)
            rows->degree.data[rows->row_count] = block->row[i].length;
        rows->row_count++;
    }
}

static enum error_code push_block(struct neighbor_sampler *s, const struct row_block *block,
                                  int64_t fanout, const struct random_stream *stream,
                                  struct error *err)
{
    uint32_t drawn = 0;
    if (fanout > 0 && fanout <= DISTINCT_LANES_COUNT_MAX && !s->choose)
        draw_block(s, block, (uint32_t)fanout, stream);
    end_rows(s, block);
    for (uint32_t i = 0; i < block->count; i++) {
        const enum error_code rc = push_row(s, block, i, drawn, stream, err);
        if (rc != ERROR_NONE)
            return rc;
        drawn += block->row[i].count < block->row[i].length;
    }
    return run_window(s, 0, err);
}

static enum error_code expand_rows(struct neighbor_sampler *s, uint32_t first, uint32_t end,
                                   int64_t fanout, const struct random_stream *stream,
                                   struct error *err)
{
    struct row_block *block = &s->block[0], *next = &s->block[1];
    enum error_code rc =
        s->lists.lists_rows
            ? ERROR_NONE
            : growing_array_reserve(&s->rows->row_start, &s->budget, (size_t)end + 1,
                                    (size_t)first + 1, "the rows of a mini-batch", err);
    neighbor_rows_block(s, first, end, block);
    while (rc == ERROR_NONE && block->count) {
        struct row_block *const done = block;
        uint64_t edges = 0;
        neighbor_rows_block(s, block->first + block->count, end, next);
        rc = read_block(s, block, fanout, &edges, err);
        if (rc == ERROR_NONE)
            rc = reserve_block(s, block->count, edges, err);
        if (rc == ERROR_NONE)
            rc = push_block(s, block, fanout, stream, err);
        block = next;
        next = done;
    }
    return rc == ERROR_NONE ? run_window(s, 1, err) : rc;
}

static uint32_t *hop_end(struct neighbor_sampler *s, const struct neighbor_request *request,
                         uint32_t type, int hop)
{
    return &s->lists.hop_end[type * ((uint32_t)request->hop_count + 1) + (uint32_t)hop];
}

/* Begins a relation at a hop: the window continues after the relation's last edge. */
static void begin_relation(struct neighbor_sampler *s, const struct neighbor_request *request,
                           uint32_t relation, int hop, uint64_t all_edges)
{
    const struct excluded_edges *excluded = hop ? NULL : request->excluded;
    s->relation = relation;
    s->rows = &s->lists.relation[relation];
    s->known.count = s->lists.count[s->rows->source];
    s->other_edges = all_edges - s->rows->edge_count;
    s->excluded = excluded;
    s->excluded_at = excluded ? excluded->begin[relation] : 0;
    s->excluded_end = excluded ? excluded->begin[relation + 1] : 0;
    edge_window_begin(&s->window, s->rows->edge_count);
}

/* Expands the nodes of a relation's target type that were found at the hop before. */
static enum error_code expand_relation(struct neighbor_sampler *s,
                                       const struct neighbor_request *request, uint32_t relation,
                                       int hop, uint64_t *all_edges, struct error *err)
{
    const uint32_t target = s->lists.relation[relation].target;
    const uint32_t first = hop ? *hop_end(s, request, target, hop - 1) : 0;
    const uint32_t end = *hop_end(s, request, target, hop);
    const size_t at = relation * (size_t)request->hop_count + (size_t)hop;
    const struct random_stream stream = stream_of(s, request, relation, hop);
    begin_relation(s, request, relation, hop, *all_edges);
    const enum error_code rc = expand_rows(s, first, end, request->fanout[at], &stream, err);
    if (rc != ERROR_NONE)
        return s->lists.lists_rows ? error_context(err, rc, "hop %d, relation %s", hop + 1,
                                                   partition_book_relation(s->book, relation)->name)
                                   : error_context(err, rc, "hop %d", hop + 1);
    must(s->excluded_at == s->excluded_end);
    s->rows->edge_count = s->window.pushed;
    s->lists.count[s->rows->source] = s->known.count;
    *all_edges = s->other_edges + s->window.pushed;
    return ERROR_NONE;
}

static enum error_code expand_seeds(struct neighbor_sampler *s,
                                    const struct neighbor_request *request, struct error *err)
{
    struct sampled_lists *lists = &s->lists;
    uint64_t all_edges = 0;
    enum error_code rc = growing_array_reserve(&lists->relation[0].row_start, &s->budget, 1, 0,
                                               "the rows of a mini-batch", err);
    if (rc != ERROR_NONE)
        return rc;
    lists->relation[0].row_start.data[0] = 0;
    for (uint32_t t = 0; t < lists->type_count; t++)
        *hop_end(s, request, t, 0) = lists->count[t];
    for (int hop = 0; rc == ERROR_NONE && hop < request->hop_count; hop++) {
        for (uint32_t r = 0; rc == ERROR_NONE && r < lists->relation_count; r++)
            rc = expand_relation(s, request, r, hop, &all_edges, err);
        for (uint32_t t = 0; t < lists->type_count; t++)
            *hop_end(s, request, t, hop + 1) = lists->count[t];
    }
    return rc;
}

static void forget(struct neighbor_sampler *s)
{
    sampled_lists_forget(&s->lists, &s->known);
    s->relation = 0;
    s->rows = s->lists.relation;
}

enum error_code neighbor_sampler_draw(struct neighbor_sampler *sampler,
                                      const struct neighbor_request *request,
                                      struct mini_batch *out, struct error *err)
{
    must(request->hop_count >= 0 && request->hop_count <= HOP_COUNT_MAX);
    must(request->seed_count >= 1 && request->slot < 65536);
    const struct topology *topology = sampler->topology;
    struct sampled_lists *lists = &sampler->lists;
    const bool is_listed = lists->lists_rows;
    const bool wants_sums = request->wants_weight_sum && topology->width.of[EDGE_WEIGHT];
    const bool looks_up = is_listed ? request->wants_ends : request->wants_degree;
    must(!is_listed || !request->wants_edge_positions);
    sampler->choose = request->choose;
    sampler->wants_degree = request->wants_degree;
    sampler->notes_places = request->wants_edge_positions;
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++)
        sampler->notes_places |= topology->width.of[c] && request->edge_columns >> c & 1;
    const struct listed_values has = {.degrees = request->wants_degree,
                                      .places = sampler->notes_places};
    *out = (struct mini_batch){0};
    forget(sampler);
    enum error_code rc = add_seeds(sampler, request, err);
    if (rc == ERROR_NONE)
        rc = expand_seeds(sampler, request, err);
    if (rc == ERROR_NONE && !is_listed)
        lists->relation[0].row_count =
            request->hop_count ? *hop_end(sampler, request, 0, request->hop_count - 1) : 0;
    if (rc == ERROR_NONE)
        rc = neighbor_ends_look_up(sampler, looks_up, wants_sums, err);
    if (rc == ERROR_NONE)
        rc = sampled_lists_batch(lists, request->hop_count, &has, out, err);
    if (rc == ERROR_NONE)
        neighbor_ends_give(sampler, looks_up, wants_sums, out);
    if (rc == ERROR_NONE && sampler->notes_places)
        rc = edge_gather_fill(&lists->gather, &sampler->budget, topology, request->edge_columns,
                              out->edge_count, &out->columns, err);
    if (rc == ERROR_NONE && request->wants_edge_positions)
        rc = edge_gather_positions(&lists->gather, &sampler->budget, topology, out, err);
    if (rc != ERROR_NONE)
        *out = (struct mini_batch){0};
    return rc;
}
