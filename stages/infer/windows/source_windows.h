/*
 * source_windows - sums the sources of many destinations of a type at once, for a layer whose
 * sources do not fit in memory.
 *
 * Some layers need the maximum of their sources instead of the sum. Attention weighs its sums by
 * shares, in each head. GAT reads all rows once more before it sums, because the shares are
 * computed from them (common/nn/layers/attention/gat_windows.h). GATv2 projects each row once in a
 * window for all destinations (gatv2_windows.h), which pays even if the rows fit. Each kind of
 * layer has a file in windows/.
 *
 * A tile's neighbours lie all over the graph, so reading them tile by tile reads nearly every
 * block for every tile. Here the loops are exchanged: as many tiles as there is room for sums are
 * processed together, and the rows of each source type are read once, window by window, for all
 * relations that begin there:
 *
 *   sources       |  window 0  |  window 1  |  window 2  | ...  read by all threads, blocks once
 *   row of i      [ 3  17  29  |  31   40   |     -      | 77 ] ascending: a window is a stretch
 *   cursor of i   0 ---------> 3 ---------> 5 ---------> 5      where the next window begins
 *
 * Threads divide the destinations, and each destination's sum is computed in the order of its row.
 * So the bits are those of a gather, for any windows and threads.
 */
#ifndef STAGES_INFER_WINDOWS_SOURCE_WINDOWS_H
#define STAGES_INFER_WINDOWS_SOURCE_WINDOWS_H

#include "common/base/error.h"
#include "common/nn/model.h"
#include "stages/infer/rows/inference_tile.h"
#include "stages/infer/rows/type_inputs.h"

#include <stdbool.h>
#include <stdint.h>

struct source_windows;

struct source_windows_config { /* borrowed until source_windows_free() */
    struct inference_tiles *tiles;
    struct type_inputs *inputs; /* the rows that the layer reads */
    const float *weights;       /* [model->value_count]; for attention only */
    int layer;                  /* from 1; source_windows_are_possible() for it */
    uint64_t budget_bytes;
};

/* Returns whether layer `layer`, from 1, sums its sources as they are stored, or is GAT or
 * GATv2. */
bool source_windows_are_possible(const struct model *model, int layer);
/* Returns whether all tiles of the layer are summed in windows even if rows fit, because their
 * bits differ from those of a tile. */
bool source_windows_are_always(const struct model *model, int layer);
/* Creates *out. Rows of some type must not be resident, or the layer must always be summed. *out
 * stays NULL if there is no room for a block; a layer that is always summed then fails. Fails:
 * ERROR_NO_MEMORY; for GAT also as source_windows_sum(). */
MUST_CHECK enum error_code source_windows_new(const struct source_windows_config *config,
                                              struct source_windows **out, struct error *err);
void source_windows_free(struct source_windows *windows); /* NULL is fine */
/* Returns the most bytes that are held. */
uint64_t source_windows_bytes(const struct source_windows *windows);
/* Frees the memory for rows, which is most of it, until the next sums. The last sums are lost. */
void source_windows_rest(struct source_windows *windows);
uint64_t source_windows_resting_bytes(const struct source_windows *windows);
/* Returns the number of rows that were read so far. */
uint64_t source_windows_rows(const struct source_windows *windows);

/* Sums the sources of whole tiles from first->first on, as many as there is room for. Their rows
 * end before *summed. *summed is first->first if no tile is summed: there is no room for one, or
 * GAT is faster with the rows of its few sources. The rows of the type in the part end before
 * `end`, and that part of the topology must be open. Fails: ERROR_UNAVAILABLE when asked to
 * stop; ERROR_CORRUPT for a block, or a row of the topology that is out of order;
 * ERROR_NO_MEMORY, also if a layer that is always summed has no room for a tile. */
MUST_CHECK enum error_code source_windows_sum(struct source_windows *windows,
                                              const struct inference_span *first, uint32_t end,
                                              uint32_t *summed, struct error *err);
/* Puts the sums of a tile into it. The tile is among those summed last, and was gathered
 * (inference_tiles_gather()). */
void source_windows_take(struct source_windows *windows, struct inference_tile *tile);

#endif
