/*
 * event_history - the edges that an event of validation or test may see: those of training and the
 * held-out ones, in one topology, relation by relation.
 *
 * Training reads the topology of the partition, which has no held-out edge. Evaluation of events
 * (infer.history: all) reads the joined one
 * and bounds each neighbourhood by the time of its event (time_limits.only_earlier), so an
 * event sees what was strictly
 * earlier, held out or not. In an undirected graph a held-out edge, which is listed once, stands
 * in the rows of both ends. With relations it also stands in the declared reverse of its relation
 * (relation_reverse.h), at the same time.
 */
#ifndef STAGES_SAMPLING_ROWS_EVENT_HISTORY_H
#define STAGES_SAMPLING_ROWS_EVENT_HISTORY_H

#include "common/base/error.h"
#include "store/objects/store.h"
#include "store/records/dataset/edge_splits.h"
#include "store/records/partition/partition_book.h"
#include "store/topology/topology_join.h"

/* `training` has times, and all its parts are open. Close with joined_topology_close().
 * Fails: ERROR_CORRUPT when the held-out edges lack a column that the topology has, or are of a
 * relation that it lacks; as topology_join(). */
MUST_CHECK enum error_code event_history_join(struct store *store,
                                              const struct partition_book *book,
                                              const struct topology *training,
                                              const struct edge_splits *splits,
                                              struct joined_topology *out, struct error *err);

#endif
