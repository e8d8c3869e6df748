/*
 * window_kind - what kinds of layer do with the sources that go by in source_windows.c: a row and a file each.
 *
 * Private to source_windows.c and the kinds.
 */
#ifndef STAGES_INFER_WINDOWS_WINDOW_KIND_H
#define STAGES_INFER_WINDOWS_WINDOW_KIND_H

#include "common/base/arena.h"
#include "common/nn/layers/gat_windows.h"
#include "common/nn/layers/gatv2_windows.h"
#include "common/nn/operators/aggregation.h"
#include "common/parallel/first_failure.h"
#include "stages/infer/source_windows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Destinations that a thread takes at a time, and edges that it gathers before their rows are added. */
enum { WINDOW_TILE = 256, PIECE_EDGES = 8192 };

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

struct window_kind {
    bool (*is_possible)(const struct model *model, int layer);
    /* Whether all tiles of the layer are summed, whatever their shape; else source_windows_take() says which. */
    bool sums_all;
    bool always; /* also where the rows that the layer reads are resident */
    struct window_floats (*floats)(const struct source_windows *w);
    /* Bytes held beside: of all, and of a source in the window. */
    uint64_t (*bytes)(const struct source_windows *w);
    uint64_t (*source_bytes)(const struct source_windows *w);
    /* Once, before the first sums. Fails as source_windows_new(). */
    enum error_code (*open)(struct source_windows *w, struct error *err);
    void (*release)(struct source_windows *w);
    /* When destinations were chosen; NULL: nothing is wanted of them ahead. Counts rows read in *row_count. */
    enum error_code (*begin)(struct source_windows *w, uint64_t *row_count, struct error *err);
    /* Body of a loop over the blocks of the window: reads one (window_read_block()). */
    thread_pool_body read;
    /* When all are read; NULL: that is all. */
    enum error_code (*arrive)(struct source_windows *w, struct error *err);
    /* Adds the edges of destinations first .. end - 1, counted from w->first, that come from the window. */
    void (*add)(struct source_windows *w, int thread, uint32_t first, uint32_t end);
};

extern const struct window_kind sum_window_kind, gat_window_kind, gatv2_window_kind;

struct source_windows {
    struct source_windows_config config;
    const struct window_kind *kind;
    const struct model_layer *layer;
    uint32_t dim, node_count;
    struct window_floats floats;
    uint64_t rows_ahead; /* read before the first sums, and not counted yet */
    uint32_t destination_room, window_room, block_room;
    char *memory; /* the sums and the window, mapped */
    size_t memory_bytes;
    float *sum;               /* [destination_room, floats.destination] */
    float *window;            /* [window_room, floats.source] */
    float *scratch;           /* [threads, floats.scratch] */
    uint32_t *cursor;         /* [destination_room]: edges of each row that were added */
    uint32_t *block_end;      /* [block_room]: of the blocks of the window */
    struct edge_piece *piece; /* [threads] */

    /* Of layers that sum: */
    uint32_t *degree;   /* [window_room], where the layer asks for it */
    float *value_sum;   /* likewise */
    float *value;       /* [threads, PIECE_EDGES]: where edges count by their weights; else NULL */
    struct arena arena; /* the weights of a window's sources */
    struct aggregation aggregation;
    /* Of attention: */
    struct gat_windows gat;
    struct gatv2_windows gatv2;

    /* The call, and its window: */
    const struct topology_part *part;
    uint32_t first, end;               /* destinations */
    uint32_t window_first, window_end; /* sources */
    uint32_t block_count;
    bool is_read; /* the window holds their rows */

    struct first_failure failure; /* of its threads */
};

static inline float *window_sum(const struct source_windows *w, uint32_t i)
{
    return w->sum + i * w->floats.destination;
}

static inline float *window_scratch(const struct source_windows *w, int thread)
{
    return w->scratch + (size_t)thread * w->floats.scratch;
}

static inline uint32_t window_block_first(const struct source_windows *w, int64_t block)
{
    return block ? w->block_end[block - 1] : w->window_first;
}

static inline float *window_row(const struct source_windows *w, uint32_t node)
{
    return w->window + (node - w->window_first) * w->floats.source;
}

/* A loop of the threads that may fail through w->failure. */
MUST_CHECK enum error_code window_run(struct source_windows *w, int64_t count,
                                      thread_pool_body body, struct error *err);
/* As many whole blocks from `first` on as there is room for. */
void window_place(struct source_windows *w, uint32_t first);
/* Reads the input rows of nodes first .. end - 1; false: that failed, and is kept in w->failure as tile `tile`. */
bool window_read_rows(struct source_windows *w, uint32_t first, uint32_t end, int64_t tile,
                      float *out);

/* --- edges of a destination (edge_pieces.c) --- */

/* Gathers the edges of destination i to the window, from its cursor on, behind the `count` that are there, as rows of the
 * window; `value` gets their weights, unless it is NULL. False: there is no more room. */
bool edge_piece_take(struct source_windows *w, struct edge_piece *piece, float *value, uint32_t i,
                     bool skips_loops, uint32_t *count);

/* A walk over all edges of a destination, or those to the window, without those from itself, for attention. */
struct edge_walk {
    struct source_windows *w;
    struct edge_piece *piece; /* of the thread */
    float *feature;           /* [WINDOW_EDGES_MAX, edge_dim]; NULL: features are not read */
    uint32_t i, node;
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
