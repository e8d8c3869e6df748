#include "stages/infer/windows/window_kind.h"

#include <inttypes.h>
#include <string.h>

static void row_is_wrong(struct source_windows *w, uint32_t node, uint32_t found)
{
    struct error err = {0};
    const enum error_code rc =
        error_set(&err, ERROR_CORRUPT,
                  "topology: row of node %" PRIu32
                  ": expected sources of type %s, ascending, of %" PRIu32 " nodes, found %" PRIu32,
                  node, partition_book_type_name(w->of->context->book, w->source_type),
                  w->of->topology->node_count, found);
    first_failure_keep(&w->failure, rc, node, &err);
}

/* Converts a node to its number. Returns false if it does not have the type of the window. The
 * last range is kept in *n, because sources ascend and mostly stay in one part. */
static bool number_of(const struct source_windows *w, struct window_numbers *n, uint32_t node,
                      uint32_t *out)
{
    if (node < n->from || node >= n->end) {
        if (node >= w->of->topology->node_count)
            return false;
        if (w->ranges.type_count == 1)
            *n = (struct window_numbers){.end = w->of->topology->node_count};
    }
    if (node < n->from || node >= n->end) {
        const int part = type_ranges_part(&w->ranges, node);
        n->from = type_ranges_first(&w->ranges, part, w->source_type);
        n->end = type_ranges_first(&w->ranges, part, w->source_type + 1);
        n->shift = n->from - type_inputs_book(w->config.inputs, w->source_type)[part];
    }
    *out = node - n->shift;
    return node >= n->from && node < n->end;
}

void edge_piece_take(struct source_windows *w, struct window_numbers *numbers,
                     struct edge_piece *piece, float *value, uint32_t i, uint32_t *count)
{
    const struct relation_window *own = window_relation(w);
    const uint32_t row = relation_window_row(own, i), node = own->part->first_node + row;
    const uint64_t start = topology_row_start(own->part, row);
    const uint64_t end = topology_row_start(own->part, row + 1);
    const bool skips_loops = w->aggregation.skip_self_loops;
    uint64_t e = start + own->cursor[i];
    for (; e < end && *count < PIECE_EDGES; e++) {
        const uint32_t source = *topology_neighbor(own->part, e);
        uint32_t number = 0;
        const bool is_one = number_of(w, numbers, source, &number);
        if (is_one && number >= w->window_end)
            break;
        if (!is_one || number < w->window_first) {
            row_is_wrong(w, node, source);
            break;
        }
        if (skips_loops && source == node)
            continue;
        if (value)
            memcpy(&value[*count], topology_column(own->part, EDGE_WEIGHT, e), sizeof *value);
        piece->neighbor[(*count)++] = number - w->window_first;
    }
    own->cursor[i] = (uint32_t)(e - start);
}

struct edge_walk edge_walk_all(struct source_windows *w, int thread, uint32_t i, float *feature)
{
    const struct relation_window *own = window_relation(w);
    const uint32_t row = relation_window_row(own, i);
    return (struct edge_walk){.w = w,
                              .own = own,
                              .piece = &w->piece[thread],
                              .feature = feature,
                              .i = i,
                              .node = own->part->first_node + row,
                              .at = topology_row_start(own->part, row),
                              .end = topology_row_start(own->part, row + 1),
                              .source_end = w->of->topology->node_count};
}

struct edge_walk edge_walk_window(struct source_windows *w, int thread, uint32_t i, float *feature)
{
    struct edge_walk walk = edge_walk_all(w, thread, i, feature);
    walk.at += walk.own->cursor[i];
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

/* Returns the number of the source of the next edge; UINT32_MAX after the last edge, and for a
 * node of another type. */
static uint32_t next_source(struct edge_walk *walk)
{
    uint32_t number = UINT32_MAX;
    if (walk->at < walk->end &&
        !number_of(walk->w, &walk->numbers, *topology_neighbor(walk->own->part, walk->at), &number))
        number = UINT32_MAX;
    return number;
}

/* Takes one edge, skips one, or takes the destination itself. Returns false at the end. */
static bool step(struct edge_walk *walk)
{
    const struct topology_part *part = walk->own->part;
    const uint32_t source = next_source(walk);
    if (walk->own_is_due && source >= walk->node) {
        take(walk, walk->node, walk->own_feature);
        walk->own_is_due = false;
        return true;
    }
    if (source >= walk->source_end || source < walk->from) {
        if (walk->at < walk->end && (source < walk->from || source == UINT32_MAX))
            row_is_wrong(walk->w, walk->node, *topology_neighbor(part, walk->at));
        return false;
    }
    if (source != walk->node || walk->w->lists_rows)
        take(walk, source, walk->feature ? topology_column(part, EDGE_FEATURE, walk->at) : NULL);
    walk->at++;
    return true;
}

bool edge_walk_next(struct edge_walk *walk)
{
    const struct topology_part *part = walk->own->part;
    walk->edges = (struct window_edges){.source = walk->piece->neighbor, .feature = walk->feature};
    while (walk->edges.count < WINDOW_EDGES_MAX && step(walk))
        ;
    if (walk->moves_cursor)
        walk->own->cursor[walk->i] =
            (uint32_t)(walk->at - topology_row_start(part, walk->node - part->first_node));
    return walk->edges.count > 0;
}
