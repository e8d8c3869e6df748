#include "stages/infer/relation_window.h"

#include <inttypes.h>
#include <string.h>

/* From partition ids to numbers in the type, of ids that ascend. */
struct numbering {
    const struct typed_window *window;
    uint32_t from, end, shift; /* nodes of the type in the part found last, and what is taken off */
};

/* False: the node is none of the type. */
static bool number_of(struct numbering *n, uint32_t node, uint32_t *out)
{
    const struct typed_window *w = n->window;
    if (node < n->from || node >= n->end) {
        if (node >= w->node_count)
            return false;
        const int part = type_ranges_part(w->ranges, node);
        n->from = type_ranges_first(w->ranges, part, w->type);
        n->end = type_ranges_first(w->ranges, part, w->type + 1);
        n->shift = n->from - w->book[part];
    }
    *out = node - n->shift;
    return node >= n->from && node < n->end;
}

static enum error_code row_is_wrong(const struct relation_window *own, uint32_t k, uint32_t found,
                                    struct error *err)
{
    return error_set(err, ERROR_CORRUPT,
                     "topology: row of node %" PRIu32 " in a relation from type %" PRIu32
                     ": expected sources of that type, ascending, found %" PRIu32,
                     own->part->first_node + own->row[k], own->source_type, found);
}

/* Gathers the edges of row k to the window, behind the *count that are there, as long as there is room. */
static enum error_code take_edges(struct relation_window *own, struct numbering *n,
                                  struct relation_piece *piece, uint32_t k, uint32_t *count,
                                  struct error *err)
{
    const struct typed_window *w = n->window;
    const uint64_t start = topology_row_start(own->part, own->row[k]);
    const uint64_t end = topology_row_start(own->part, own->row[k] + 1);
    uint64_t e = start + own->cursor[k];
    for (; e < end && *count < RELATION_PIECE_EDGES; e++) {
        const uint32_t node = *topology_neighbor(own->part, e);
        uint32_t number = 0;
        const bool is_one = number_of(n, node, &number);
        if (is_one && number >= w->end)
            break;
        if (!is_one || number < w->first)
            return row_is_wrong(own, k, node, err);
        if (own->aggregation.edge_value)
            memcpy(&piece->value[*count], topology_column(own->part, EDGE_WEIGHT, e),
                   sizeof *piece->value);
        piece->neighbor[(*count)++] = number - w->first;
    }
    own->cursor[k] = (uint32_t)(e - start);
    return ERROR_NONE;
}

/* Adds the edges of the rows from *next on, until the piece is full; *next becomes the first that may have some left. */
static enum error_code add_piece(struct relation_window *own, const struct typed_window *window,
                                 struct relation_piece *piece, uint32_t *next, uint32_t end,
                                 struct error *err)
{
    struct numbering numbering = {.window = window};
    const uint32_t first = *next;
    uint32_t count = 0, k = first;
    enum error_code rc = ERROR_NONE;
    for (; rc == ERROR_NONE && k < end && count < RELATION_PIECE_EDGES; k++) {
        piece->row_start[k - first] = count;
        rc = take_edges(own, &numbering, piece, k, &count, err);
    }
    if (rc != ERROR_NONE)
        return rc;
    piece->row_start[k - first] = count;
    const struct message_block block = {.destination_count = k - first,
                                        .source_count = window->end - window->first,
                                        .is_bipartite = true,
                                        .row_start = piece->row_start,
                                        .neighbor = piece->neighbor};
    struct aggregation aggregation = own->aggregation;
    aggregation.edge_value = own->aggregation.edge_value ? piece->value : NULL;
    aggregation_add(&aggregation, &block, &window->rows, (uint32_t)own->dim, 0, k - first,
                    own->sum + first * own->dim);
    *next = count < RELATION_PIECE_EDGES ? k : k - 1;
    return ERROR_NONE;
}

enum error_code relation_window_add(struct relation_window *relation,
                                    const struct typed_window *window, struct relation_piece *piece,
                                    uint32_t first, uint32_t end, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint32_t next = first; rc == ERROR_NONE && next < end;)
        rc = add_piece(relation, window, piece, &next, end, err);
    return rc;
}

uint32_t relation_window_place(const struct relation_window *relation, uint32_t row)
{
    uint32_t low = 0, high = relation->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (relation->row[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
