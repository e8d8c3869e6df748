/*
 * decoder - computes the scores of a pair of nodes from the two rows that the model gives its ends.
 * Each decoder is a row of link_lists.h and a file. A link has one score. A labelled edge has one
 * score for each class, or one number, if the decoder takes several outputs.
 *
 *   prepare   computes the query [decoder_query()]: what one end contributes to every pair that it
 *             is in with that relation
 *   score     computes the scores of one query with many other ends. The bits do not depend on how
 *             many ends there are, so ranks among all nodes agree with the scores behind them.
 *
 * Three functions compute the gradients. Each call writes for one thread alone (pair_pass.h orders
 * the calls):
 *
 *   score_back    from many scores to the query and to the parameters that score() reads
 *   other_back    from one score to the row of the other end
 *   prepare_back  from the query to the row that it was computed from and to the parameters that
 *                 prepare() reads
 *
 * The parameters follow those of the layers in the model's table (model.h). They are called
 * "decoder.<suffix>" and are stored and copied with the other weights. Loops are kernels of
 * common/math/vector.h, so they give the same bits at every level of vector instructions.
 *
 * To add a decoder: write <name>_decoder.c with its `const struct decoder_type <name>_decoder`; add
 * a row to link_lists.h; add a row to `trials` in tests/common/nn/links/decoder_test.c, which
 * checks the decoder against its formula and against central differences; and generate
 * pipelines/guide/reference.md again.
 */
#ifndef COMMON_NN_LINKS_DECODER_H
#define COMMON_NN_LINKS_DECODER_H

#include "common/nn/links/link_lists.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DECODER_PARAMETER_COUNT_MAX = 4 };

struct decoder_parameter {
    const char *suffix; /* what follows "decoder." in the name */
    int dim_count;      /* this and the other fields: as in struct parameter (model.h) */
    uint32_t rows, cols;
    float bound;
};

struct decoder_type;

/* The end that a query is computed from. */
enum pair_end { PAIR_SOURCE, PAIR_TARGET };

struct decoder {
    const struct decoder_type *type;
    uint32_t dim;
    uint32_t outputs;                                    /* scores of a pair, at least 1 */
    uint32_t relation_count;                             /* at least 1 */
    const float *parameter[DECODER_PARAMETER_COUNT_MAX]; /* borrowed */
};

/* The arguments of score_back() for the pairs of one query. */
struct decoder_back {
    const struct decoder *decoder;
    enum pair_end end;
    const float *query;               /* [decoder_query()] */
    const float *other;               /* rows of the other ends */
    const float *gradient;            /* [count, outputs] */
    float *query_gradient;            /* [decoder_query()]; added to */
    float *const *parameter_gradient; /* each as decoder->parameter[i]; added to */
    float *kept;                      /* [count, dim]; written if the decoder has keeps_row */
};

struct decoder_type {
    const char *name;
    bool takes_outputs; /* accepts more than one output */
    /* has parameters for each relation; otherwise the relation does not change the score */
    bool by_relation;
    bool is_product; /* with one output, the score is the inner product of query and row */
    bool keeps_row;  /* score_back() keeps a row [dim] of each pair for other_back() */
    /* Returns the number of parameters. */
    int (*parameters)(uint32_t dim, uint32_t outputs, uint32_t relations,
                      struct decoder_parameter *out);
    /* `end`, here and below, is the end that the query is computed from. */
    void (*prepare)(const struct decoder *decoder, enum pair_end end, uint32_t relation,
                    const float *row, float *query);
    /* Writes score [count, outputs] for the rows index[0 .. count) of `other`; index NULL means
     * rows 0 .. count - 1. scratch [decoder_scratch()]. */
    void (*score)(const struct decoder *decoder, enum pair_end end, const float *query,
                  const float *other, const uint32_t *index, size_t count, float *score,
                  float *scratch);
    void (*score_back)(const struct decoder_back *back, const uint32_t *index, size_t count,
                       float *scratch);
    /* Reads gradient [outputs] of one pair and adds to other_gradient [dim]. */
    void (*other_back)(const struct decoder *decoder, enum pair_end end, const float *query,
                       const float *other, const float *gradient, const float *kept,
                       float *other_gradient);
    /* Writes row_gradient [dim], and adds to the gradients of the parameters. */
    void (*prepare_back)(const struct decoder *decoder, enum pair_end end, uint32_t relation,
                         const float *row, const float *query_gradient, float *row_gradient,
                         float *const *parameter_gradient);
};

#define DECODER_ROW(number, name, help) extern const struct decoder_type name##_decoder;
DECODER_LIST(DECODER_ROW)
#undef DECODER_ROW

const struct decoder_type *decoder_type_of(enum decoder_kind kind);

/* Returns the size of the scratch in floats. */
static inline size_t decoder_scratch(uint32_t dim)
{
    return 3 * (size_t)dim;
}

static inline size_t decoder_query(const struct decoder *decoder)
{
    return (size_t)decoder->dim * decoder->outputs;
}

/* Computes score[i] = query . other[index[i]], which several decoders use. */
void decoder_dots(const float *query, const float *other, const uint32_t *index, size_t dim,
                  size_t count, float *score);
/* Compute y += scale x and y += scale a b. */
void decoder_add_scaled(float *y, const float *x, float scale, size_t count);
void decoder_add_product(float *y, const float *a, const float *b, float scale, size_t count);
/* Returns whether any element of the gradient is not 0. */
bool decoder_is_sloped(const float *gradient, size_t count);
/* score(), score_back() and other_back() of decoders that have a query for each output and whose
 * scores are inner products of the other end with those queries. */
void decoder_query_dots(const struct decoder *decoder, enum pair_end end, const float *query,
                        const float *other, const uint32_t *index, size_t count, float *score,
                        float *scratch);
void decoder_query_dots_back(const struct decoder_back *back, const uint32_t *index, size_t count,
                             float *scratch);
void decoder_query_other_back(const struct decoder *decoder, enum pair_end end, const float *query,
                              const float *other, const float *gradient, const float *kept,
                              float *other_gradient);
/* prepare() and prepare_back() of decoders whose query is the row itself. */
void decoder_copy_row(const struct decoder *decoder, enum pair_end end, uint32_t relation,
                      const float *row, float *query);
void decoder_copy_row_back(const struct decoder *decoder, enum pair_end end, uint32_t relation,
                           const float *row, const float *query_gradient, float *row_gradient,
                           float *const *parameter_gradient);
/* parameters() of decoders without parameters. Returns 0. */
int decoder_no_parameters(uint32_t dim, uint32_t outputs, uint32_t relations,
                          struct decoder_parameter *out);

#endif
