#include "stages/infer/windows/window_kind.h"

#include <inttypes.h>
#include <string.h>

static void row_is_wrong(struct source_windows *w, uint32_t node, uint32_t found)
{
    struct error err = {0};
    const enum error_code rc =
        error_set(&err, ERROR_CORRUPT,
                  "topology: row of node %" PRIu32 ": expected sources below %" PRIu32
                  ", ascending, found %" PRIu32,
                  node, w->node_count, found);
    first_failure_keep(&w->failure, rc, node, &err);
}

bool edge_piece_take(struct source_windows *w, struct edge_piece *piece, float *value, uint32_t i,
                     bool skips_loops, uint32_t *count)
{
    const uint32_t node = w->first + i, row = node - w->part->first_node;
    const uint64_t start = topology_row_start(w->part, row);
    const uint64_t end = topology_row_start(w->part, row + 1);
    uint64_t e = start + w->cursor[i];
    for (; e < end; e++) {
        const uint32_t source = *topology_neighbor(w->part, e);
        if (source >= w->window_end)
            break;
        if (source < w->window_first) {
            row_is_wrong(w, node, source);
            break;
        }
        if (*count == PIECE_EDGES)
            break;
        if (skips_loops && source == node)
            continue;
        if (value)
            memcpy(&value[*count], topology_column(w->part, EDGE_WEIGHT, e), sizeof *value);
        piece->neighbor[(*count)++] = source - w->window_first;
    }
    w->cursor[i] = (uint32_t)(e - start);
    return *count < PIECE_EDGES;
}

struct edge_walk edge_walk_all(struct source_windows *w, int thread, uint32_t i, float *feature)
{
    const uint32_t node = w->first + i, row = node - w->part->first_node;
    return (struct edge_walk){.w = w,
                              .piece = &w->piece[thread],
                              .feature = feature,
                              .i = i,
                              .node = node,
                              .at = topology_row_start(w->part, row),
                              .end = topology_row_start(w->part, row + 1),
                              .source_end = w->node_count};
}

struct edge_walk edge_walk_window(struct source_windows *w, int thread, uint32_t i, float *feature)
{
    struct edge_walk walk = edge_walk_all(w, thread, i, feature);
    walk.at += w->cursor[i];
    walk.moves_cursor = true;
    walk.from = w->window_first;
    walk.source_end = w->window_end;
    return walk;
}

static void take(struct edge_walk *walk, uint32_t source, const void *feature)
{
    const size_t dim = walk->w->layer->edge_dim;
    if (walk->feature)
        memcpy(walk->feature + walk->edges.count * dim, feature, dim * sizeof(float));
    walk->piece->neighbor[walk->edges.count++] = source - walk->from;
}

/* The source of the walk's next edge; behind the last one more than any. */
static uint32_t next_source(const struct edge_walk *walk)
{
    return walk->at < walk->end ? *topology_neighbor(walk->w->part, walk->at) : UINT32_MAX;
}

/* Takes one edge, passes one that is skipped, or takes the destination itself; false: it is over. */
static bool step(struct edge_walk *walk)
{
    const struct topology_part *part = walk->w->part;
    const uint32_t source = next_source(walk);
    if (walk->own_is_due && source >= walk->node) {
        take(walk, walk->node, walk->own_feature);
        walk->own_is_due = false;
        return true;
    }
    if (source >= walk->source_end || source < walk->from) {
        if (walk->at < walk->end && (source < walk->from || source >= walk->w->node_count))
            row_is_wrong(walk->w, walk->node, source);
        return false;
    }
    if (source != walk->node)
        take(walk, source, walk->feature ? topology_column(part, EDGE_FEATURE, walk->at) : NULL);
    walk->at++;
    return true;
}

bool edge_walk_next(struct edge_walk *walk)
{
    const struct topology_part *part = walk->w->part;
    walk->edges = (struct window_edges){.source = walk->piece->neighbor, .feature = walk->feature};
    while (walk->edges.count < WINDOW_EDGES_MAX && step(walk))
        ;
    if (walk->moves_cursor)
        walk->w->cursor[walk->i] =
            (uint32_t)(walk->at - topology_row_start(part, walk->node - part->first_node));
    return walk->edges.count > 0;
}
