/*
 * distinct_positions - a uniform choice of positions of a row, none twice.
 *
 * Floyd's algorithm (Bentley and Floyd, "A sample of brilliance", CACM 30(9), 1987): k draws for k
 * positions, whatever the length of the row, and every set of k equally likely. The random words are
 * those of (stream, item), so the choice depends on nothing else. Positions come out ascending: which
 * form of the set was used inside (sorted lists of many rows side by side, or bits) leaves no trace.
 */
#ifndef STAGES_SAMPLING_DISTINCT_POSITIONS_H
#define STAGES_SAMPLING_DISTINCT_POSITIONS_H

#include "common/base/random.h"

#include <stddef.h>
#include <stdint.h>

/* Words of scratch that distinct_positions_draw() needs for `count` of `length`. */
size_t distinct_positions_scratch(uint32_t length, uint32_t count);

/* `count` of the positions 0 .. length - 1, ascending, into `out` [count]. 1 <= count <= length;
 * `scratch` [distinct_positions_scratch()] is zero before and after. */
void distinct_positions_draw(const struct random_stream *stream, uint32_t item, uint32_t length,
                             uint32_t count, uint64_t *scratch, uint32_t *out);

enum { DISTINCT_LANES = RANDOM_LANES, DISTINCT_LANES_COUNT_MAX = 64 };

/* The same for DISTINCT_LANES rows side by side, several times cheaper a row: position k of row i into
 * out[k][i]. The items are below 2^32, 1 <= count <= DISTINCT_LANES_COUNT_MAX, count <= length[i]. */
void distinct_positions_draw_lanes(const struct random_stream *stream,
                                   const uint32_t item[DISTINCT_LANES],
                                   const uint32_t length[DISTINCT_LANES], uint32_t count,
                                   uint32_t (*out)[DISTINCT_LANES]);

/* Positions [count] that count without those left out, `excluded` [excluded_count], become those of the row; both ascend. */
void distinct_positions_skip(uint32_t *position, uint32_t count, const uint32_t *excluded,
                             uint32_t excluded_count);

#endif
