#include "store/versions/version_touched.h"

#include "store/records/dataset/dataset_types.h"
#include "store/versions/version_fold.h"

#include <inttypes.h>
#include <string.h>

static void mark_edges(const struct version_fold *fold, uint8_t *touched)
{
    for (uint64_t i = 0; i < fold->added_edges; i++)
        touched[fold->edge[i].target] |= TOUCHED_EDGES;
    for (uint64_t i = 0; i < fold->gone_edges; i++) {
        const uint32_t node = version_fold_number(fold, (uint32_t)(fold->gone_edge[i].key >> 32));
        if (node != NODE_GONE)
            touched[node] |= TOUCHED_EDGES;
    }
}

static void mark_rows(const struct version_fold *fold, uint8_t *touched)
{
    for (uint64_t i = 0; i < fold->rows; i++)
        touched[fold->row[i].node] |= TOUCHED_FEATURES;
}

/* Marks the nodes of types whose features ingest makes. */
static void mark_made(const struct dataset_schema *schema, uint8_t *touched)
{
    for (uint32_t t = 0; t < dataset_type_count(schema); t++) {
        const struct node_type type = dataset_type(schema, t);
        if (type.feature_dim == 0 || strcmp(dataset_type_origin(schema, t), "given") == 0)
            continue;
        for (uint32_t i = 0; i < type.node_count; i++)
            touched[type.first_node + i] |= TOUCHED_FEATURES;
    }
}

enum error_code version_touched_mark(struct store *store, const struct dataset_schema *schema,
                                     const char *base_id, uint8_t *touched, struct error *err)
{
    struct version_fold *fold = NULL;
    enum error_code rc = version_fold_make(store, schema->id, base_id, false, false, &fold, err);
    if (rc == ERROR_NONE && fold->node_count != schema->node_count)
        rc = error_set(err, ERROR_CORRUPT,
                       "dataset %s has %" PRIu32 " nodes, expected %" PRIu32 " by its deltas",
                       schema->id, schema->node_count, fold->node_count);
    if (rc == ERROR_NONE) {
        mark_edges(fold, touched);
        mark_rows(fold, touched);
        mark_made(schema, touched);
    }
    version_fold_drop(fold);
    return rc;
}
