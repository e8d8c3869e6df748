/*
 * typed_world - a graph of five node types and seven relations that changes at random: each version
 * is written to a store as a whole dataset and as the delta over the version before it, without
 * ingest.
 *
 *     author (no features)   paper (9 columns, labels and splits)   venue (3 columns)
 *     tag (2 columns, few nodes)   ghost (one node)
 *     writes, rev_writes, cites, in, labels: tag -> paper, near: venue -> venue,
 *     never: ghost -> tag, which has no edge
 *
 * A node has a permanent name among those of its type. Numbers are in the order of names, so those
 * of a version are as dataset_delta.h requires. Dataset `version` is called "typed-<version>".
 * Functions abort the program when a store fails.
 */
#ifndef TESTS_SUPPORT_TYPED_WORLD_H
#define TESTS_SUPPORT_TYPED_WORLD_H

#include "store/objects/store.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    WORLD_TYPES = 5,
    WORLD_RELATIONS = 7,
    WORLD_TARGET = 1, /* the type that has labels */
    WORLD_CLASSES = 5,
    WORLD_VERSIONS = 4,
    WORLD_NAMES = 900, /* maximum for each type */
    WORLD_EDGES = 12000,
    WORLD_ID_SIZE = 16
};

struct typed_world {
    int version;
    uint32_t drawn;
    uint32_t names[WORLD_TYPES]; /* number of names so far; new ones are above */
    bool is_there[WORLD_TYPES][WORLD_NAMES];
    uint32_t alias[WORLD_TYPES][WORLD_NAMES]; /* the number that its features are made of */
    uint32_t from[WORLD_EDGES], to[WORLD_EDGES];
    uint16_t relation[WORLD_EDGES];
    float weight[WORLD_EDGES];
    uint32_t edge_count;
};

void typed_world_begin(struct typed_world *world);
/* Makes the next version: some nodes of each type but the last are removed and some are added;
 * `rate` is the number of changed edges and rows. */
void typed_world_change(struct typed_world *world, uint32_t rate);
/* Removes a node and its edges. */
void typed_world_remove(struct typed_world *world, uint32_t type, uint32_t name);
/* Writes the dataset, and a delta over the version `before`, unless that is NULL. */
void typed_world_write(const struct typed_world *world, const struct typed_world *before,
                       struct store *store);
void typed_world_id(int version, char id[WORLD_ID_SIZE]);
/* Returns the number of nodes of a type. */
uint32_t typed_world_count(const struct typed_world *world, uint32_t type);

#endif
