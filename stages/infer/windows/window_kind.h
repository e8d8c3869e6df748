/*
 * window_kind - the interface between source_windows.c and the kinds of layers: a struct of
 * functions for each kind, in its own file.
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

/* Destinations that a thread processes at a time, and edges that it gathers before their rows
 * are added. */
enum { WINDOW_TILE = 256, PIECE_EDGES = 8192 };
/* Sums lie at multiples of this, towards the end of the memory. */
enum { WINDOW_ALIGNMENT = 64 };

/* The edges that a thread has gathered. */
struct edge_piece {
    uint32_t row_start[WINDOW_TILE + 1];
    uint32_t neighbor[PIECE_EDGES];
};

struct window_floats {
    size_t destination; /* for each destination: the sum and more */
    size_t source;      /* of a row in the window */
    size_t scratch;     /* for each thread */
};

/* The destinations that have rows in one relation: those with edges if blocks list rows
 * (model_infer_types()), otherwise all. */
struct relation_window {
    const struct topology_part *part; /* NULL: the relation ends in another type */
    uint32_t source_type, columns;    /* `columns`: of the rows of sources */
    size_t width;                     /* floats of a sum */
    uint32_t first, count;
    uint32_t *row;    /* [count], ascending, of the type in the part; NULL: row i is first + i */
    uint32_t *cursor; /* [count]: edges added so far */
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
    bool always; /* sums are used even if the rows that the layer reads are resident */
    /* Returns whether to sum a tile of `destinations` nodes with sources [types], which include
     * the destinations. NULL: every tile is summed. */
    bool (*takes)(const struct source_windows *w, uint32_t destinations, const uint32_t *sources);
    /* Returns the floats needed for sources of `columns`. */
    struct window_floats (*floats)(const struct source_windows *w, uint32_t columns);
    /* Return the bytes held in addition: in all, and for each source in the window. */
    uint64_t (*bytes)(const struct source_windows *w);
    uint64_t (*source_bytes)(const struct source_windows *w);
    /* Called once, before the first sums. Fails as source_windows_new(). */
    enum error_code (*open)(struct source_windows *w, struct error *err);
    void (*release)(struct source_windows *w);
    /* Called when destinations were chosen; NULL: nothing to do. */
    enum error_code (*begin)(struct source_windows *w, struct error *err);
    /* Reads one block; body of a loop over the blocks of the window. */
    thread_pool_body read;
    /* Called when all blocks are read, for each relation that begins there; NULL: nothing to do. */
    enum error_code (*arrive)(struct source_windows *w, struct error *err);
    /* Adds the edges of rows first .. end - 1 of the current relation that come from the window. */
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
    const float **tile_sum;           /* [relation_count]: sums of the last tile taken */

    /* --- memory --- */
    uint64_t beside_bytes, least_window, sums_room; /* sums_room: bytes of `memory` for sums */
    char *memory; /* mapped; begins with the window, ends with sums, cursors and rows */
    size_t memory_bytes, sums_bytes;
    uint32_t source_room;   /* most sources in a window */
    uint32_t longest_block; /* fewest sources that a window must hold */
    float *window;
    float *scratch; /* [threads, scratch_floats] */
    size_t scratch_floats;
    uint32_t *block_end;      /* [source_room]: ends of the blocks of the window */
    struct edge_piece *piece; /* [threads] */

    /* --- for layers that sum --- */
    uint32_t *degree;   /* [source_room], if the layer needs it */
    float *value_sum;   /* [source_room], if the layer needs it */
    float *value;       /* [threads, PIECE_EDGES] if edges have weights, otherwise NULL */
    struct arena arena; /* the weights of a window's sources */
    struct aggregation aggregation; /* of the current relation */
    /* --- for attention --- */
    struct gat_windows *gat; /* [relation_count] */
    struct gatv2_windows gatv2;

    /* --- the current call --- */
    uint32_t type, begin; /* of the destinations: their type, and its first number in their part */
    uint32_t first, end;  /* destinations, as numbers in their type */
    uint32_t at_work;     /* current relation */
    /* The current window, as numbers of a type. */
    uint32_t source_type, window_first, window_end;
    struct input_rows rows; /* row 0 is the row of window_first */
    uint32_t block_count;
    uint32_t held_type; /* the window holds all rows of this type; UINT32_MAX: of no type */
    /* `aggregation` has the weights of that window for this relation; UINT32_MAX: of none */
    uint32_t weighed;
    uint64_t rows_read;
    struct first_failure failure; /* first failure of the threads */
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

/* Runs a loop of the threads, which may fail through w->failure. */
MUST_CHECK enum error_code window_run(struct source_windows *w, int64_t count,
                                      thread_pool_body body, struct error *err);
/* Places whole blocks of w->source_type in the window, from `first` on, as many as there is room
 * for. */
void window_place(struct source_windows *w, uint32_t first);
/* Returns how many rows of that type there is room for. */
uint32_t window_room(const struct source_windows *w);
/* Reads the input rows of numbers first .. end - 1 of that type. Returns false after a failure,
 * which is kept in w->failure as tile `tile`. */
bool window_read_rows(struct source_windows *w, uint32_t first, uint32_t end, int64_t tile,
                      float *out);
/* Returns the number of nodes of a type. */
uint32_t window_nodes(const struct source_windows *w, uint32_t type);
/* Makes the window one of this type. */
void window_begin_type(struct source_windows *w, uint32_t type);
/* Counts rows that were read. */
void window_count_rows(struct source_windows *w, uint32_t type, uint32_t count);

static inline uint64_t window_smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* --- destinations (window_rows.c) --- */

/* Returns the bytes of a sum of rows of `columns`, with its cursor and its row number. */
uint64_t window_row_bytes(const struct source_windows *w, uint32_t columns);
/* Sets the error of a layer that is always summed, if there is no room for `count` rows of
 * `bytes`. */
enum error_code window_has_no_room(const struct source_windows *w, uint32_t count, uint64_t bytes,
                                   struct error *err);
/* Chooses as many whole tiles from `first` on as fit beside the longest block. Their rows end
 * before *summed, and their memory in all relations takes *bytes, a multiple of
 * WINDOW_ALIGNMENT. Fails as source_windows_sum(). */
MUST_CHECK enum error_code window_rows_choose(struct source_windows *w,
                                              const struct inference_span *first, uint32_t end,
                                              uint32_t *summed, uint64_t *bytes, struct error *err);
/* Places the rows first .. end - 1 of each relation in the last sums_bytes. Nothing is added to
 * them yet. */
void window_rows_place(struct source_windows *w, uint32_t first, uint32_t end);

/* Returns the place of the first row of the relation that is at least `row`. */
uint32_t window_rows_place_of(const struct relation_window *own, uint32_t row);

/* --- edges of a destination (edge_pieces.c) --- */

/* Converts ascending partition ids to numbers in the type of the window. {0} begins. */
struct window_numbers {
    /* nodes of the type in the part found last; id minus `shift` is the number */
    uint32_t from, end, shift;
};

/* Gathers the edges of row i from sources in the window, from its cursor on, while *count is
 * below PIECE_EDGES. Appends them after *count edges, as rows of the window. `value` receives
 * their weights unless it is NULL. */
void edge_piece_take(struct source_windows *w, struct window_numbers *numbers,
                     struct edge_piece *piece, float *value, uint32_t i, uint32_t *count);

/* A walk over all edges of a destination, or those from the window, without the edge from
 * itself; for attention. */
struct edge_walk {
    struct source_windows *w;
    const struct relation_window *own;
    struct edge_piece *piece; /* of the thread */
    float *feature;           /* [WINDOW_EDGES_MAX, edge_dim]; NULL: features are not read */
    uint32_t i, node;
    struct window_numbers numbers;
    uint64_t at, end;    /* edges of the part */
    uint32_t from;       /* subtracted from the numbers of sources */
    uint32_t source_end; /* sources end before it */
    bool moves_cursor;
    bool own_is_due; /* whether i itself is still to be taken, in its place among the sources */
    const float *own_feature;  /* [edge_dim]: features of i itself */
    struct window_edges edges; /* the edges taken last */
};

/* Begins a walk over all edges. */
struct edge_walk edge_walk_all(struct source_windows *w, int thread, uint32_t i, float *feature);
/* Begins a walk over the edges from the window. It starts at the cursor and moves it. */
struct edge_walk edge_walk_window(struct source_windows *w, int thread, uint32_t i, float *feature);
/* Takes the next at most WINDOW_EDGES_MAX edges into walk->edges. Returns false if there are
 * none. */
bool edge_walk_next(struct edge_walk *walk);

#endif
