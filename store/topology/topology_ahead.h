/*
 * topology_ahead - requests rows of a topology file before they are read at random places.
 *
 * If the arrays of a topology are neither copied to memory (topology_copy()) nor completely in the
 * page cache, most rows come from the disk. By default the kernel reads 128 KB around each place
 * that is touched, of which a sampler needs a few hundred bytes, and drops as many cached bytes for
 * it. The reader also waits for one place after the other, while a disk could serve many at once.
 */
#ifndef STORE_TOPOLOGY_TOPOLOGY_AHEAD_H
#define STORE_TOPOLOGY_TOPOLOGY_AHEAD_H

#include "store/topology/topology.h"

#include <stdint.h>

/* Declares that rows are read at random places: from now on the kernel reads only the page that is
 * missing. All parts must be open and not copied; later copies and sequential reads are slow. Does
 * nothing for a topology whose arrays belong to the caller. */
void topology_read_at_random(struct topology *topology);

/* Ask the kernel to read, without waiting: the start and end of a row, or `length` neighbours from
 * `start` on. Only for a topology that is read at random. `row` and `start` + `length` must be in
 * range. Threads: any. */
void topology_ask_row_start(const struct topology_part *part, uint32_t row);
void topology_ask_neighbors(const struct topology_part *part, uint64_t start, uint32_t length);

#endif
