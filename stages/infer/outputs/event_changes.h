/*
 * event_changes - which edges become visible as time goes on, and which nodes hear of a node.
 *
 * Made of a topology with times, over all its relations: all edges by source, and the targets of
 * edges in the order of their times.
 */
#ifndef STAGES_INFER_OUTPUTS_EVENT_CHANGES_H
#define STAGES_INFER_OUTPUTS_EVENT_CHANGES_H

#include "common/base/error.h"
#include "store/topology/topology.h"

#include <stddef.h>
#include <stdint.h>

struct timed_node {
    int64_t time;
    uint32_t node;
};

struct event_changes {          /* {0} is empty */
    uint64_t *start;            /* [node_count + 1] of the edges from each node, in: */
    struct timed_node *heard;   /* [edges] the targets */
    struct timed_node *arrival; /* [edges] targets of edges, by time */
    uint64_t edge_count, next;  /* the next arrival that is not visible yet */
};

/* Returns the bytes that it takes. */
uint64_t event_changes_bytes(const struct topology *topology);
/* Begins before all times. Fails: ERROR_NO_MEMORY; ERROR_CORRUPT for a damaged row. */
MUST_CHECK enum error_code event_changes_init(struct event_changes *changes,
                                              const struct topology *topology, struct error *err);
void event_changes_release(struct event_changes *changes);
/* Writes the target of the next edge earlier than `time` to *node. False: there is none. */
bool event_changes_next(struct event_changes *changes, int64_t time, uint32_t *node);

#endif
