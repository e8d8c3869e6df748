/*
 * living_nodes - the nodes of a dataset and those that an update adds, by the user's ids.
 *
 * Nodes of the base have their numbers, 0 .. base_count - 1; added ones follow: integers in ascending order, strings in the order
 * of first appearance, as node_id_assigner.h has it. Ids that are the numbers themselves take no memory.
 */
#ifndef STAGES_INGEST_UPDATE_LIVING_NODES_H
#define STAGES_INGEST_UPDATE_LIVING_NODES_H

#include "common/base/error.h"
#include "stages/ingest/build/named_nodes.h"
#include "store/objects/store.h"
#include "store/records/dataset_schema.h"
#include "store/records/node_ids.h"

#include <stdint.h>

struct living_nodes { /* {0} is releasable */
    uint32_t base_count;
    bool are_numbers;        /* ids of the base are its numbers */
    struct node_ids ids;     /* of the base otherwise, borrowed from its record */
    struct named_nodes base; /* empty where they are numbers */
    uint32_t *number;        /* [base_count] of the base by the number that `base` gives it */
    struct named_nodes added;
};

/* Ids of the base. Fails: ERROR_NO_MEMORY above the budget; ERROR_CORRUPT. */
MUST_CHECK enum error_code living_nodes_open(struct living_nodes *nodes, struct store *store,
                                             const struct dataset_schema *schema,
                                             uint64_t memory_bytes, struct error *err);
void living_nodes_release(struct living_nodes *nodes);
/* Notes an added node. Fails: ERROR_INPUT naming file and line: no id, one of the base, or one that was noted before. */
MUST_CHECK enum error_code living_nodes_add(struct living_nodes *nodes, const struct field *field,
                                            const char *where, int64_t line, struct error *err);
/* Behind the last of them. */
void living_nodes_finish(struct living_nodes *nodes);
/* The number of a node, or -1. Before finish of those of the base alone. */
int64_t living_nodes_find(const struct living_nodes *nodes, const struct field *field);
/* The same of `what`. Fails: ERROR_INPUT naming file, line and id when there is none. */
MUST_CHECK enum error_code living_nodes_expect(const struct living_nodes *nodes,
                                               const struct field *field, const char *what,
                                               const char *where, int64_t line, uint32_t *number,
                                               struct error *err);
/* What the user calls a node, for messages. Returns `out`. */
const char *living_nodes_text(const struct living_nodes *nodes, uint32_t number,
                              char out[NODE_ID_TEXT_SIZE]);

#endif
