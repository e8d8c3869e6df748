/*
 * version_count - what the schema of a version and its report say, counted without writing anything.
 *
 * One pass over the base's edges counts those of the version (their number, self loops, nodes without any, degrees where features are made of
 * them) and finds where its chunks begin; another over labels and splits counts these. Rows of features are not read: of the share of zeros
 * that the report has, that of the base's rows is taken as it was.
 */
#ifndef STAGES_INGEST_UPDATE_VERSION_COUNT_H
#define STAGES_INGEST_UPDATE_VERSION_COUNT_H

#include "common/base/error.h"
#include "stages/ingest/build/dataset_summary.h"
#include "stages/ingest/update/version_writer.h"
#include "store/versions/version_rows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A version on the way. */
struct version_draft {
    struct store *store;
    const struct pipeline_settings *settings;
    const char *id;
    const struct dataset_delta *delta;
    const struct update_places *places; /* NULL: what is refused was accepted before */
    enum version_form form;
    uint64_t memory_bytes;
    bool is_merged, makes_features;
    struct version_fold *fold;
    struct dataset_schema schema; /* of the version */
    struct dataset_summary summary;
    /* Where chunks of the base's edges begin, and those of the version. */
    uint32_t *base_first; /* [base chunks + 1] */
    uint32_t *first;      /* [chunk_count + 1] once counted */
    size_t first_room;
    uint64_t chunk_count;
    uint64_t chunk_edges, largest_chunk; /* of the chunk at hand, and of all */
    uint8_t *is_linked; /* [nodes / 8 + 1] a bit a node: it has an edge to another */
    uint32_t *in_degree,
        *out_degree; /* [nodes] where features are made of them; out_degree NULL of an undirected graph */
    struct repeated_edges repeated;
    uint64_t *
        train_class; /* [classes] of labelled edges of classes: how many that are trained on have each; else NULL */
};

/* Whether ingest makes the features of a type: they may be other for every node of a version, and are stored with it. */
bool version_makes_features(const struct dataset_schema *schema, uint32_t type);
/* Fills the schema, the summary and where chunks begin. Fails: ERROR_INPUT where ingest.duplicates refuses an edge that is added, or no training
 * edge is left; ERROR_CORRUPT, ERROR_NO_MEMORY, ERROR_UNAVAILABLE. */
MUST_CHECK enum error_code version_count(struct version_draft *m, struct error *err);

#endif
