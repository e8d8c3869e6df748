/*
 * window_kind - what kinds of layer do with the sources that go by in source_windows.c: a row and a
 * file each.
 *
 * Private to source_windows.c and the kinds.
 */
#ifndef STAGES_INFER_WINDOWS_WINDOW_KIND_H
#define STAGES_INFER_WINDOWS_WINDOW_KIND_H

#include "common/base/arena.h"
#include "common/nn/layers/attention/gat_windows.h"
#include "common/nn/layers/attention/gatv2_windows.h"
#include "common/nn/operators/aggregation.h"
#include "common/parallel/first_failure.h"
#include "stages/infer/windows/source_windows.h"
#include "store/features/feature_source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Destinations that a thread takes at a time, and edges that it gathers before their rows are
 * added. */
enum { WINDOW_TILE = 256, PIECE_EDGES = 8192 };
/* Sums lie at a multiple of this, from the end of the memory on. */
enum { WINDOW_ALIGNMENT = 64 };

/* What a thread gathers. */
struct edge_piece {
    uint32_t row_start[WINDOW_TILE + 1];
    uint32_t neighbor[PIECE_EDGES];
};

struct window_floats {
    size_t destination; /* of what is held of each: the sum and more */
    size_t source;      /* of a row in the window */
    size_t scratch;     /* of a thread */
};

/* The destinations that have rows in one relation: where blocks list rows (model_infer_types())
 * those with edges, else all. */
struct relation_window {
    const struct topology_part *part; /* NULL: the relation leads to another type */
    uint32_t source_type, columns;    /* of the rows of sources */
    size_t width;                     /* floats of a sum */
    uint32_t first, count;
    uint32_t *row;    /* [count], ascending, of the type in the part; NULL: row i is first + i */
    uint32_t *cursor; /* [count]: edges that were added */
    float *sum;       /* [count, width] */
};

static inline uint32_t relation_window_row(const struct relation_window *own, uint32_t i)
{
    return own->row ? own->row[i] : own->first + i;
}

static inline float *relation_window_sum(const struct relation_window *own, uint32_t i)
{
    return own->sum + i * own->width;
}

struct window_kind {
    bool (*is_possible)(const struct model *model, int layer); /* from 0 */
    bool always; /* also where the rows that the layer reads are resident */
    /* Whether a tile of that many destinations is to be summed, which hear from so many sources,
     * [types], themselves among them. NULL: all are. */
    bool (*takes)(const struct source_windows *w, uint32_t destinations, const uint32_t *sources);
    /* For sources of `columns`. */
    struct window_floats (*floats)(const struct source_windows *w, uint32_t columns);
    /* Bytes held beside: of all, and of a source in the window. */
    uint64_t (*bytes)(const struct source_windows *w);
    uint64_t (*source_bytes)(const struct source_windows *w);
    /* Once, before the first sums. Fails as source_windows_new(). */
    enum error_code (*open)(struct source_windows *w, struct error *err);
    void (*release)(struct source_windows *w);
    /* When destinations were chosen; NULL: nothing is wanted of them ahead. */
    enum error_code (*begin)(struct source_windows *w, struct error *err);
    /* Body of a loop over the blocks of the window: reads one. */
    thread_pool_body read;
    /* When all are read, for each relation that begins there; NULL: that is all. */
    enum error_code (*arrive)(struct source_windows *w, struct error *err);
    /* Adds the edges of rows first .. end - 1 of the relation at work that come from the window. */
    void (*add)(struct source_windows *w, int thread, uint32_t first, uint32_t end);
};

extern const struct window_kind sum_window_kind, gat_window_kind, gatv2_window_kind;

struct source_windows {
    struct source_windows_config config;
    const struct inference_tiles_config *of;
    const struct window_kind *kind;
    const struct model_layer *layer;
    int layer_number; /* from 0 */
    bool lists_rows;
    struct type_ranges ranges;
    uint32_t relation_count;
    struct relation_window *relation; /* [relation_count] */
    const float **tile_sum;           /* [relation_count]: of the tile taken last */

    /* Memory: */
    uint64_t beside_bytes, least_window, sums_room; /* the last one of `memory` */
    char *memory; /* the window, and from the end sums, cursors and rows; mapped */
    size_t memory_bytes, sums_bytes;
    uint32_t source_room;   /* sources that a window has at most */
    uint32_t longest_block; /* and at least */
    float *window;
    float *scratch; /* [threads, scratch_floats] */
    size_t scratch_floats;
    uint32_t *block_end;      /* [source_room]: of the blocks of the window */
    struct edge_piece *piece; /* [threads] */

    /* Of layers that sum: */
    uint32_t *degree;   /* [source_room], where the layer asks for it */
    float *value_sum;   /* likewise */
    float *value;       /* [threads, PIECE_EDGES]: where edges count by their weights; else NULL */
    struct arena arena; /* the weights of a window's sources */
    struct aggregation aggregation; /* of the relation at work */
    /* Of attention: */
    struct gat_windows *gat; /* [relation_count] */
    struct gatv2_windows gatv2;

    /* The call: */
    uint32_t type, begin; /* of the destinations, and its first number in their part */
    uint32_t first, end;  /* destinations, as numbers in their type */
    uint32_t at_work;     /* the relation */
    /* Its window, numbers of a type: */
    uint32_t source_type, window_first, window_end;
    struct input_rows rows; /* row 0 is that of window_first */
    uint32_t block_count;
    uint32_t held_type; /* the window holds all rows of this type; UINT32_MAX: of none */
    uint32_t weighed;   /* and `aggregation` is of it for this relation; likewise */
    uint64_t rows_read;
    struct first_failure failure; /* of its threads */
};

static inline struct relation_window *window_relation(const struct source_windows *w)
{
    return &w->relation[w->at_work];
}

static inline float *window_scratch(const struct source_windows *w, int thread)
{
    return w->scratch + (size_t)thread * w->scratch_floats;
}

static inline uint32_t window_block_first(const struct source_windows *w, int64_t block)
{
    return block ? w->block_end[block - 1] : w->window_first;
}

static inline float *window_row(const struct source_windows *w, uint32_t number)
{
    return w->window + (number - w->window_first) * w->rows.stride;
}

/* A loop of the threads that may fail through w->failure. */
MUST_CHECK enum error_code window_run(struct source_windows *w, int64_t count,
                                      thread_pool_body body, struct error *err);
/* As many whole blocks of w->source_type from `first` on as there is room for. */
void window_place(struct source_windows *w, uint32_t first);
/* How many rows of that type there is room for. */
uint32_t window_room(const struct source_windows *w);
/* Reads the input rows of numbers first .. end - 1 of that type; false: that failed, and is kept in
 * w->failure as tile `tile`. */
bool window_read_rows(struct source_windows *w, uint32_t first, uint32_t end, int64_t tile,
                      float *out);
/* How many nodes a type has. */
uint32_t window_nodes(const struct source_windows *w, uint32_t type);
/* The window is of this type from now on. */
void window_begin_type(struct source_windows *w, uint32_t type);
/* Counts rows that went by. */
void window_count_rows(struct source_windows *w, uint32_t type, uint32_t count);

static inline uint64_t window_smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* --- destinations (window_rows.c) --- */

/* Bytes of a sum of rows of `columns`, with its cursor and which row it is of. */
uint64_t window_row_bytes(const struct source_windows *w, uint32_t columns);
/* The error of a layer that is always summed, where `count` rows of `bytes` have no room. */
enum error_code window_has_no_room(const struct source_windows *w, uint32_t count, uint64_t bytes,
                                   struct error *err);
/* As many whole tiles from `first` on as have room beside the longest block: their rows end before
 * *summed, and what they have in all relations takes *bytes, a multiple of WINDOW_ALIGNMENT. Fails
 * as source_windows_sum(). */
MUST_CHECK enum error_code window_rows_choose(struct source_windows *w,
                                              const struct inference_span *first, uint32_t end,
                                              uint32_t *summed, uint64_t *bytes, struct error *err);
/* Gives the rows first .. end - 1 of each relation, of which nothing is added yet, their places in
 * the last sums_bytes. */
void window_rows_place(struct source_windows *w, uint32_t first, uint32_t end);

/* The place of the first row of the relation that is at least `row`. */
uint32_t window_rows_place_of(const struct relation_window *own, uint32_t row);

/* --- edges of a destination (edge_pieces.c) --- */

/* From partition ids, which ascend, to numbers in the type of the window. {0} begins. */
struct window_numbers {
    uint32_t from, end, shift; /* nodes of the type in the part found last, and what is taken off */
};

/* Gathers the edges of row i to the window, from its cursor on, behind the *count that are there,
 * as rows of the window, as long as *count is below PIECE_EDGES; `value` gets their weights, unless
 * it is NULL. */
void edge_piece_take(struct source_windows *w, struct window_numbers *numbers,
                     struct edge_piece *piece, float *value, uint32_t i, uint32_t *count);

/* A walk over all edges of a destination, or those to the window, without those from itself, for
 * attention. */
struct edge_walk {
    struct source_windows *w;
    const struct relation_window *own;
    struct edge_piece *piece; /* of the thread */
    float *feature;           /* [WINDOW_EDGES_MAX, edge_dim]; NULL: features are not read */
    uint32_t i, node;
    struct window_numbers numbers;
    uint64_t at, end;    /* edges of the part */
    uint32_t from;       /* sources are counted from it */
    uint32_t source_end; /* and end there */
    bool moves_cursor;
    bool own_is_due;           /* i itself is to be taken, in its place among the sources, */
    const float *own_feature;  /* with these [edge_dim] */
    struct window_edges edges; /* that were taken last */
};

/* Begins a walk over all edges. */
struct edge_walk edge_walk_all(struct source_windows *w, int thread, uint32_t i, float *feature);
/* Begins one over those to the window, from the cursor on, which it moves. */
struct edge_walk edge_walk_window(struct source_windows *w, int thread, uint32_t i, float *feature);
/* The next at most WINDOW_EDGES_MAX edges into walk->edges; false: there are none. */
bool edge_walk_next(struct edge_walk *walk);

#endif
