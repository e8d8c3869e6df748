/*
 * event_changes - the edges that become visible as time advances, and the nodes that hear from a
 * node.
 *
 * It is built from a topology with times, over all relations. It lists all edges by source, and
 * the targets of all edges in the order of their times.
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

struct event_changes { /* {0} is empty */
    /* [node_count + 1]: the edges from node v begin at heard[start[v]] and end before
     * heard[start[v + 1]] */
    uint64_t *start;
    struct timed_node *heard;   /* [edges]: targets and times, by source */
    struct timed_node *arrival; /* [edges]: targets, by time */
    uint64_t edge_count, next;  /* `next`: the first arrival that is not visible yet */
};

/* Returns the bytes that event_changes_init() allocates. */
uint64_t event_changes_bytes(const struct topology *topology);
/* Lists the edges. No edge is visible at first. Fails: ERROR_NO_MEMORY; ERROR_CORRUPT for a
 * damaged row. */
MUST_CHECK enum error_code event_changes_init(struct event_changes *changes,
                                              const struct topology *topology, struct error *err);
void event_changes_release(struct event_changes *changes);
/* Writes the target of the next edge earlier than `time` to *node. Returns false if there is
 * none. */
bool event_changes_next(struct event_changes *changes, int64_t time, uint32_t *node);

#endif
