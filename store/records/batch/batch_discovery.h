/*
 * batch_discovery - the order in which the edges of a mini-batch found its nodes.
 *
 * Nodes of a type are numbered as edges find them (common/graph/edge_discovery.h), in whatever
 * relation: hop after hop, in a hop relation after relation, in a relation row after row. Records
 * have edges relation after relation. So with several relations a number for each type goes along,
 * and the edges are gone through in the order of discovery; with one relation both orders are the
 * same.
 *
 * LAYERED batches and SUBGRAPHs that list rows are gone through as they are stored: a node that is
 * found in another order has a number of its own.
 */
#ifndef STORE_RECORDS_BATCH_BATCH_DISCOVERY_H
#define STORE_RECORDS_BATCH_BATCH_DISCOVERY_H

#include "common/graph/edge_discovery.h"
#include "store/records/batch/mini_batch.h"

/* is_new [words of edge_count bits]; those behind the edges become zero. */
struct edge_discovery batch_discovery_mark(const struct mini_batch *batch, uint64_t *is_new);
/* The other way, in place: neighbor [edge_count + EDGE_DISCOVERY_SLACK] has the `rest_count` others
 * just before element edge_count. The batch has all but its neighbours, and rows as
 * batch_form_check_rows() wants them. */
void batch_discovery_restore(const struct mini_batch *batch, const uint64_t *is_new,
                             uint64_t rest_count, uint32_t *neighbor);

#endif
