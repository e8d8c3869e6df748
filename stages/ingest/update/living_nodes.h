/*
 * living_nodes - the nodes of a dataset and those that an update adds, by the user's ids.
 *
 * Nodes of the base have their numbers, 0 .. base_count - 1; added ones follow, type by type: integers in ascending order, strings in the
 * order of first appearance, as node_id_assigner.h has it. Ids that are the numbers themselves take no memory.
 *
 * An input that counts its nodes from 1 (tu) calls node 0 of a dataset 1, and so do the files of updates; what is stored counts from 0.
 *
 * Where all ids begin with the type of their node ("user:7", as the format dgl_csv has those of several types), that may be left out
 * wherever a file says the type: "7" of type user.
 */
#ifndef STAGES_INGEST_UPDATE_LIVING_NODES_H
#define STAGES_INGEST_UPDATE_LIVING_NODES_H

#include "common/base/error.h"
#include "stages/ingest/build/named_nodes.h"
#include "store/objects/store.h"
#include "store/records/dataset_schema.h"
#include "store/records/node_ids.h"

#include <stdint.h>

/* Of any type. */
enum { LIVING_ANY_TYPE = NODE_TYPE_COUNT_MAX };

struct living_nodes {                    /* {0} is releasable */
    const struct dataset_schema *schema; /* of the base, borrowed */
    uint32_t base_count;
    bool are_numbers;        /* ids of the base are its numbers */
    struct node_ids ids;     /* of the base otherwise, borrowed from its record */
    struct named_nodes base; /* empty where they are numbers */
    uint32_t *number;        /* [base_count] of the base by the number that `base` gives it */
    struct named_nodes added;
    /* Of several types, by the number that `added` gives a node: its type, and its place among the added ones; and the other way. */
    uint8_t *added_type;     /* [added count] */
    uint32_t *added_place;   /* [added count] */
    uint32_t *added_at;      /* [added count] */
    struct node_ids ordered; /* their ids in the order of places; arrays are owned */
    bool has_prefix;         /* ids begin with types */
    int64_t
        first_id; /* what the user calls the node that is stored as 0; set by the caller once it is open */
};

/* Ids of the base. Fails: ERROR_NO_MEMORY above the budget; ERROR_CORRUPT. */
MUST_CHECK enum error_code living_nodes_open(struct living_nodes *nodes, struct store *store,
                                             const struct dataset_schema *schema,
                                             uint64_t memory_bytes, struct error *err);
void living_nodes_release(struct living_nodes *nodes);
/* Notes an added node. Fails: ERROR_INPUT naming file and line: no id, one of the base, or one that was noted before. `type` here and
 * below: of the node, as the file says it, or LIVING_ANY_TYPE. */
MUST_CHECK enum error_code living_nodes_add(struct living_nodes *nodes, uint32_t type,
                                            const struct field *field, const char *where,
                                            int64_t line, struct error *err);
/* Behind the last of them; of several types living_nodes_set_type() of each and living_nodes_order() follow. */
MUST_CHECK enum error_code living_nodes_finish(struct living_nodes *nodes, struct error *err);
/* The type of an added node, which was noted. */
void living_nodes_set_type(struct living_nodes *nodes, uint32_t type, const struct field *field);
/* Puts added nodes in their places; counts those of each type in added_of_type [node types]. */
MUST_CHECK enum error_code living_nodes_order(struct living_nodes *nodes, uint32_t *added_of_type,
                                              struct error *err);
/* The ids of added nodes, borrowed. */
struct node_ids living_nodes_added_ids(const struct living_nodes *nodes);
/* The number of a node, or -1. Before finish of those of the base alone. */
int64_t living_nodes_find(const struct living_nodes *nodes, uint32_t type,
                          const struct field *field);
/* The same of `what`. Fails: ERROR_INPUT naming file, line and id when there is none, or it is of another type. */
MUST_CHECK enum error_code living_nodes_expect(const struct living_nodes *nodes, uint32_t type,
                                               const struct field *field, const char *what,
                                               const char *where, int64_t line, uint32_t *number,
                                               struct error *err);
/* The type of a node; 0 of one type. */
uint32_t living_nodes_type(const struct living_nodes *nodes, uint32_t number);
/* What the user calls a node, for messages. Returns `out`. */
const char *living_nodes_text(const struct living_nodes *nodes, uint32_t number,
                              char out[NODE_ID_TEXT_SIZE]);

#endif
