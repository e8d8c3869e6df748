/*
 * version_touched - marks the nodes of a version that the deltas of its chain name. Only these may
 * have other edges or features than in an older version.
 *
 * For edges they are the targets of edges that were added or removed since; in an undirected graph
 * both ends. A delta does not name nodes that lost an edge because the node at its other end was
 * removed; a caller that has the rows of the older version finds those itself. If ingest makes the
 * features of a type (degrees, random numbers), they may differ for every node of it. Labels and
 * splits of nodes that stay never change. Versions that are stored whole have deltas too.
 */
#ifndef STORE_VERSIONS_VERSION_TOUCHED_H
#define STORE_VERSIONS_VERSION_TOUCHED_H

#include "common/base/error.h"
#include "store/objects/store.h"
#include "store/records/dataset/dataset_schema.h"

#include <stdint.h>

enum { TOUCHED_EDGES = 1, TOUCHED_FEATURES = 2 };

/* Marks the nodes of `schema` in touched [node_count], by their numbers in it. Nodes that `base_id`
 * does not have may be marked or not. Fails: ERROR_CORRUPT for a chain that does not match;
 * ERROR_NOT_FOUND; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code version_touched_mark(struct store *store,
                                                const struct dataset_schema *schema,
                                                const char *base_id, uint8_t *touched,
                                                struct error *err);

#endif
