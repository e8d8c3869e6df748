/*
 * node_times - when each node of a dataset appears.
 *
 * Written by ingest if ingest.node_times names a file. Samplers that go by times and inference read
 * it: they do not see a node before its time. Other datasets have none.
 *
 *   key       dataset/<id>/node_times
 *   sections  "time"  I64 [node_count]   in the unit of the edge times; EDGE_TIME_FIRST: the node
 *                                        was always there
 */
#ifndef STORE_RECORDS_DATASET_NODE_TIMES_H
#define STORE_RECORDS_DATASET_NODE_TIMES_H

#include "common/base/error.h"
#include "store/objects/store.h"

#include <stdint.h>

struct node_times {
    uint32_t node_count;
    const int64_t *time;     /* [node_count] */
    struct record_view view; /* release with store_release_record() */
};

MUST_CHECK enum error_code node_times_put(struct store *store, const char *dataset_id,
                                          const struct node_times *times, struct error *err);
/* Fails: ERROR_NOT_FOUND; ERROR_CORRUPT naming the record and what was expected. */
MUST_CHECK enum error_code node_times_get(struct store *store, const char *dataset_id,
                                          uint32_t node_count, struct node_times *out,
                                          struct error *err);
/* Checks a record of any origin. out->view is a copy of `view`, so only one of the two is to be
 * released, failure or not. */
MUST_CHECK enum error_code node_times_decode(const struct record_view *view, uint32_t node_count,
                                             struct node_times *out, struct error *err);

#endif
