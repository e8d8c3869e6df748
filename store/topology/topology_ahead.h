/*
 * topology_ahead - rows of a topology that is read from its files, here and there: asked for before they are read.
 *
 * Where the arrays of a topology are not copied to memory (topology_copy()) and do not all stay in the page cache, most rows come from
 * the disk. Left alone, the kernel reads 128 KB around each place that is touched, of which a sampler wants a few hundred bytes, and gives up as
 * much of what it had for it; and the one who touches waits for one place after the other, where a disk serves many at once.
 */
#ifndef STORE_TOPOLOGY_TOPOLOGY_AHEAD_H
#define STORE_TOPOLOGY_TOPOLOGY_AHEAD_H

#include "store/topology/topology.h"

#include <stdint.h>

/* From now on rows are read at random places: a page that is not there is read alone. All parts are open, and not copied; later copies and reads in
 * order are slow. A topology whose arrays are the caller's is left as it is. */
void topology_read_at_random(struct topology *topology);

/* Has the kernel read where the row of a part begins and ends, or `length` neighbours from `start` on, without waiting for it. Only of a topology that is read
 * at random. `row` and `start` + `length` are in range. Threads: any. */
void topology_ask_row_start(const struct topology_part *part, uint32_t row);
void topology_ask_neighbors(const struct topology_part *part, uint64_t start, uint32_t length);

#endif
