/*
 * kept_assignment - the part of each node, read from the record of an attempt that was killed, or
 * computed and stored.
 *
 * Computing it is the costly part of partitioning. The method `auto` chooses by the memory of the
 * machine, so the record says which method it chose, and a program that goes on or replays uses
 * that one. The assignment of a version whose nodes keep their parts is computed quickly, and is
 * stored only when it is known in which form the partition is written.
 */
#ifndef STAGES_PARTITION_KEPT_ASSIGNMENT_H
#define STAGES_PARTITION_KEPT_ASSIGNMENT_H

#include "common/base/error.h"
#include "stages/partition/partition_input.h"

#include <stdbool.h>
#include <stdint.h>

struct kept_assignment { /* {0} is empty; release with kept_assignment_release() */
    uint32_t *part;      /* [node_count], owned */
    /* For a vertex cut (node_assigner.h), owned; otherwise NULL. */
    uint16_t *edge_part;
    /* The name of the method that was chosen; NULL: the one of the settings. */
    const char *method;
    /* The cut when all nodes were last partitioned, for a version that keeps parts
     * (version_assignment.h). */
    double full_cut;
    /* If false, the caller stores it, or stores the inputs that it is computed from
     * (records/partition/node_placement.h). */
    bool is_stored;
};

/* Reads or computes the assignment. A replay computes it, to compare. Fails: ERROR_CORRUPT for a
 * damaged record; what the method fails with. */
MUST_CHECK enum error_code kept_assignment_find(struct partition_input *input,
                                                struct kept_assignment *out, struct error *err);
/* Stores the assignment unless it is stored. */
MUST_CHECK enum error_code kept_assignment_put(const struct partition_input *input,
                                               struct kept_assignment *kept, struct error *err);
void kept_assignment_release(struct kept_assignment *kept);

#endif
