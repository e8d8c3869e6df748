/*
 * kept_assignment - the part of each node: from the record of an attempt that was killed, or made and recorded.
 *
 * Making it is the costly part of partitioning. A method that stands for others (auto) goes by the memory of the machine, so
 * the record says which one it came to, and who goes on or replays keeps to that. That of a version whose nodes keep their parts is
 * quickly made, and stored when it is known in which form the partition is written.
 */
#ifndef STAGES_PARTITION_KEPT_ASSIGNMENT_H
#define STAGES_PARTITION_KEPT_ASSIGNMENT_H

#include "common/base/error.h"
#include "stages/partition/partition_input.h"

#include <stdbool.h>
#include <stdint.h>

struct kept_assignment { /* {0} is empty; release with kept_assignment_release() */
    uint32_t *part;      /* [node_count], owned */
    uint16_t *edge_part; /* of a vertex cut (node_assigner.h), owned; else NULL */
    const char *method;  /* the name of the one that it came to; NULL: the one that is set */
    double full_cut;     /* of one that a version keeps (version_assignment.h) */
    bool
        is_stored; /* else whoever has asked for it stores it, or what it follows from (records/node_placement.h) */
};

/* A replay makes it anew, to compare. Fails: ERROR_CORRUPT for a damaged record; what the method fails with. */
MUST_CHECK enum error_code kept_assignment_find(struct partition_input *input,
                                                struct kept_assignment *out, struct error *err);
/* Stores it unless it is. */
MUST_CHECK enum error_code kept_assignment_put(const struct partition_input *input,
                                               struct kept_assignment *kept, struct error *err);
void kept_assignment_release(struct kept_assignment *kept);

#endif
