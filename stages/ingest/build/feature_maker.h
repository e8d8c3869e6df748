/*
 * feature_maker - the feature rows of a dataset: those given, or made for graphs without.
 *
 *   given     rows of the input, put aside in a scratch file until all of the input is known to be good
 *   degree    two columns: log(1 + in-degree), log(1 + out-degree), of the edges as stored (self loops
 *             and kept duplicates count)
 *   random    standard normal numbers that depend on the seed, the node and the column only
 *
 *   none      of a node type, for which embeddings are learnt instead
 *
 * Each node type of a graph with relations has a maker of its own.
 * Then, when the settings say so, rows are normalised as PyG's NormalizeFeatures has it (less the smallest
 * number of the whole table, which is 0 for counts of words; then divided by the row's sum, or by 1 when
 * that is below 1, so that a row of zeros stays one), and columns standardised to
 * mean 0 and variance 1 (of the whole population; a constant column becomes 0). The variance is that of
 * the distances from the mean, in a pass of its own: the difference of two large sums of squares would
 * lose all digits when the mean is large. All passes go over the chunks in node order, in double.
 *
 * What was taken off and divided by is stored with the dataset (feature_statistics.h). With ingest.feature_statistics
 * both are those of that file instead, by type: a model is applied to a graph in the measure of the one it was trained on.
 */
#ifndef STAGES_INGEST_BUILD_FEATURE_MAKER_H
#define STAGES_INGEST_BUILD_FEATURE_MAKER_H

#include "common/base/error.h"
#include "common/formats/feature_scaling.h"
#include "stages/ingest/build/scratch_file.h"
#include "stages/plan/pipeline_settings.h"
#include "store/objects/store.h"

#include <stdbool.h>
#include <stdint.h>

struct feature_maker { /* {0} is closed */
    uint32_t first_node, node_count;
    bool normalise, standardise;
    struct feature_scaling by; /* ingest.feature_statistics; empty: of the rows themselves */
    struct scratch_file given; /* rows as they came */
    uint64_t given_rows;
    uint32_t given_dim;
    const char *type; /* node type; NULL: all nodes of a graph without relations. Borrowed */
    uint32_t type_number;
    /* What feature_maker_choose() decided. */
    uint32_t dim;       /* 0: no features */
    const char *origin; /* as in the schema */
    bool use_given, use_degree;
    uint32_t random_dim;
    uint64_t seed;
    uint64_t zero_count; /* of the numbers written */
    /* Of all nodes of the graph, set by the owner before writing when use_degree; borrowed. */
    const uint32_t *in_degree, *out_degree;
};

/* For nodes [first_node, first_node + node_count). `path`: of the scratch file. */
MUST_CHECK enum error_code feature_maker_open(struct feature_maker *maker, const char *path,
                                              const struct pipeline_settings *settings,
                                              uint32_t first_node, uint32_t node_count,
                                              struct error *err);
void feature_maker_close(struct feature_maker *maker);
/* The next given rows [row_count, dim]. Fails: ERROR_INPUT naming where, row and column. */
MUST_CHECK enum error_code feature_maker_add(struct feature_maker *maker, const char *where,
                                             const float *rows, uint64_t row_count, uint32_t dim,
                                             struct error *err);
/* The row [dim] of one node, instead; each once, in any order. Fails: ERROR_INPUT naming where and line. */
MUST_CHECK enum error_code feature_maker_put(struct feature_maker *maker, const char *where,
                                             int64_t line, uint64_t node, const float *row,
                                             uint32_t dim, struct error *err);
/* Decides what the features are, all given rows being there.
 * Fails: ERROR_INPUT when rows are missing; ERROR_INVALID when the settings ask for what is not there. */
MUST_CHECK enum error_code feature_maker_choose(struct feature_maker *maker,
                                                const struct pipeline_settings *settings,
                                                struct error *err);
/* Bytes that feature_maker_write() allocates. */
uint64_t feature_maker_bytes(const struct feature_maker *maker);
/* Makes and stores all rows, in chunks from *chunk_count on, which becomes that of the next. */
MUST_CHECK enum error_code feature_maker_write(struct feature_maker *maker, struct store *store,
                                               const char *dataset_id, uint64_t *chunk_count,
                                               struct error *err);

#endif
