/*
 * relation_words - the relations of a list of edges, each named by a word in a column of the list.
 *
 * Words are noted in the order of the lines. When all are known they are numbered: words in the
 * order of their first appearance, integers in ascending order, so that relations 0 .. K-1 keep
 * their numbers.
 */
#ifndef STAGES_INGEST_FORMATS_SHARED_RELATION_WORDS_H
#define STAGES_INGEST_FORMATS_SHARED_RELATION_WORDS_H

#include "common/base/error.h"
#include "common/formats/text/delimited.h"
#include "stages/ingest/build/nodes/node_id_assigner.h"
#include "store/records/dataset/dataset_schema.h"

#include <stdbool.h>
#include <stdint.h>

struct relation_words { /* {0} is releasable */
    struct node_id_assigner words;
    /* relation of each word, by its place among the noted ones; set by finish */
    uint16_t number[EDGE_TYPE_COUNT_MAX];
};

void relation_words_init(struct relation_words *relations);
void relation_words_release(struct relation_words *relations);
/* Notes a word; *place is the index by which relations->number has its relation later. Fails:
 * ERROR_INPUT naming file and line for an empty or long word, and for more than EDGE_TYPE_COUNT_MAX
 * different ones; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code relation_words_note(struct relation_words *relations,
                                               const struct field *word, const char *where,
                                               int64_t line, uint16_t *place, struct error *err);
void relation_words_finish(struct relation_words *relations);
/* Fills type [count] with the relations by number, all from node type `source` to `target`. Returns
 * their number. */
uint32_t relation_words_types(const struct relation_words *relations, uint16_t source,
                              uint16_t target, struct edge_type type[EDGE_TYPE_COUNT_MAX]);

#endif
