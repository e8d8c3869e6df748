/*
 * node_ids - the user's id of each node of a dataset.
 *
 * ingest writes them, and infer reads them: its outputs have these ids.
 *
 *   dataset/<id>/node_ids          only if the ids are not 0..N-1 themselves
 *       "integer" I64 [N]; or "offset" U64 [N + 1] and "text" U8 [offset[N]]
 */
#ifndef STORE_RECORDS_DATASET_NODE_IDS_H
#define STORE_RECORDS_DATASET_NODE_IDS_H

#include "common/base/error.h"
#include "store/objects/store.h"

#include <stddef.h>
#include <stdint.h>

enum { NODE_ID_TEXT_SIZE = 48 };

/* Arrays point into `view`, which the caller releases with store_release_record(). A writer fills
 * the pointers and leaves `view` zero. */
struct node_ids {
    uint32_t node_count;
    const int64_t *integer; /* [node_count] or NULL */
    const uint64_t *offset; /* [node_count + 1] or NULL */
    const char *text;       /* id of node i is text[offset[i]] .. text[offset[i + 1]], no NUL */
    struct record_view view;
};

MUST_CHECK enum error_code node_ids_put(struct store *store, const char *dataset_id,
                                        const struct node_ids *ids, struct error *err);
MUST_CHECK enum error_code node_ids_get(struct store *store, const char *dataset_id,
                                        struct node_ids *out, struct error *err);
/* Checks and reads a record that is in memory. out->view is a copy of `view`, so only one of the
 * two is to be released; after a failure it is zero. Fails: ERROR_CORRUPT naming key and section,
 * what was expected and what was found. */
MUST_CHECK enum error_code node_ids_decode(const struct record_view *view, struct node_ids *out,
                                           struct error *err);

/* Writes the id of a node for a message: 17, or 'bob', cut if it is long. Returns `out`. */
const char *node_ids_text(const struct node_ids *ids, uint32_t node, char out[NODE_ID_TEXT_SIZE]);

/* Returns the most bytes that the id of a node takes as a field of a table with commas
 * (common/formats/text/csv_field.h). Without arrays the id is the node's number. */
size_t node_ids_field_size(const struct node_ids *ids, uint32_t node);
/* Writes that field into out [node_ids_field_size()], without a NUL. Returns its bytes. */
size_t node_ids_field_put(const struct node_ids *ids, uint32_t node, char *out);

#endif
