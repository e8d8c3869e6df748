/*
 * distinct_positions - chooses positions of a row uniformly, none twice.
 *
 * It uses Floyd's algorithm (Bentley and Floyd, "A sample of brilliance", CACM 30(9), 1987): k
 * draws for k positions whatever the length of the row, and every set of k is equally likely. The
 * random words are those of (stream, item), so the choice depends on nothing else. Positions come
 * out ascending, so the result does not depend on how the set is held inside (sorted lists of many
 * rows side by side, or bits).
 */
#ifndef STAGES_SAMPLING_ROWS_DISTINCT_POSITIONS_H
#define STAGES_SAMPLING_ROWS_DISTINCT_POSITIONS_H

#include "common/numbers/random.h"

#include <stddef.h>
#include <stdint.h>

/* Returns how many words of scratch distinct_positions_draw() needs to draw `count` of `length`
 * positions. */
size_t distinct_positions_scratch(uint32_t length, uint32_t count);

/* Draws `count` of the positions 0 .. length - 1 into `out` [count], ascending. 1 <= count <=
 * length; `scratch` [distinct_positions_scratch()] is zero before and after. */
void distinct_positions_draw(const struct random_stream *stream, uint32_t item, uint32_t length,
                             uint32_t count, uint64_t *scratch, uint32_t *out);

enum { DISTINCT_LANES = RANDOM_LANES, DISTINCT_LANES_COUNT_MAX = 64 };

/* Draws for DISTINCT_LANES rows side by side, which is several times cheaper per row: position k of
 * row i goes to out[k][i]. The items are below 2^32, 1 <= count <= DISTINCT_LANES_COUNT_MAX, count
 * <= length[i]. */
void distinct_positions_draw_lanes(const struct random_stream *stream,
                                   const uint32_t item[DISTINCT_LANES],
                                   const uint32_t length[DISTINCT_LANES], uint32_t count,
                                   uint32_t (*out)[DISTINCT_LANES]);

/* Converts positions [count] that do not count the excluded ones, `excluded` [excluded_count], to
 * positions of the whole row. Both arrays ascend. */
void distinct_positions_skip(uint32_t *position, uint32_t count, const uint32_t *excluded,
                             uint32_t excluded_count);

#endif
