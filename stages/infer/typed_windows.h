/*
 * typed_windows - the sums of a layer over relations, for many destinations of a type at once, where the rows of their sources do not fit.
 *
 * What source_windows.h is of a graph with one type of nodes: as many tiles are taken together as there is room for sums, and the
 * rows of each source type go by once, window by window, for all relations that begin there. So a block is read once for all
 * those tiles, where tile by tile nearly every block is read for every tile.
 *
 *   rows of authors  | window 0 | window 1 | ...      writes: author -> paper    sums of the papers that have such edges
 *   rows of papers   | window 0 | ...                 cites: paper -> paper      likewise, and so on
 *
 * Only rows that have edges of a relation have a sum in it. Each is made in the order of its row: the bits are those of a gather,
 * whatever the windows and the threads.
 */
#ifndef STAGES_INFER_TYPED_WINDOWS_H
#define STAGES_INFER_TYPED_WINDOWS_H

#include "common/base/error.h"
#include "stages/infer/type_inputs.h"
#include "stages/infer/typed_tiles.h"

#include <stdbool.h>
#include <stdint.h>

struct typed_windows;

struct typed_windows_config { /* borrowed */
    const struct typed_tiles *tiles;
    struct type_inputs *inputs; /* that the layer reads */
    int layer;                  /* from 1 */
    uint64_t budget_bytes;
};

/* Whether the layer sums the rows that it reads, as they are stored: not those that are projected first. */
bool typed_windows_are_possible(const struct model *model, int layer);
/* Owns: *out; typed_windows_free(). Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code typed_windows_new(const struct typed_windows_config *config,
                                             struct typed_windows **out, struct error *err);
void typed_windows_free(struct typed_windows *windows); /* NULL is fine */

/* Sums for the whole tiles of a type in a part from row `first` on, as many as there is room for; their rows end before *summed, which is
 * `first` when there is no room for one. Fails: ERROR_UNAVAILABLE when asked to stop; ERROR_CORRUPT for a block, or a row of
 * the topology that is out of order; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code typed_windows_sum(struct typed_windows *windows, uint32_t type, int part,
                                             uint32_t first, uint32_t *summed, struct error *err);
/* Gives the memory of sums and windows back; what was summed is gone. */
void typed_windows_rest(struct typed_windows *windows);
/* Puts the sums of a tile among these into it. */
MUST_CHECK enum error_code typed_windows_take(const struct typed_windows *windows,
                                              struct typed_tile *tile, struct error *err);

#endif
