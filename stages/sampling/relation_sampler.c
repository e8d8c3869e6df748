#include "stages/sampling/relation_sampler.h"

#include "common/base/memory.h"
#include "common/base/random.h"
#include "stages/sampling/distinct_positions.h"
#include "stages/sampling/edge_gather.h"
#include "stages/sampling/growing_array.h"
#include "stages/sampling/known_nodes.h"
#include "stages/sampling/neighbor_sampler.h"
#include "store/topology/topology_ahead.h"

#include <inttypes.h>
#include <string.h>

enum { BLOCK_ROWS = 128, HOP_BITS = 4, RELATION_BITS = 4 };

_Static_assert(HOP_COUNT_MAX <= 1 << HOP_BITS, "a hop is part of a word of the counter");
_Static_assert(RELATION_COUNT_MAX >> RELATION_BITS <= RANDOM_RELATION_PURPOSES,
               "as are relations, and of the purpose");

/* What was found of a relation, hop behind hop. */
struct relation_found {
    struct growing_array row;       /* [rows], local indices of the target type */
    struct growing_array row_end;   /* [rows] where its edges end */
    struct growing_array neighbor;  /* [edges] */
    struct growing_array degree;    /* [rows] */
    struct growing_array place;     /* [edges] of 64 bits: edge_place() */
    uint32_t row_count, edge_count; /* of the batch at hand */
};

/* A row that is worked on. */
struct drawn_row {
    const struct topology_part *part;
    uint32_t node, local; /* its node, as a partition id and in the batch */
    uint32_t index;       /* in the part */
    uint32_t length, count;
    uint32_t excluded,
        excluded_count; /* the first of what is left out, and how much of it: `length` is without */
    uint64_t start;
};

struct relation_sampler {
    const struct topology *topology;
    const struct partition_book *book;
    struct type_ranges ranges;
    uint32_t type_count, relation_count;
    struct array_budget budget;
    struct known_nodes known; /* its count is that of the type at hand */
    uint32_t count[RELATION_TYPE_COUNT_MAX];
    struct growing_array node[RELATION_TYPE_COUNT_MAX]; /* [nodes of the type] */
    struct relation_found *found;                       /* [relation_count] */
    uint32_t hop_end[RELATION_TYPE_COUNT_MAX * (HOP_COUNT_MAX + 1)];
    uint16_t ends[2 * RELATION_COUNT_MAX];
    struct drawn_row row[BLOCK_ROWS];
    uint32_t position[DISTINCT_LANES_COUNT_MAX][DISTINCT_LANES];
    struct growing_array bits;       /* scratch of a long draw, zero between two, as pairs */
    struct growing_array drawn;      /* [edges of a block] positions in their rows */
    bool notes_places, wants_degree; /* the request's */
    const struct excluded_relation_edges *excluded; /* of the hop's rows: those of seeds, or NULL */
    uint32_t excluded_at, excluded_end;             /* of the relation's: behind the last row */
    uint64_t edges;
    /* The batch: what was found, one behind the other. */
    struct growing_array all_node, all_row, all_row_start, all_neighbor, all_degree;
    uint32_t node_begin[RELATION_TYPE_COUNT_MAX + 1];
    uint32_t row_begin[RELATION_COUNT_MAX + 1], edge_begin[RELATION_COUNT_MAX + 1];
    struct edge_gather gather;
};

enum error_code relation_sampler_new(const struct relation_sampler_config *config,
                                     struct relation_sampler **out, struct error *err)
{
    struct relation_sampler *s = NULL;
    *out = NULL;
    enum error_code rc = memory_new(&s, 1, "the sampler of relations", err);
    if (rc != ERROR_NONE)
        return rc;
    s->topology = config->topology;
    s->book = config->book;
    s->ranges = partition_book_ranges(config->book);
    s->type_count = partition_book_types(config->book);
    s->relation_count = partition_book_relations(config->book);
    s->budget.limit = config->budget_bytes;
    for (uint32_t r = 0; r < s->relation_count; r++) {
        s->ends[2 * (size_t)r] = partition_book_relation(config->book, r)->source_type;
        s->ends[2 * (size_t)r + 1] = partition_book_relation(config->book, r)->target_type;
    }
    must((uint64_t)config->book->part_count * s->relation_count < 1U << 24); /* edge_place() */
    rc = memory_new(&s->found, s->relation_count, "the sampler of relations", err);
    if (rc == ERROR_NONE)
        rc = known_nodes_init(&s->known, &s->budget, config->topology->node_count, err);
    if (rc == ERROR_NONE)
        *out = s;
    else
        relation_sampler_free(s);
    return rc;
}

void relation_sampler_free(struct relation_sampler *sampler)
{
    struct relation_sampler *s = sampler;
    if (!s)
        return;
    known_nodes_release(&s->known, &s->budget);
    for (int t = 0; t < RELATION_TYPE_COUNT_MAX; t++)
        growing_array_release(&s->node[t], &s->budget);
    for (uint32_t r = 0; s->found && r < s->relation_count; r++) {
        growing_array_release(&s->found[r].row, &s->budget);
        growing_array_release(&s->found[r].row_end, &s->budget);
        growing_array_release(&s->found[r].neighbor, &s->budget);
        growing_array_release(&s->found[r].degree, &s->budget);
        growing_array_release(&s->found[r].place, &s->budget);
    }
    memory_free(s->found);
    growing_array_release(&s->bits, &s->budget);
    growing_array_release(&s->drawn, &s->budget);
    growing_array_release(&s->all_node, &s->budget);
    growing_array_release(&s->all_row, &s->budget);
    growing_array_release(&s->all_row_start, &s->budget);
    growing_array_release(&s->all_neighbor, &s->budget);
    growing_array_release(&s->all_degree, &s->budget);
    edge_gather_release(&s->gather, &s->budget);
    memory_free(s);
}

uint64_t relation_sampler_bytes(const struct relation_sampler *sampler)
{
    return sampler->budget.used + sizeof *sampler +
           sampler->relation_count * sizeof *sampler->found;
}

/* The stream of a relation at a hop: both are in the counter, the high bits of the relation as one of the purposes that
 * are set aside for it. */
static struct random_stream stream_of(const struct relation_request *request, uint32_t relation,
                                      int hop)
{
    const uint32_t low = relation & ((1U << RELATION_BITS) - 1);
    return random_stream_of(request->seed,
                            (enum random_purpose)(RANDOM_RELATION + (relation >> RELATION_BITS)),
                            request->round, (uint32_t)hop | low << HOP_BITS, request->slot);
}

/* ---- nodes ------------------------------------------------------------------------------------ */

/* Room for `more` nodes of a type beyond those known. */
static enum error_code reserve_nodes(struct relation_sampler *s, uint32_t type, uint64_t more,
                                     struct error *err)
{
    return growing_array_reserve(&s->node[type], &s->budget, s->count[type] + more, s->count[type],
                                 "the nodes of a mini-batch", err);
}

/* The local index of a node of `type`, which becomes known. There is room for it. */
static inline uint32_t local_of(struct relation_sampler *s, uint32_t type, uint32_t node)
{
    if (known_nodes_has(&s->known, node))
        return known_nodes_local(&s->known, node);
    s->known.count = s->count[type];
    known_nodes_add(&s->known, node);
    s->node[type].data[s->count[type]] = node;
    return s->count[type]++;
}

/* Forgets the batch before: the table's numbers in use are those up to the longest list of a type. */
static void forget(struct relation_sampler *s)
{
    s->known.count = 0;
    for (uint32_t t = 0; t < s->type_count; t++) {
        s->known.count = s->count[t] > s->known.count ? s->count[t] : s->known.count;
        s->count[t] = 0;
    }
    known_nodes_forget(&s->known);
    for (uint32_t r = 0; r < s->relation_count; r++)
        s->found[r].row_count = s->found[r].edge_count = 0;
    s->edges = 0;
}

static enum error_code add_seeds(struct relation_sampler *s, const struct relation_request *request,
                                 struct error *err)
{
    for (uint32_t i = 0; i < request->seed_count; i++) {
        const uint32_t node = request->seed_node[i];
        if (node >= s->topology->node_count)
            return error_set(err, ERROR_CORRUPT,
                             "seed %" PRIu32 " is node %" PRIu32 ", expected below %" PRIu32, i,
                             node, s->topology->node_count);
        if (known_nodes_has(&s->known, node))
            return error_set(err, ERROR_CORRUPT,
                             "seed %" PRIu32 " is node %" PRIu32
                             ", which is a seed already, expected each node once",
                             i, node);
        const uint32_t type =
            type_ranges_type(&s->ranges, type_ranges_part(&s->ranges, node), node);
        const enum error_code rc = reserve_nodes(s, type, 1, err);
        if (rc != ERROR_NONE)
            return rc;
        (void)local_of(s, type, node);
    }
    return ERROR_NONE;
}

/* ---- rows ------------------------------------------------------------------------------------- */

/* Finds the rows of nodes [first, first + count) of the target type, and asks for their starts. */
static void locate(struct relation_sampler *s, uint32_t relation, uint32_t first, uint32_t count)
{
    const uint32_t *node = s->node[s->ends[2 * (size_t)relation + 1]].data + first;
    for (uint32_t i = 0; i < count; i++) {
        struct drawn_row *row = &s->row[i];
        row->node = node[i];
        row->local = first + i;
        row->part = topology_rows(s->topology, type_ranges_part(&s->ranges, node[i]), relation);
        row->index = node[i] - row->part->first_node;
        const uint64_t *start =
            &row->part->row_start_chunk[row->index >> TOPOLOGY_CHUNK_SHIFT]
                                       [row->index & ((1U << TOPOLOGY_CHUNK_SHIFT) - 1)];
        __builtin_prefetch(start, 0, 2);
    }
    for (uint32_t i = 0; s->topology->is_at_random && i < count; i++)
        topology_ask_row_start(s->row[i].part, s->row[i].index);
}

/* Rows come in the order of what is left out of them. */
static void leave_out(struct relation_sampler *s, struct drawn_row *row)
{
    row->excluded = s->excluded_at;
    while (s->excluded_at < s->excluded_end && s->excluded->seed[s->excluded_at] == row->local)
        s->excluded_at++;
    row->excluded_count = s->excluded_at - row->excluded;
    must(row->excluded_count <= row->length);
    row->length -= row->excluded_count;
}

static enum error_code read_rows(struct relation_sampler *s, uint32_t count, int64_t fanout,
                                 uint64_t *edges, struct error *err)
{
    *edges = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct drawn_row *row = &s->row[i];
        row->start = topology_row_start(row->part, row->index);
        const uint64_t end = topology_row_start(row->part, row->index + 1);
        if (end < row->start || end > row->part->edge_count || end - row->start > UINT32_MAX)
            return error_set(err, ERROR_CORRUPT,
                             "topology: the row of node %" PRIu32 " is %" PRIu64 " to %" PRIu64
                             ", expected ascending, at most %" PRIu64 ", and below 2^32 long",
                             row->node, row->start, end, row->part->edge_count);
        row->length = (uint32_t)(end - row->start);
        leave_out(s, row);
        row->count = fanout == FANOUT_ALL || fanout >= row->length ? row->length : (uint32_t)fanout;
        *edges += row->count;
    }
    for (uint32_t i = 0; s->topology->is_at_random && i < count; i++)
        topology_ask_neighbors(s->row[i].part, s->row[i].start, s->row[i].length);
    return ERROR_NONE;
}

/* Room for the rows and edges of a block, and one more: an array that was never used has no address. */
static enum error_code reserve(struct relation_sampler *s, uint32_t relation, uint32_t rows,
                               uint64_t edges, struct error *err)
{
    static const char *const what = "the edges of a mini-batch";
    struct relation_found *f = &s->found[relation];
    const uint64_t row_count = (uint64_t)f->row_count + rows, all = f->edge_count + edges;
    s->edges += edges;
    if (s->edges > UINT32_MAX)
        return error_set(err, ERROR_INVALID,
                         "the mini-batch has over %" PRIu32
                         " edges; expected a smaller batch_size or lower fan-outs",
                         UINT32_MAX);
    enum error_code rc =
        growing_array_reserve(&f->row, &s->budget, row_count, f->row_count, what, err);
    if (rc == ERROR_NONE)
        rc = growing_array_reserve(&f->row_end, &s->budget, row_count, f->row_count, what, err);
    if (rc == ERROR_NONE && s->wants_degree)
        rc = growing_array_reserve(&f->degree, &s->budget, row_count, f->row_count, what, err);
    if (rc == ERROR_NONE)
        rc = growing_array_reserve(&f->neighbor, &s->budget, all + 1, f->edge_count, what, err);
    if (rc == ERROR_NONE && s->notes_places)
        rc = growing_array_reserve(&f->place, &s->budget, 2 * all + 2, 2 * (size_t)f->edge_count,
                                   what, err);
    if (rc == ERROR_NONE)
        rc = growing_array_reserve(&s->drawn, &s->budget, edges + 1, 0, what, err);
    return rc == ERROR_NONE ? reserve_nodes(s, s->ends[2 * (size_t)relation], edges, err) : rc;
}

/* Positions of up to DISTINCT_LANES rows that keep `fanout` of more edges, side by side; row `which[i]`'s go to to[i]. */
static void draw_lanes(struct relation_sampler *s, const struct random_stream *stream,
                       const uint32_t *which, uint32_t *const *to, uint32_t count, uint32_t fanout)
{
    uint32_t item[DISTINCT_LANES] = {0}, length[DISTINCT_LANES];
    for (uint32_t i = 0; i < DISTINCT_LANES; i++) {
        item[i] = i < count ? s->row[which[i]].node : 0;
        length[i] = i < count ? s->row[which[i]].length : fanout; /* lanes without a row */
    }
    distinct_positions_draw_lanes(stream, item, length, fanout, s->position);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < fanout; k++)
            to[i][k] = s->position[k][i];
}

/* A row of which many are kept. */
static enum error_code draw_long(struct relation_sampler *s, const struct random_stream *stream,
                                 const struct drawn_row *row, uint32_t *to, struct error *err)
{
    const size_t scratch = distinct_positions_scratch(row->length, row->count);
    const enum error_code rc = growing_array_reserve(&s->bits, &s->budget, 2 * scratch, 0,
                                                     "the positions of a long row", err);
    if (rc == ERROR_NONE)
        distinct_positions_draw(stream, row->node, row->length, row->count,
                                (uint64_t *)(void *)s->bits.data, to);
    return rc;
}

/* Positions that were drawn as if what is left out were not there become those of the rows. */
static void skip_excluded(struct relation_sampler *s, uint32_t count)
{
    uint32_t *position = s->drawn.data;
    for (uint32_t i = 0; s->excluded_end && i < count; position += s->row[i++].count)
        if (s->row[i].excluded_count)
            distinct_positions_skip(position, s->row[i].count,
                                    s->excluded->position + s->row[i].excluded,
                                    s->row[i].excluded_count);
}

/* The positions that each row of the block keeps, row behind row, into s->drawn. */
static enum error_code draw(struct relation_sampler *s, const struct random_stream *stream,
                            uint32_t count, struct error *err)
{
    uint32_t which[DISTINCT_LANES], *to[DISTINCT_LANES], lanes = 0, fanout = 0;
    uint32_t *next = s->drawn.data;
    enum error_code rc = ERROR_NONE;
    for (uint32_t i = 0; rc == ERROR_NONE && i < count; i++) {
        const struct drawn_row *row = &s->row[i];
        if (row->count == row->length) {
            for (uint32_t k = 0; k < row->count; k++)
                next[k] = k;
        } else if (row->count > DISTINCT_LANES_COUNT_MAX) {
            rc = draw_long(s, stream, row, next, err);
        } else if (row->count > 0) {
            fanout = row->count;
            which[lanes] = i;
            to[lanes++] = next;
        }
        if (lanes == DISTINCT_LANES) {
            draw_lanes(s, stream, which, to, lanes, fanout);
            lanes = 0;
        }
        next += row->count;
    }
    if (rc == ERROR_NONE && lanes)
        draw_lanes(s, stream, which, to, lanes, fanout);
    return rc;
}

/* Asks for the neighbours that were drawn. */
static void prefetch_neighbors(const struct relation_sampler *s, uint32_t count)
{
    const uint32_t *position = s->drawn.data;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < s->row[i].count; k++)
            __builtin_prefetch(topology_neighbor(s->row[i].part, s->row[i].start + *position++), 0,
                               2);
}

/* Fetches them, as partition ids, and asks for their entries in the table. */
static enum error_code fetch_neighbors(struct relation_sampler *s, uint32_t relation,
                                       uint32_t count, struct error *err)
{
    struct relation_found *f = &s->found[relation];
    const uint32_t *position = s->drawn.data;
    uint32_t *out = f->neighbor.data + f->edge_count;
    for (uint32_t i = 0; i < count; i++) {
        const struct drawn_row *row = &s->row[i];
        for (uint32_t k = 0; k < row->count; k++) {
            const uint32_t node = *topology_neighbor(row->part, row->start + *position++);
            if (node >= s->topology->node_count)
                return error_set(err, ERROR_CORRUPT,
                                 "topology: a neighbour of node %" PRIu32 " is %" PRIu32
                                 ", expected below %" PRIu32,
                                 row->node, node, s->topology->node_count);
            __builtin_prefetch(&s->known.entry.data[node], 1, 2);
            *out++ = node;
        }
    }
    return ERROR_NONE;
}

static void note_places(struct relation_sampler *s, uint32_t relation, uint32_t count)
{
    struct relation_found *f = &s->found[relation];
    const uint32_t *position = s->drawn.data;
    uint64_t *out = (uint64_t *)(void *)f->place.data + f->edge_count;
    for (uint32_t i = 0; i < count; i++) {
        const struct drawn_row *row = &s->row[i];
        const uint64_t first = edge_place((int)(row->part - s->topology->part), row->start);
        for (uint32_t k = 0; k < row->count; k++)
            *out++ = first + *position++;
    }
}

/* Turns the neighbours into local indices, and ends the rows; those without edges are none. */
static void relabel(struct relation_sampler *s, uint32_t relation, uint32_t count)
{
    struct relation_found *f = &s->found[relation];
    const uint32_t source = s->ends[2 * (size_t)relation];
    for (uint32_t i = 0; i < count; i++) {
        const struct drawn_row *row = &s->row[i];
        uint32_t *neighbor = f->neighbor.data + f->edge_count;
        if (row->count == 0)
            continue;
        for (uint32_t k = 0; k < row->count; k++)
            neighbor[k] = local_of(s, source, neighbor[k]);
        f->edge_count += row->count;
        f->row.data[f->row_count] = row->local;
        f->row_end.data[f->row_count] = f->edge_count;
        if (s->wants_degree)
            f->degree.data[f->row_count] = row->length;
        f->row_count++;
    }
}

static enum error_code expand_block(struct relation_sampler *s, uint32_t relation, uint32_t first,
                                    uint32_t count, int64_t fanout,
                                    const struct random_stream *stream, struct error *err)
{
    uint64_t edges = 0;
    locate(s, relation, first, count);
    enum error_code rc = read_rows(s, count, fanout, &edges, err);
    if (rc == ERROR_NONE)
        rc = reserve(s, relation, count, edges, err);
    if (rc == ERROR_NONE)
        rc = draw(s, stream, count, err);
    if (rc != ERROR_NONE)
        return rc;
    skip_excluded(s, count);
    prefetch_neighbors(s, count);
    rc = fetch_neighbors(s, relation, count, err);
    if (rc == ERROR_NONE && s->notes_places)
        note_places(s, relation, count);
    if (rc == ERROR_NONE)
        relabel(s, relation, count);
    return rc;
}

static uint32_t *hop_end(struct relation_sampler *s, const struct relation_request *request,
                         uint32_t type, int hop)
{
    return &s->hop_end[type * ((uint32_t)request->hop_count + 1) + (uint32_t)hop];
}

/* What was found at the hop before, in every relation. */
static enum error_code expand_hop(struct relation_sampler *s,
                                  const struct relation_request *request, int hop,
                                  struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint32_t r = 0; rc == ERROR_NONE && r < s->relation_count; r++) {
        const uint32_t target = s->ends[2 * (size_t)r + 1];
        const uint32_t first = hop ? *hop_end(s, request, target, hop - 1) : 0;
        const uint32_t end = *hop_end(s, request, target, hop);
        const int64_t fanout = request->fanout[r * (uint32_t)request->hop_count + (uint32_t)hop];
        const struct random_stream stream = stream_of(request, r, hop);
        s->excluded = hop ? NULL : request->excluded;
        s->excluded_at = s->excluded ? s->excluded->begin[r] : 0;
        s->excluded_end = s->excluded ? s->excluded->begin[r + 1] : 0;
        for (uint32_t at = first; rc == ERROR_NONE && at < end; at += BLOCK_ROWS)
            rc = expand_block(s, r, at, end - at < BLOCK_ROWS ? end - at : BLOCK_ROWS, fanout,
                              &stream, err);
        must(rc != ERROR_NONE || s->excluded_at == s->excluded_end);
        if (rc != ERROR_NONE)
            rc = error_context(err, rc, "hop %d, relation %s", hop + 1,
                               partition_book_relation(s->book, r)->name);
    }
    for (uint32_t t = 0; t < s->type_count; t++)
        *hop_end(s, request, t, hop + 1) = s->count[t];
    return rc;
}

/* ---- the batch -------------------------------------------------------------------------------- */

static enum error_code join_nodes(struct relation_sampler *s, struct error *err)
{
    uint64_t all = 0;
    for (uint32_t t = 0; t < s->type_count; t++) {
        s->node_begin[t] = (uint32_t)all;
        all += s->count[t];
    }
    s->node_begin[s->type_count] = (uint32_t)all; /* at most the nodes of the graph */
    const enum error_code rc = growing_array_reserve(&s->all_node, &s->budget, all + 1, 0,
                                                     "the nodes of a mini-batch", err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < s->type_count; t++)
        if (s->count[t])
            memcpy(s->all_node.data + s->node_begin[t], s->node[t].data,
                   s->count[t] * sizeof(uint32_t));
    return rc;
}

static enum error_code reserve_all(struct relation_sampler *s, struct error *err)
{
    static const char *const what = "the edges of a mini-batch";
    for (uint32_t r = 0; r < s->relation_count; r++) {
        s->row_begin[r + 1] = s->row_begin[r] + s->found[r].row_count;
        s->edge_begin[r + 1] = s->edge_begin[r] + s->found[r].edge_count;
    }
    const size_t rows = s->row_begin[s->relation_count], edges = s->edge_begin[s->relation_count];
    enum error_code rc = growing_array_reserve(&s->all_row, &s->budget, rows + 1, 0, what, err);
    if (rc == ERROR_NONE)
        rc = growing_array_reserve(&s->all_row_start, &s->budget, rows + s->relation_count, 0, what,
                                   err);
    if (rc == ERROR_NONE)
        rc = growing_array_reserve(&s->all_neighbor, &s->budget, edges + 1, 0, what, err);
    if (rc == ERROR_NONE && s->wants_degree)
        rc = growing_array_reserve(&s->all_degree, &s->budget, rows + 1, 0, what, err);
    return rc == ERROR_NONE && s->notes_places
               ? edge_gather_reserve(&s->gather, &s->budget, edges, 0, err)
               : rc;
}

static enum error_code join_relations(struct relation_sampler *s, struct error *err)
{
    const enum error_code rc = reserve_all(s, err);
    for (uint32_t r = 0; rc == ERROR_NONE && r < s->relation_count; r++) {
        const struct relation_found *f = &s->found[r];
        const uint32_t row = s->row_begin[r], edge = s->edge_begin[r];
        s->all_row_start.data[row + r] = 0;
        if (f->row_count == 0)
            continue;
        memcpy(s->all_row.data + row, f->row.data, f->row_count * sizeof(uint32_t));
        memcpy(s->all_row_start.data + row + r + 1, f->row_end.data,
               f->row_count * sizeof(uint32_t));
        memcpy(s->all_neighbor.data + edge, f->neighbor.data, f->edge_count * sizeof(uint32_t));
        if (s->wants_degree)
            memcpy(s->all_degree.data + row, f->degree.data, f->row_count * sizeof(uint32_t));
        if (s->notes_places)
            memcpy(edge_gather_places(&s->gather) + edge, f->place.data,
                   f->edge_count * sizeof(uint64_t));
    }
    return rc;
}

static struct mini_batch batch_of(const struct relation_sampler *s,
                                  const struct relation_request *request)
{
    return (struct mini_batch){
        .hop_count = request->hop_count,
        .type_count = s->type_count,
        .relation_count = s->relation_count,
        .seed_count = request->seed_count,
        .node_count = s->node_begin[s->type_count],
        .row_count = s->row_begin[s->relation_count],
        .edge_count = s->edge_begin[s->relation_count],
        .ends = s->ends,
        .hop_end = s->hop_end,
        .node_begin = s->node_begin,
        .node = s->all_node.data,
        .row_begin = s->row_begin,
        .edge_begin = s->edge_begin,
        .row = s->all_row.data,
        .row_start = s->all_row_start.data,
        .neighbor = s->all_neighbor.data,
        .degree = s->wants_degree ? s->all_degree.data : NULL,
    };
}

enum error_code relation_sampler_draw(struct relation_sampler *sampler,
                                      const struct relation_request *request,
                                      struct mini_batch *out, struct error *err)
{
    struct relation_sampler *s = sampler;
    struct edge_columns_view columns = {0};
    must(request->hop_count >= 1 && request->hop_count <= HOP_COUNT_MAX);
    must(request->seed_count >= 1 && request->slot < 65536);
    *out = (struct mini_batch){0};
    s->wants_degree = request->wants_degree;
    s->notes_places = false;
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++)
        s->notes_places |= s->topology->width.of[c] && request->edge_columns >> c & 1;
    forget(s);
    enum error_code rc = add_seeds(s, request, err);
    for (uint32_t t = 0; t < s->type_count; t++)
        *hop_end(s, request, t, 0) = s->count[t];
    for (int hop = 0; rc == ERROR_NONE && hop < request->hop_count; hop++)
        rc = expand_hop(s, request, hop, err);
    if (rc == ERROR_NONE)
        rc = join_nodes(s, err);
    if (rc == ERROR_NONE)
        rc = join_relations(s, err);
    if (rc == ERROR_NONE && s->notes_places)
        rc = edge_gather_fill(&s->gather, &s->budget, s->topology, request->edge_columns,
                              s->edge_begin[s->relation_count], &columns, err);
    if (rc != ERROR_NONE)
        return rc;
    *out = batch_of(s, request);
    out->columns = columns;
    return ERROR_NONE;
}
