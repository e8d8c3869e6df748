/*
 * decoder - the scores of a pair of nodes, from what the model gives of its two ends: a row of link_lists.h and a file each.
 * A link has one score; a labelled edge has one for each class, or one number, where the decoder takes so many outputs.
 *
 *   prepare   what one end gives to every pair that it is in with that relation: a query
 *             [decoder_query()]
 *   score     of a query and many other ends; the same bits however many, so that ranks among all nodes agree with the
 *             scores that they are of
 *
 * and the way back, of which each step writes for one thread alone (pair_pass.h puts them in order):
 *
 *   score_back    of many scores: to the query and to the parameters that score() reads
 *   other_back    of one score: to the row of the other end
 *   prepare_back  from the query: to the row that it was made of and to the parameters that prepare() reads
 *
 * Parameters stand behind the layers' in the model's table (model.h), called "decoder.<suffix>", and go with the weights
 * wherever those go. Loops are kernels of common/math/vector.h: the same bits on every level of vector instructions.
 *
 * To add one: <name>_decoder.c with its `const struct decoder_type <name>_decoder`, its row in link_lists.h, a row of `trials` in
 * tests/common/nn/links/decoder_test.c, which holds it to its formula and to central differences, and
 * pipelines/guide/reference.md made anew.
 */
#ifndef COMMON_NN_LINKS_DECODER_H
#define COMMON_NN_LINKS_DECODER_H

#include "common/nn/links/link_lists.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DECODER_PARAMETER_COUNT_MAX = 4 };

struct decoder_parameter {
    const char *suffix; /* behind "decoder." */
    int dim_count;      /* as in struct parameter (model.h), as are the others */
    uint32_t rows, cols;
    float bound;
};

struct decoder_type;

/* The end that a query is of. */
enum pair_end { PAIR_SOURCE, PAIR_TARGET };

struct decoder {
    const struct decoder_type *type;
    uint32_t dim;
    uint32_t outputs;                                    /* scores of a pair, at least 1 */
    uint32_t relation_count;                             /* at least 1 */
    const float *parameter[DECODER_PARAMETER_COUNT_MAX]; /* borrowed */
};

/* What score_back() is given of pairs with one query. */
struct decoder_back {
    const struct decoder *decoder;
    enum pair_end end;
    const float *query;               /* [decoder_query()] */
    const float *other;               /* rows */
    const float *gradient;            /* [count, outputs] */
    float *query_gradient;            /* [decoder_query()], added to */
    float *const *parameter_gradient; /* [as decoder->parameter[i]] each, added to */
    float *kept;                      /* [count, dim] to be written, if it keeps_row */
};

struct decoder_type {
    const char *name;
    bool takes_outputs; /* more than one */
    bool
        by_relation; /* it has numbers for each relation; others give pairs of all relations one score */
    bool is_product; /* of one output the score is the inner product of a query and a row */
    bool keeps_row;  /* score_back() keeps a row [dim] of each pair for other_back() */
    /* Returns how many. */
    int (*parameters)(uint32_t dim, uint32_t outputs, uint32_t relations,
                      struct decoder_parameter *out);
    /* `end`, here and below: the end that the query is of. */
    void (*prepare)(const struct decoder *decoder, enum pair_end end, uint32_t relation,
                    const float *row, float *query);
    /* score [count, outputs] of rows index[0 .. count) of `other`; index NULL: 0 .. count - 1. scratch [decoder_scratch()]. */
    void (*score)(const struct decoder *decoder, enum pair_end end, const float *query,
                  const float *other, const uint32_t *index, size_t count, float *score,
                  float *scratch);
    void (*score_back)(const struct decoder_back *back, const uint32_t *index, size_t count,
                       float *scratch);
    /* For gradient [outputs] of one pair; adds to other_gradient [dim]. */
    void (*other_back)(const struct decoder *decoder, enum pair_end end, const float *query,
                       const float *other, const float *gradient, const float *kept,
                       float *other_gradient);
    /* Writes row_gradient [dim], and adds to those of parameters. */
    void (*prepare_back)(const struct decoder *decoder, enum pair_end end, uint32_t relation,
                         const float *row, const float *query_gradient, float *row_gradient,
                         float *const *parameter_gradient);
};

#define DECODER_ROW(number, name, help) extern const struct decoder_type name##_decoder;
DECODER_LIST(DECODER_ROW)
#undef DECODER_ROW

const struct decoder_type *decoder_type_of(enum decoder_kind kind);

/* Floats. */
static inline size_t decoder_scratch(uint32_t dim)
{
    return 3 * (size_t)dim;
}

static inline size_t decoder_query(const struct decoder *decoder)
{
    return (size_t)decoder->dim * decoder->outputs;
}

/* What several decoders are made of: score[i] = query . other[index[i]]. */
void decoder_dots(const float *query, const float *other, const uint32_t *index, size_t dim,
                  size_t count, float *score);
/* y += scale x; y += scale a b. */
void decoder_add_scaled(float *y, const float *x, float scale, size_t count);
void decoder_add_product(float *y, const float *a, const float *b, float scale, size_t count);
/* Whether any of them is not 0. */
bool decoder_is_sloped(const float *gradient, size_t count);
/* Of decoders whose scores are inner products of the other end and a query for each output: score(), score_back() and other_back(). */
void decoder_query_dots(const struct decoder *decoder, enum pair_end end, const float *query,
                        const float *other, const uint32_t *index, size_t count, float *score,
                        float *scratch);
void decoder_query_dots_back(const struct decoder_back *back, const uint32_t *index, size_t count,
                             float *scratch);
void decoder_query_other_back(const struct decoder *decoder, enum pair_end end, const float *query,
                              const float *other, const float *gradient, const float *kept,
                              float *other_gradient);
/* Of decoders whose query is the row itself: prepare() and prepare_back(). */
void decoder_copy_row(const struct decoder *decoder, enum pair_end end, uint32_t relation,
                      const float *row, float *query);
void decoder_copy_row_back(const struct decoder *decoder, enum pair_end end, uint32_t relation,
                           const float *row, const float *query_gradient, float *row_gradient,
                           float *const *parameter_gradient);
/* No parameters. */
int decoder_no_parameters(uint32_t dim, uint32_t outputs, uint32_t relations,
                          struct decoder_parameter *out);

#endif
