/*
 * version_count - counts what the schema and the report of a version contain, without writing
 * anything.
 *
 * One pass over the base's edges counts those of the version (number, self loops, nodes without
 * edges, and degrees if features are made of them) and finds where its chunks begin. Another pass
 * counts labels and splits. Rows of features are not read: the share of zeros in the report is that
 * of the base.
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

/* A version that is being made. */
struct version_draft {
    struct store *store;
    const struct pipeline_settings *settings;
    const char *id;
    const struct dataset_delta *delta;
    /* NULL: the delta was accepted before, so nothing is refused */
    const struct update_places *places;
    enum version_form form;
    uint64_t memory_bytes;
    bool is_merged, makes_features;
    struct version_fold *fold;
    struct dataset_schema schema; /* schema of the version */
    struct dataset_summary summary;
    /* The first nodes of the chunks of edges, for the base and for the version. */
    uint32_t *base_first; /* [base chunks + 1] */
    uint32_t *first;      /* [chunk_count + 1] once counted */
    size_t first_room;
    uint64_t chunk_count;
    uint64_t chunk_edges, largest_chunk; /* edges of the current chunk, and of the largest */
    uint8_t *is_linked; /* [nodes / 8 + 1] one bit a node: it has an edge to another node */
    /* [nodes] if features are made of degrees; out_degree is NULL for an undirected graph */
    uint32_t *in_degree, *out_degree;
    struct repeated_edges repeated;
    /* [classes] number of training edges with each class, for labelled edges with classes; else
     * NULL */
    uint64_t *train_class;
};

/* Returns whether ingest makes the features of a type. Such features may change for every node with
 * each version, so they are stored with it. */
bool version_makes_features(const struct dataset_schema *schema, uint32_t type);
/* Fills the schema, the summary and the starts of chunks. Fails: ERROR_INPUT if ingest.duplicates
 * refuses an added edge, or no training edge is left; ERROR_CORRUPT, ERROR_NO_MEMORY,
 * ERROR_UNAVAILABLE. */
MUST_CHECK enum error_code version_count(struct version_draft *m, struct error *err);

#endif
