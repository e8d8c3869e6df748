/*
 * named_nodes - the nodes of an input by the ids that its files give them.
 *
 * A thin layer over node_id_assigner that reads ids out of fields and names file, line and id when
 * something is wrong with one. All files of an input agree on what ids are: integers or strings.
 *
 * The two ends of an edge list may be nodes of two types with ids of their own ("sides"). A node is
 * then called by its type and its id, user:17, in all that is stored and written. Other files may
 * leave the type out where only one of the two has the id.
 */
#ifndef STAGES_INGEST_BUILD_NAMED_NODES_H
#define STAGES_INGEST_BUILD_NAMED_NODES_H

#include "common/base/error.h"
#include "common/formats/delimited.h"
#include "stages/ingest/build/node_id_assigner.h"
#include "store/records/node_ids.h"

#include <stdbool.h>
#include <stdint.h>

struct named_nodes { /* {0} is releasable */
    struct node_id_assigner ids;
    /* Where it was learnt that ids are integers, for the message about one that is none; NULL: the
     * settings say so. */
    const char *origin;
    int64_t origin_first, origin_last; /* lines */
    bool are_fixed; /* the input has said which nodes there are: files beside it name no others */
    const char *side[2]; /* node types of sources and targets, borrowed; NULL: there are no sides */
    struct node_id_assigner other; /* ids of targets, until they are joined to `ids` */
    uint64_t first_side;           /* after joining: nodes of the first type */
};

void named_nodes_init(struct named_nodes *nodes, bool of_strings, uint64_t memory_bytes);
/* Sources and targets are of two types, whose names are borrowed. */
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

/* Notes the id in `field`; `what` names it in messages ("source").
 * Fails: ERROR_INPUT naming file and line; ERROR_NO_MEMORY above the budget. */
MUST_CHECK enum error_code named_nodes_note(struct named_nodes *nodes, const struct field *field,
                                            const char *what, const char *where, int64_t line,
                                            struct error *err);
/* The same, and *reference is by what the node is found again when all are noted, which takes no
 * look at the field: an integer itself, of strings their number. */
MUST_CHECK enum error_code named_nodes_refer(struct named_nodes *nodes, const struct field *field,
                                             const char *what, const char *where, int64_t line,
                                             int64_t *reference, struct error *err);
/* The same of an integer that was read already. */
MUST_CHECK enum error_code named_nodes_refer_integer(struct named_nodes *nodes, int64_t id,
                                                     const char *where, int64_t line,
                                                     struct error *err);
/* After finish: whether references are the numbers. */
bool named_nodes_are_numbered(const struct named_nodes *nodes);
/* After finish: its number. */
int64_t named_nodes_of(const struct named_nodes *nodes, int64_t reference);
/* Puts the nodes of the second type behind those of the first. Call it before finish.
 * Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code named_nodes_join(struct named_nodes *nodes, struct error *err);
/* No id is noted behind this. */
void named_nodes_finish(struct named_nodes *nodes);
/* The number of the id in `field`, -1 when there is no such node. Before finish only the sign
 * counts. */
int64_t named_nodes_find(const struct named_nodes *nodes, const struct field *field);
/* For a field whose node is not found though all ids were noted. Fails: ERROR_INPUT, naming file,
 * line and why that is. */
enum error_code named_nodes_unknown(const struct named_nodes *nodes, const struct field *field,
                                    const char *where, int64_t line, struct error *err);
/* The id of node `number` for a message: 17, or 'bob', cut when it is long. Returns `out`. */
const char *named_nodes_text(const struct named_nodes *nodes, int64_t number,
                             char out[NODE_ID_TEXT_SIZE]);

#endif
