/*
 * hgb_nodes - the nodes of node.dat: the type, the number and the features of each (hgb_reader.c).
 */
#ifndef STAGES_INGEST_FORMATS_COLLECTIONS_HGB_NODES_H
#define STAGES_INGEST_FORMATS_COLLECTIONS_HGB_NODES_H

#include "common/base/error.h"
#include "common/files/file.h"
#include "common/formats/text/delimited.h"
#include "stages/ingest/build/dataset_builder.h"

#include <stdint.h>

enum { HGB_FIELDS_MAX = 4 };

/* Is called for each line; `field` [count], count <= HGB_FIELDS_MAX, has its fields, which tabs
 * separate. */
typedef enum error_code (*hgb_visitor)(void *context, const struct field *field, size_t count,
                                       int64_t line, struct error *err);
/* Visits each line that is not empty. Fails: ERROR_INPUT for fewer than `least` or more than
 * HGB_FIELDS_MAX columns. */
MUST_CHECK enum error_code hgb_visit(const char *path, size_t least, hgb_visitor visit,
                                     void *context, struct error *err);
/* Parses a number in [0, limit). Fails: ERROR_INPUT naming file, line and `what`. */
MUST_CHECK enum error_code hgb_number(const char *path, int64_t line, const char *what,
                                      const struct field *field, uint64_t limit, int64_t *out,
                                      struct error *err);

struct hgb_nodes { /* {0} is releasable */
    char path[FILE_PATH_SIZE];
    uint64_t count;
    int16_t *type;    /* [count], by id */
    uint32_t *number; /* [count], by id: the number of the node when nodes are ordered by type */
    uint32_t type_count;
    uint64_t type_size[NODE_TYPE_COUNT_MAX], type_first[NODE_TYPE_COUNT_MAX];
    uint32_t dim[NODE_TYPE_COUNT_MAX]; /* 0: the type has no features */
    size_t capacity;
    bool are_in_order; /* number[id] == id */
};

/* Reads ids, types and the widths of features. Fails: ERROR_INPUT unless the ids are 0, 1, 2, ...,
 * each once. */
MUST_CHECK enum error_code hgb_nodes_read(const char *path, struct hgb_nodes *nodes,
                                          struct error *err);
/* Passes the ids to the builder, if outputs need them. */
MUST_CHECK enum error_code hgb_nodes_set_ids(const struct hgb_nodes *nodes,
                                             struct dataset_builder *builder, struct error *err);
/* Pushes the features of all nodes. Without relations all types with features have one width, and
 * the others get zeros. */
MUST_CHECK enum error_code hgb_nodes_push_features(const struct hgb_nodes *nodes,
                                                   bool has_relations,
                                                   struct dataset_builder *builder,
                                                   struct error *err);
void hgb_nodes_release(struct hgb_nodes *nodes);

#endif
