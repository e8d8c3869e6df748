/*
 * living_nodes - the nodes of a dataset and those that an update adds, by the user's ids.
 *
 * Nodes of the base have their numbers, 0 .. base_count - 1. Added ones follow, type by type:
 * integers in ascending order, strings in the order of first appearance, as in node_id_assigner.h.
 * Ids that equal the numbers take no memory.
 *
 * An input that counts its nodes from 1 (tu) calls node 0 of a dataset 1, and the files of its
 * updates do so, too; records count from 0.
 *
 * If all ids begin with the type of their node ("user:7", as in format dgl_csv with several types),
 * a file that says the type may leave out that prefix: "7" of type user.
 */
#ifndef STAGES_INGEST_UPDATE_LIVING_NODES_H
#define STAGES_INGEST_UPDATE_LIVING_NODES_H

#include "common/base/error.h"
#include "stages/ingest/build/nodes/named_nodes.h"
#include "store/objects/store.h"
#include "store/records/dataset/dataset_schema.h"
#include "store/records/dataset/node_ids.h"

#include <stdint.h>

/* A node of any type. */
enum { LIVING_ANY_TYPE = NODE_TYPE_COUNT_MAX };

struct living_nodes {                    /* {0} is releasable */
    const struct dataset_schema *schema; /* schema of the base, borrowed */
    uint32_t base_count;
    bool are_numbers;        /* ids of the base equal its numbers */
    struct node_ids ids;     /* ids of the base otherwise, borrowed from its record */
    struct named_nodes base; /* empty if the ids equal the numbers */
    /* [base_count] number of a base node, by the number that `base` gives it */
    uint32_t *number;
    struct named_nodes added;
    /* With several types, by the number that `added` gives a node: its type, and its place among
     * the added nodes; and the number by the place. */
    uint8_t *added_type;     /* [added count] */
    uint32_t *added_place;   /* [added count] */
    uint32_t *added_at;      /* [added count] */
    struct node_ids ordered; /* their ids by place; arrays are owned */
    bool has_prefix;         /* ids begin with types */
    /* the number that the user gives the node stored as 0; the caller sets it after
     * living_nodes_open() */
    int64_t first_id;
};

/* Opens the ids of the base. Fails: ERROR_NO_MEMORY above the budget; ERROR_CORRUPT. */
MUST_CHECK enum error_code living_nodes_open(struct living_nodes *nodes, struct store *store,
                                             const struct dataset_schema *schema,
                                             uint64_t memory_bytes, struct error *err);
void living_nodes_release(struct living_nodes *nodes);
/* Notes an added node. `type`, here and below, is the type that the file gives the node, or
 * LIVING_ANY_TYPE. Fails: ERROR_INPUT naming file and line: no id, an id of the base, or one that
 * was noted before. */
MUST_CHECK enum error_code living_nodes_add(struct living_nodes *nodes, uint32_t type,
                                            const struct field *field, const char *where,
                                            int64_t line, struct error *err);
/* Ends the noting of added nodes. With several types, call living_nodes_set_type() for each and
 * then living_nodes_order(). */
MUST_CHECK enum error_code living_nodes_finish(struct living_nodes *nodes, struct error *err);
/* Sets the type of an added node, which must be noted. */
void living_nodes_set_type(struct living_nodes *nodes, uint32_t type, const struct field *field);
/* Puts the added nodes in their places, and counts those of each type in added_of_type [node
 * types]. */
MUST_CHECK enum error_code living_nodes_order(struct living_nodes *nodes, uint32_t *added_of_type,
                                              struct error *err);
/* Returns the ids of added nodes, borrowed. */
struct node_ids living_nodes_added_ids(const struct living_nodes *nodes);
/* Returns the number of a node, or -1. Before finish it finds only nodes of the base. */
int64_t living_nodes_find(const struct living_nodes *nodes, uint32_t type,
                          const struct field *field);
/* Finds the number of a node that must exist; `what` names it in messages. Fails: ERROR_INPUT
 * naming file, line and id when there is none, or it is of another type. */
MUST_CHECK enum error_code living_nodes_expect(const struct living_nodes *nodes, uint32_t type,
                                               const struct field *field, const char *what,
                                               const char *where, int64_t line, uint32_t *number,
                                               struct error *err);
/* Returns the type of a node; 0 if there is one type. */
uint32_t living_nodes_type(const struct living_nodes *nodes, uint32_t number);
/* Writes the user's name of a node, for messages. Returns `out`. */
const char *living_nodes_text(const struct living_nodes *nodes, uint32_t number,
                              char out[NODE_ID_TEXT_SIZE]);

#endif
