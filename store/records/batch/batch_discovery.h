/*
 * batch_discovery - the order in which the edges of a mini-batch discovered its nodes.
 *
 * Nodes of a type are numbered as edges discover them (common/graph/edge_discovery.h), in any
 * relation: hop after hop, in a hop relation after relation, in a relation row after row. Records
 * store edges relation after relation. So with several relations the walk keeps a next number for
 * each type and visits the edges in the order of discovery. With one relation both orders are the
 * same.
 *
 * Edges of LAYERED batches, and of SUBGRAPHs that list rows, are visited as they are stored: a node
 * that is discovered in another order keeps an explicit number.
 */
#ifndef STORE_RECORDS_BATCH_BATCH_DISCOVERY_H
#define STORE_RECORDS_BATCH_BATCH_DISCOVERY_H

#include "common/graph/edge_discovery.h"
#include "store/records/batch/mini_batch.h"

/* Marks the edges whose source is new: is_new [words of edge_count bits]. Bits behind the edges
 * become zero. */
struct edge_discovery batch_discovery_mark(const struct mini_batch *batch, uint64_t *is_new);
/* Restores all neighbours from those bits, in place: neighbor [edge_count + EDGE_DISCOVERY_SLACK]
 * holds the `rest_count` explicit ones just before element edge_count. The batch must be complete
 * but for its neighbours, with rows that pass batch_form_check_rows(). */
void batch_discovery_restore(const struct mini_batch *batch, const uint64_t *is_new,
                             uint64_t rest_count, uint32_t *neighbor);

#endif
