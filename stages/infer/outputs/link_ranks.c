#include "stages/infer/outputs/link_ranks.h"

#include "common/numbers/random.h"

#include <string.h>

enum {
    TILE_NODES = 2048,
    /* stream of RANDOM_NEGATIVE for targets, and the next one for sources; enum pair_use has the
     * lower ones */
    CANDIDATE_HOP = 3
};

struct ranking {
    const struct link_ranks *ranks;
    const struct ranked_edges *edges;
    struct link_rank *rank;
    float *query; /* [count, dim] */
    float *own;   /* [count]: scores of the edges */
    float *room;  /* [threads, tile and scratch] */
    size_t room_floats;
    const float *row; /* [row_count, dim]: current candidates */
    /* [row_count] candidates; NULL: consecutive numbers in the type, from `first` on */
    const uint32_t *node;
    uint32_t type, first, row_count;
};

static uint16_t type_of(const struct ranked_edges *edges, uint32_t edge)
{
    return edges->type ? edges->type[edge] : 0;
}

/* Returns the type of the ranked end. */
static uint32_t node_type_of(const struct link_ranks *ranks, const struct ranked_edges *edges,
                             uint32_t edge)
{
    return pair_ends_type(ranks->rows->ends, type_of(edges, edge), edges->ranked);
}

static enum pair_end query_end(const struct ranked_edges *edges)
{
    return edges->ranked == PAIR_TARGET ? PAIR_SOURCE : PAIR_TARGET;
}

static void prepare(void *context, int64_t i, int thread)
{
    struct ranking *r = context;
    const struct decoder *decoder = r->ranks->decoder;
    const size_t at = (size_t)i * decoder->dim;
    const enum pair_end end = query_end(r->edges);
    decoder->type->prepare(decoder, end, type_of(r->edges, (uint32_t)i), r->edges->row + at,
                           r->query + at);
    decoder->type->score(decoder, end, r->query + at, r->edges->own_row + at, NULL, 1, &r->own[i],
                         r->room + (size_t)thread * r->room_floats);
}

/* Returns whether the graph has sides and the node is not on the side of `end`. */
static bool is_on_other_side(const struct link_ranks *ranks, uint32_t node, uint32_t end)
{
    const struct pair_sides *sides = ranks->sides;
    return sides && sides->side[end] != PAIR_SIDE_NONE && sides->side[node] != sides->side[end];
}

static bool is_left_out(const struct ranking *r, uint32_t edge, uint32_t node)
{
    const uint32_t source = r->edges->source[edge], target = r->edges->target[edge];
    const bool ranks_target = r->edges->ranked == PAIR_TARGET;
    return node == (ranks_target ? target : source) ||
           (r->ranks->leaves_out_other && node == (ranks_target ? source : target)) ||
           is_on_other_side(r->ranks, node, ranks_target ? target : source) ||
           (r->ranks->known &&
            known_pairs_has(r->ranks->known, ranks_target ? source : node,
                            ranks_target ? node : target, type_of(r->edges, edge),
                            r->edges->time.word ? edge_time_at(r->edges->time, edge) : 0));
}

/* Scores and counts the current candidates for one edge. */
static void count_edge(struct ranking *r, uint32_t edge, int thread)
{
    const struct decoder *decoder = r->ranks->decoder;
    float *score = r->room + (size_t)thread * r->room_floats, *scratch = score + r->row_count;
    const float own = r->own[edge];
    struct link_rank *rank = &r->rank[edge];
    decoder->type->score(decoder, query_end(r->edges), r->query + (size_t)edge * decoder->dim,
                         r->row, NULL, r->row_count, score, scratch);
    for (uint32_t k = 0; k < r->row_count; k++) {
        if (score[k] < own)
            continue;
        if (is_left_out(r, edge,
                        r->node ? r->node[k]
                                : pair_ends_node(r->ranks->rows->ends, r->type, r->first + k)))
            continue;
        rank->above += score[k] > own;
        rank->equal += score[k] <= own;
    }
}

static void count_one(void *context, int64_t edge, int thread)
{
    const struct ranking *r = context;
    if (node_type_of(r->ranks, r->edges, (uint32_t)edge) == r->type)
        count_edge(context, (uint32_t)edge, thread);
}

static enum error_code begin(struct ranking *r, size_t tile, struct error *err)
{
    const struct link_ranks *ranks = r->ranks;
    const size_t dim = ranks->decoder->dim, count = r->edges->count;
    r->room_floats = tile + decoder_scratch(ranks->decoder->dim);
    memset(r->rank, 0, count * sizeof *r->rank);
    enum error_code rc = arena_new(ranks->arena, &r->query, count * dim, "queries", err);
    if (rc == ERROR_NONE)
        rc = arena_new(ranks->arena, &r->own, count, "scores", err);
    if (rc == ERROR_NONE)
        rc = arena_new(ranks->arena, &r->room,
                       (size_t)thread_pool_size(ranks->pool) * r->room_floats, "scores", err);
    if (rc == ERROR_NONE)
        thread_pool_run(ranks->pool, (int64_t)count, prepare, r);
    return rc;
}

/* Ranks the edges whose ranked end has r->type among all nodes of that type. */
static enum error_code go_through_type(struct ranking *r, float *row, struct error *err)
{
    struct link_rows *rows = r->ranks->rows;
    const uint32_t count = pair_ends_count(rows->ends, r->type);
    enum error_code rc = ERROR_NONE;
    for (r->first = 0; rc == ERROR_NONE && r->first < count; r->first += r->row_count) {
        const uint32_t left = count - r->first;
        r->row_count = left < TILE_NODES ? left : TILE_NODES;
        rc = link_rows_read(rows, r->type, r->first, r->first + r->row_count, row, err);
        if (rc == ERROR_NONE)
            thread_pool_run(r->ranks->pool, r->edges->count, count_one, r);
    }
    return rc;
}

enum error_code link_ranks_all(const struct link_ranks *ranks, const struct ranked_edges *edges,
                               struct link_rank *rank, struct error *err)
{
    struct ranking r = {.ranks = ranks, .edges = edges, .rank = rank};
    const size_t dim = ranks->decoder->dim;
    bool wanted[RELATION_TYPE_COUNT_MAX] = {false};
    float *row = NULL;
    enum error_code rc = begin(&r, TILE_NODES, err);
    if (rc == ERROR_NONE)
        rc = arena_new(ranks->arena, &row, TILE_NODES * dim, "rows of candidates", err);
    r.row = row;
    for (uint32_t edge = 0; edge < edges->count; edge++)
        wanted[node_type_of(ranks, edges, edge)] = true;
    for (r.type = 0; rc == ERROR_NONE && r.type < ranks->rows->ends->ranges.type_count; r.type++)
        if (wanted[r.type])
            rc = go_through_type(&r, row, err);
    return rc;
}

/* Draws the candidates of an edge. A node may be drawn twice. */
static void draw(const struct link_ranks *ranks, const struct ranked_edges *edges, uint32_t edge,
                 uint32_t *node)
{
    const struct pair_ends *ends = ranks->rows->ends;
    const uint32_t type = node_type_of(ranks, edges, edge);
    const bool of_target = edges->ranked == PAIR_TARGET;
    const uint32_t end = of_target ? edges->target[edge] : edges->source[edge];
    const uint32_t side = ranks->sides ? ranks->sides->side[end] : PAIR_SIDE_NONE;
    const uint32_t count =
        side != PAIR_SIDE_NONE ? ranks->sides->count[side] : pair_ends_count(ends, type);
    const struct random_stream stream =
        random_stream_of(ranks->seed, RANDOM_NEGATIVE, edges->split,
                         CANDIDATE_HOP + (edges->ranked == PAIR_SOURCE), 0);
    for (uint32_t k = 0; k < ranks->candidates; k++) {
        const uint32_t number = random_below(random_word(&stream, edges->first + edge, k), count);
        node[k] = side != PAIR_SIDE_NONE ? ranks->sides->node[side][number]
                                         : pair_ends_node(ends, type, number);
    }
}

/* Reads the rows of the `count` current candidates into `row`, and counts them for one edge. */
static enum error_code count_listed(struct ranking *r, uint32_t edge, uint32_t count, float *row,
                                    struct error *err)
{
    const enum error_code rc = link_rows_fetch(r->ranks->rows, r->node, count, row, err);
    if (rc != ERROR_NONE)
        return rc;
    r->row = row;
    r->row_count = count;
    count_edge(r, edge, 0);
    return ERROR_NONE;
}

enum error_code link_ranks_sampled(const struct link_ranks *ranks, const struct ranked_edges *edges,
                                   struct link_rank *rank, struct error *err)
{
    struct ranking r = {.ranks = ranks, .edges = edges, .rank = rank};
    float *row = NULL;
    uint32_t *node = NULL;
    enum error_code rc = begin(&r, ranks->candidates, err);
    if (rc == ERROR_NONE)
        rc = arena_new(ranks->arena, &node, ranks->candidates, "candidates", err);
    if (rc == ERROR_NONE)
        rc = arena_new(ranks->arena, &row, ranks->candidates * (size_t)ranks->decoder->dim,
                       "rows of candidates", err);
    r.node = node;
    for (uint32_t edge = 0; rc == ERROR_NONE && edge < edges->count; edge++) {
        draw(ranks, edges, edge, node);
        rc = count_listed(&r, edge, ranks->candidates, row, err);
    }
    return rc;
}

enum error_code link_ranks_given(const struct link_ranks *ranks, const struct ranked_edges *edges,
                                 const struct negative_ends *given, struct link_rank *rank,
                                 struct error *err)
{
    struct link_ranks unfiltered = *ranks;
    struct ranking r = {.ranks = &unfiltered, .edges = edges, .rank = rank};
    const uint64_t *start = given->start + edges->first;
    float *row = NULL;
    unfiltered.known = NULL;
    unfiltered.leaves_out_other = false;
    unfiltered.sides = NULL;
    enum error_code rc = begin(&r, TILE_NODES, err);
    if (rc == ERROR_NONE)
        rc = arena_new(ranks->arena, &row, TILE_NODES * (size_t)ranks->decoder->dim,
                       "rows of candidates", err);
    for (uint32_t edge = 0; rc == ERROR_NONE && edge < edges->count; edge++)
        for (uint64_t at = start[edge]; rc == ERROR_NONE && at < start[edge + 1];
             at += TILE_NODES) {
            const uint64_t left = start[edge + 1] - at;
            r.node = given->node + at;
            rc = count_listed(&r, edge, left < TILE_NODES ? (uint32_t)left : TILE_NODES, row, err);
        }
    return rc;
}
