/*
 * feature_maker - the feature rows of a dataset: the given ones, or rows made for graphs without
 * features.
 *
 *   given     rows of the input, kept in a scratch file until all of the input is known to be good
 *   degree    two columns: log(1 + in-degree), log(1 + out-degree), of the edges as stored (self
 *             loops and kept duplicates count)
 *   random    standard normal numbers that depend on the seed, the node and the column only
 *   none      for a node type whose embeddings are learnt instead
 *
 * Each node type of a graph with relations has a maker of its own.
 *
 * If the settings ask for it, rows are then normalised as PyG's NormalizeFeatures does: the
 * smallest number of the whole table (0 for counts of words) is subtracted, and the row is divided
 * by its sum, or by 1 if the sum is below 1, so that a row of zeros stays one. Columns are
 * standardised to mean 0 and variance 1 over the whole population; a constant column becomes 0. The
 * variance is computed from the distances to the mean, in a pass of its own, because the difference
 * of two large sums of squares would lose all digits when the mean is large. All passes go over the
 * chunks in node order and compute in double.
 *
 * The subtracted and dividing numbers are stored with the dataset (feature_statistics.h). With
 * ingest.feature_statistics they are read from that file instead, by type, so that a model is
 * applied to a graph with the statistics that it was trained with.
 */
#ifndef STAGES_INGEST_BUILD_NODES_FEATURE_MAKER_H
#define STAGES_INGEST_BUILD_NODES_FEATURE_MAKER_H

#include "common/base/error.h"
#include "common/formats/text/feature_scaling.h"
#include "stages/ingest/build/edges/scratch_file.h"
#include "stages/plan/settings/pipeline_settings.h"
#include "store/objects/store.h"

#include <stdbool.h>
#include <stdint.h>

struct feature_maker { /* {0} is closed */
    uint32_t first_node, node_count;
    bool normalise, standardise;
    struct feature_scaling by; /* from ingest.feature_statistics; empty: computed from the rows */
    struct scratch_file given; /* the rows as they came */
    uint64_t given_rows;
    uint32_t given_dim;
    const char *type; /* the node type; NULL: all nodes of a graph without relations. Borrowed */
    uint32_t type_number;
    /* The decisions of feature_maker_choose(). */
    uint32_t dim;       /* 0: no features */
    const char *origin; /* the same text as in the schema */
    bool use_given, use_degree;
    uint32_t random_dim;
    uint64_t seed;
    uint64_t zero_count; /* number of zeros among the numbers written */
    /* [all nodes of the graph], set by the owner before writing when use_degree; borrowed. */
    const uint32_t *in_degree, *out_degree;
};

/* Opens the maker of nodes [first_node, first_node + node_count), with a scratch file at `path`. */
MUST_CHECK enum error_code feature_maker_open(struct feature_maker *maker, const char *path,
                                              const struct pipeline_settings *settings,
                                              uint32_t first_node, uint32_t node_count,
                                              struct error *err);
void feature_maker_close(struct feature_maker *maker);
/* Adds the next given rows [row_count, dim]. Fails: ERROR_INPUT naming where, row and column. */
MUST_CHECK enum error_code feature_maker_add(struct feature_maker *maker, const char *where,
                                             const float *rows, uint64_t row_count, uint32_t dim,
                                             struct error *err);
/* Sets the row [dim] of one node: the alternative to feature_maker_add() for rows in any order.
 * Each node may come once. Fails: ERROR_INPUT naming where and line. */
MUST_CHECK enum error_code feature_maker_put(struct feature_maker *maker, const char *where,
                                             int64_t line, uint64_t node, const float *row,
                                             uint32_t dim, struct error *err);
/* Decides what the features are, once all given rows are there. Fails: ERROR_INPUT when rows are
 * missing; ERROR_INVALID when the settings ask for features that the input lacks. */
MUST_CHECK enum error_code feature_maker_choose(struct feature_maker *maker,
                                                const struct pipeline_settings *settings,
                                                struct error *err);
/* Returns the bytes that feature_maker_write() allocates. */
uint64_t feature_maker_bytes(const struct feature_maker *maker);
/* Makes and stores all rows. Numbers its chunks from *chunk_count on, and advances *chunk_count for
 * the next maker. */
MUST_CHECK enum error_code feature_maker_write(struct feature_maker *maker, struct store *store,
                                               const char *dataset_id, uint64_t *chunk_count,
                                               struct error *err);

#endif
