/*
 * version_touched - the nodes of a version that the deltas of its chain name: those alone may have other edges or features than in an older version.
 *
 * Of edges these are the targets of edges that came or went since, of an undirected graph both ends. Whose edges went because a node at
 * the other end did no delta says: whoever has rows of the older version looks for those among them. Features of a type whose rows ingest makes
 * (degrees, random numbers) may be other for every node of it, and labels and splits of nodes that stay are as they were. The deltas are there also of
 * versions that are stored whole.
 */
#ifndef STORE_VERSIONS_VERSION_TOUCHED_H
#define STORE_VERSIONS_VERSION_TOUCHED_H

#include "common/base/error.h"
#include "store/objects/store.h"
#include "store/records/dataset_schema.h"

#include <stdint.h>

enum { TOUCHED_EDGES = 1, TOUCHED_FEATURES = 2 };

/* Marks the nodes of `schema` in touched [node_count], by their numbers in it; of those that `base_id` does not have perhaps some.
 * Fails: ERROR_CORRUPT for a chain that does not fit together; ERROR_NOT_FOUND; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code version_touched_mark(struct store *store,
                                                const struct dataset_schema *schema,
                                                const char *base_id, uint8_t *touched,
                                                struct error *err);

#endif
