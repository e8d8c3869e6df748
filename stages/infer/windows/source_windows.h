/*
 * source_windows - the sums of a layer over sources that do not fit the memory, for many
 * destinations of a type at once.
 *
 * A layer may want the greatest of its sources instead of their sum. Attention weighs its sums by
 * shares, in each head. All rows go by once more before the sums of GAT, since shares are made of
 * them (common/nn/layers/attention/gat_windows.h). GATv2 projects rows once in a window for all destinations
 * (gatv2_windows.h), which also pays where they fit. Each kind of layer has a file in windows/.
 *
 * A tile's neighbours lie all over the graph, so reading them tile by tile reads nearly every block
 * for every tile. Here it is the other way round: as many tiles as there is room for sums are taken
 * together, and the rows of each source type go by once, window by window, for all relations that
 * begin there:
 *
 *   sources       |  window 0  |  window 1  |  window 2  | ...   read by all threads, each block once
 *   row of i      [ 3  17  29  |  31   40   |     -      | 77 ]  ascending, so each window is a stretch of it,
 *   cursor of i   0 ---------> 3 ---------> 5 ---------> 5       which begins where the last one ended
 *
 * Threads share out the destinations, and each destination's sum is made in the order of its row:
 * the bits are those of a gather, whatever the windows and the threads.
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
    struct type_inputs *inputs; /* that the layer reads */
    const float *weights;       /* [model->value_count]; of attention alone */
    int layer;                  /* from 1: one that source_windows_are_possible() for */
    uint64_t budget_bytes;
};

/* Whether layer `layer`, from 1, sums its sources as they are stored, or is GAT or GATv2. */
bool source_windows_are_possible(const struct model *model, int layer);
/* Whether all its tiles are summed so, also where rows fit, as their bits are those of no tile. */
bool source_windows_are_always(const struct model *model, int layer);
/* Rows of some type are not resident, or the layer is always summed. *out is NULL where there is no
 * room for a block; a layer that is always summed is refused then. Fails: ERROR_NO_MEMORY; of GAT
 * also as source_windows_sum(). */
MUST_CHECK enum error_code source_windows_new(const struct source_windows_config *config,
                                              struct source_windows **out, struct error *err);
void source_windows_free(struct source_windows *windows); /* NULL is fine */
/* Bytes held at most. */
uint64_t source_windows_bytes(const struct source_windows *windows);
/* Gives back the room for rows, which is most of them, until the next sums; those made last are
 * gone. */
void source_windows_rest(struct source_windows *windows);
uint64_t source_windows_resting_bytes(const struct source_windows *windows);
/* Rows that went by so far. */
uint64_t source_windows_rows(const struct source_windows *windows);

/* Sums for the whole tiles from first->first on, as many as there is room for; their rows end
 * before *summed, which is first->first when no tile is to be summed: there is no room for one, or
 * GAT is computed faster from the rows of its few sources. Rows of the type in the part end before
 * `end`, and that part of the topology is open. Fails: ERROR_UNAVAILABLE when asked to stop;
 * ERROR_CORRUPT for a block, or a row of the topology that is out of order; ERROR_NO_MEMORY, of a
 * layer that is always summed also when there is no room for a tile. */
MUST_CHECK enum error_code source_windows_sum(struct source_windows *windows,
                                              const struct inference_span *first, uint32_t end,
                                              uint32_t *summed, struct error *err);
/* Puts the sums of a tile among these into it; the tile is gathered (inference_tiles_gather()). */
void source_windows_take(struct source_windows *windows, struct inference_tile *tile);

#endif
