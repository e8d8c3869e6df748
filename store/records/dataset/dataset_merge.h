/*
 * dataset_merge - says that a version's edges, labels, splits, ids and given rows are not stored,
 * but follow from an earlier version and deltas.
 *
 *   dataset/<v0>/... whole <── dataset/<v1>/{delta, merge, schema} <── dataset/<v2>/{...}
 *
 * ingest writes it (stages/ingest/update) before the schema of such a version. Readers of the
 * dataset read it by way of store/versions/merged_records.h. When the deltas have become too large,
 * the next version is stored whole and has no such record.
 *
 *   key       dataset/<id>/merge
 *   sections  "base"        text: the id of the nearest earlier version that is whole
 *             "policy"      U64 [2]: 1 if added edges from a node to itself are left out, 1 if
 *                           repeated added edges are left out
 *             "first_node"  U32 [chunks + 1]: the first node of each of the version's chunks of
 *                           edges, as edge_chunk.h cuts them, and the number of its nodes
 *             "base_first"  U32 [chunks of the base + 1]: the same for the base, so that a chunk is
 *                           found without reading others
 *             "train_class" U64 [classes]: the number of training edges in each class, in a dataset
 *                           whose edges have classes as labels
 *   valid     both lists of nodes begin with 0 and ascend
 *   version   1; 2 with "train_class"
 */
#ifndef STORE_RECORDS_DATASET_DATASET_MERGE_H
#define STORE_RECORDS_DATASET_DATASET_MERGE_H

#include "common/base/error.h"
#include "store/objects/keys.h"
#include "store/objects/store.h"

#include <stdbool.h>
#include <stdint.h>

/* A writer fills all but `view`. */
struct dataset_merge {
    char base[ID_SIZE];
    bool skips_self_loops, removes_repeated;
    uint64_t chunk_count, base_chunk_count;
    const uint32_t *first_node;  /* [chunk_count + 1] */
    const uint32_t *base_first;  /* [base_chunk_count + 1] */
    uint64_t class_count;        /* 0: edges have no classes */
    const uint64_t *train_class; /* [class_count] */
    struct record_view view;     /* release with store_release_record() */
};

MUST_CHECK enum error_code dataset_merge_put(struct store *store, const char *dataset_id,
                                             const struct dataset_merge *merge, struct error *err);
/* Fails: ERROR_NOT_FOUND: the dataset is whole; ERROR_CORRUPT naming record, section, expected and
 * found. */
MUST_CHECK enum error_code dataset_merge_get(struct store *store, const char *dataset_id,
                                             struct dataset_merge *out, struct error *err);
/* Checks and reads a record that is in memory. out->view is a copy of `view`, so only one of the
 * two is to be released. */
MUST_CHECK enum error_code dataset_merge_decode(const struct record_view *view,
                                                struct dataset_merge *out, struct error *err);
/* Copies the id of the version that the dataset is merged from, or "" if the dataset is whole.
 * Fails: ERROR_CORRUPT; ERROR_IO. */
MUST_CHECK enum error_code dataset_merge_base(struct store *store, const char *dataset_id,
                                              char base[ID_SIZE], struct error *err);

#endif
