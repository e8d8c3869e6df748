/*
 * named_nodes - the nodes of an input by the ids that its files give them.
 *
 * A thin layer over node_id_assigner that reads ids out of fields, and names file, line and id when
 * one of them is wrong. All files of an input have ids of one kind: integers or strings.
 *
 * The two ends of an edge list may be nodes of two types with ids of their own ("sides"). All
 * records and outputs then call a node by its type and its id, user:17. Other files may leave out
 * the type where only one of the two types has the id.
 */
#ifndef STAGES_INGEST_BUILD_NODES_NAMED_NODES_H
#define STAGES_INGEST_BUILD_NODES_NAMED_NODES_H

#include "common/base/error.h"
#include "common/formats/text/delimited.h"
#include "stages/ingest/build/nodes/node_id_assigner.h"
#include "store/records/dataset/node_ids.h"

#include <stdbool.h>
#include <stdint.h>

struct named_nodes { /* {0} is releasable */
    struct node_id_assigner ids;
    /* The file that showed that ids are integers, for the message about an id that is none; NULL:
     * the settings say so. */
    const char *origin;
    int64_t origin_first, origin_last; /* the lines of `origin` that showed it */
    bool are_fixed;      /* the input has listed its nodes: files beside it may name no others */
    const char *side[2]; /* node types of sources and targets, borrowed; NULL: there are no sides */
    struct node_id_assigner other; /* ids of targets, until they are joined to `ids` */
    uint64_t first_side;           /* number of nodes of the first type, after joining */
};

void named_nodes_init(struct named_nodes *nodes, bool of_strings, uint64_t memory_bytes);
/* Initialises `nodes` for sources and targets of two types, whose names are borrowed. */
void named_nodes_init_sides(struct named_nodes *nodes, const char *source, const char *target,
                            uint64_t memory_bytes);
void named_nodes_release(struct named_nodes *nodes);

/* Does the same as named_nodes_refer() for an end of an edge: side 0 is the source, side 1 the
 * target. */
MUST_CHECK enum error_code named_nodes_refer_end(struct named_nodes *nodes, int side,
                                                 const struct field *field, const char *where,
                                                 int64_t line, int64_t *reference,
                                                 struct error *err);
/* Returns the number of the id of an end of an edge, -1 if there is no such node. */
int64_t named_nodes_find_end(const struct named_nodes *nodes, int side, const struct field *field);

/* Notes the id in `field`; `what` names it in messages ("source"). Fails: ERROR_INPUT naming file
 * and line; ERROR_NO_MEMORY above the budget. */
MUST_CHECK enum error_code named_nodes_note(struct named_nodes *nodes, const struct field *field,
                                            const char *what, const char *where, int64_t line,
                                            struct error *err);
/* Does the same as named_nodes_note(), and sets *reference, by which named_nodes_of() finds the
 * node without the field once all ids are noted: the integer itself, or the number of the
 * string. */
MUST_CHECK enum error_code named_nodes_refer(struct named_nodes *nodes, const struct field *field,
                                             const char *what, const char *where, int64_t line,
                                             int64_t *reference, struct error *err);
/* Does the same for an integer that is already parsed. */
MUST_CHECK enum error_code named_nodes_refer_integer(struct named_nodes *nodes, int64_t id,
                                                     const char *where, int64_t line,
                                                     struct error *err);
/* Returns whether references are already the final numbers. Call it after finish. */
bool named_nodes_are_numbered(const struct named_nodes *nodes);
/* Returns the number of the node with this reference. Call it after finish. */
int64_t named_nodes_of(const struct named_nodes *nodes, int64_t reference);
/* Appends the nodes of the second type to those of the first. Call it before finish. Fails:
 * ERROR_NO_MEMORY. */
MUST_CHECK enum error_code named_nodes_join(struct named_nodes *nodes, struct error *err);
/* Ends the noting of ids and fixes their numbers. */
void named_nodes_finish(struct named_nodes *nodes);
/* Returns the number of the id in `field`, or -1 when there is no such node. Before finish only the
 * sign is valid. */
int64_t named_nodes_find(const struct named_nodes *nodes, const struct field *field);
/* Reports that `field` names no node, although all ids were noted. Fails: ERROR_INPUT, always,
 * naming file, line and the reason. */
enum error_code named_nodes_unknown(const struct named_nodes *nodes, const struct field *field,
                                    const char *where, int64_t line, struct error *err);
/* Writes the id of node `number` for a message: 17, or 'bob', cut when it is long. Returns
 * `out`. */
const char *named_nodes_text(const struct named_nodes *nodes, int64_t number,
                             char out[NODE_ID_TEXT_SIZE]);

#endif
