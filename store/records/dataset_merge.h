/*
 * dataset_merge - that edges, labels, splits, ids and given rows of a version are not stored, but follow from an earlier one and deltas.
 *
 *   dataset/<v0>/...   whole <── dataset/<v1>/delta, merge, schema <── dataset/<v2>/delta, merge, schema
 *
 * Written by ingest (stages/ingest/update) before the schema of such a version; read by whoever reads its dataset, by way of
 * store/versions/merged_records.h. A version whose deltas are too much has no such record, and all others instead.
 *
 *   key       dataset/<id>/merge
 *   sections  "base"        text: the id of the nearest version before that is whole
 *             "policy"      U64 [2]: 1 where edges from a node to itself are left out of what is added; 1 where repeated edges are
 *             "first_node"  U32 [chunks + 1]: where the version's chunks of edges begin, as edge_chunk.h cuts them, and the number of its nodes
 *             "base_first"  U32 [chunks of the base + 1]: the same of the base, so that none is read to find another
 *             "train_class" U64 [classes]: of a dataset of labelled edges that are of classes: how many of those that are trained on have each
 *   valid     both begin with 0 and ascend
 *   version   1; 2 with "train_class"
 */
#ifndef STORE_RECORDS_DATASET_MERGE_H
#define STORE_RECORDS_DATASET_MERGE_H

#include "common/base/error.h"
#include "store/objects/keys.h"
#include "store/objects/store.h"

#include <stdbool.h>
#include <stdint.h>

/* For writing, fill all but `view`. */
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
/* Fails: ERROR_NOT_FOUND: the dataset is whole; ERROR_CORRUPT naming record, section, expected and found. */
MUST_CHECK enum error_code dataset_merge_get(struct store *store, const char *dataset_id,
                                             struct dataset_merge *out, struct error *err);
/* The checks alone, of a record of any origin. out->view is a copy of `view`, so only one of the two is to be released. */
MUST_CHECK enum error_code dataset_merge_decode(const struct record_view *view,
                                                struct dataset_merge *out, struct error *err);
/* The id of the version that the dataset is merged from, or "" of one that is whole. Fails: ERROR_CORRUPT; ERROR_IO. */
MUST_CHECK enum error_code dataset_merge_base(struct store *store, const char *dataset_id,
                                              char base[ID_SIZE], struct error *err);

#endif
