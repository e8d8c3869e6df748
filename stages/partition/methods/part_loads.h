/*
 * part_loads - what the parts hold while nodes are given to them, and what each may hold.
 *
 * Nodes fall into classes: each node type by itself, and of it the training nodes by themselves
 * (partition.balance_train), as METIS has them for constraints here. A part must have a share of each class within
 * [least, most], which are 2.4 % below and above the mean, so that no part has more than 1.05 times the nodes of a class
 * of any other, and with that not of all nodes; of a class with few nodes a part: the mean rounded down and up. Classes
 * of fewer nodes than parts are one class together. Since a node is of one class, and each class has room for all its
 * nodes above the least, the bounds can always be kept: part_loads_may_take() is how.
 *
 * Edges (partition.balance_edges) are no bound but a preference: a part should have at most 1.05 times the mean of what
 * its nodes' in-edges are, or with measured loads what was read of its nodes. One hub can be more than that.
 */
#ifndef STAGES_PARTITION_METHODS_PART_LOADS_H
#define STAGES_PARTITION_METHODS_PART_LOADS_H

#include "common/base/error.h"
#include "stages/partition/methods/partitioner.h"

#include <stdbool.h>
#include <stdint.h>

enum { NODE_CLASS_COUNT_MAX = 2 * NODE_TYPE_COUNT_MAX };

struct node_class {
    uint32_t nodes;       /* of the graph */
    uint32_t least, most; /* of a part */
    double mean;          /* of a part */
    uint32_t left;        /* not given to a part yet */
    uint32_t lacking;     /* what parts have less than the least, together */
};

struct part_loads { /* {0} is empty */
    uint32_t node_count, part_count, class_count;
    struct node_class class[NODE_CLASS_COUNT_MAX];
    uint8_t *class_of;         /* [node_count], owned; likewise below */
    uint32_t *count;           /* [class_count, part_count] */
    uint64_t *edges;           /* [part_count]; NULL: edges are not balanced */
    const uint32_t *edge_load; /* [node_count] in-degrees, or what was read; borrowed */
    uint64_t edges_most;
};

/* Empty parts. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code part_loads_init(struct part_loads *loads,
                                           const struct partition_request *request,
                                           struct error *err);
void part_loads_release(struct part_loads *loads);
/* Empty parts again. */
void part_loads_reset(struct part_loads *loads);

/* Nodes of the class of `node` in a part. */
static inline uint32_t part_loads_of(const struct part_loads *loads, uint32_t node, uint32_t part)
{
    return loads->count[(size_t)loads->class_of[node] * loads->part_count + part];
}
/* Whether a node that is in no part may go to `part`: there is room, and the nodes that are left then still do for what
 * parts lack. There is always a part that may take it. */
static inline bool part_loads_may_take(const struct part_loads *loads, uint32_t node, uint32_t part)
{
    const struct node_class *class = &loads->class[loads->class_of[node]];
    const uint32_t held = part_loads_of(loads, node, part);
    return held < (class->left == class->lacking ? class->least : class->most);
}
/* Whether its edges are more than `part` should have. */
static inline bool part_loads_is_heavy(const struct part_loads *loads, uint32_t node, uint32_t part)
{
    return loads->edges && loads->edges[part] + loads->edge_load[node] > loads->edges_most;
}
/* Whether `part` can do without it. */
static inline bool part_loads_may_give(const struct part_loads *loads, uint32_t node, uint32_t part)
{
    return part_loads_of(loads, node, part) > loads->class[loads->class_of[node]].least;
}
void part_loads_take(struct part_loads *loads, uint32_t node, uint32_t part);
/* The reverse. */
void part_loads_give(struct part_loads *loads, uint32_t node, uint32_t part);

/* Fills part [node_count] with equal ranges of each class; the loads are what comes of it. Every part has a node. */
void part_loads_spread(struct part_loads *loads, uint32_t *part);
/* The same with nodes at random. */
void part_loads_scatter(struct part_loads *loads, int64_t seed, uint32_t *part);

#endif
