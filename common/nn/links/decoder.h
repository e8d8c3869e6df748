/*
 * decoder - the scores of a pair of nodes, from what the model gives of its two ends: a row of link_lists.h and a file each.
 * A link has one score; a labelled edge has one for each class, or one number, where the decoder takes so many outputs.
 *
 *   prepare   what the source gives to every pair that it is in: a query [decoder_query()]
 *   score     of a query and many targets; the same bits however many, so that ranks among all nodes agree with the
 *             scores that they are of
 *   backward  the gradient of the scores of a pair for both rows and for the parameters, added to what is there
 *
 * Parameters stand behind the layers' in the model's table (model.h), called "decoder.<suffix>", and go with the weights
 * wherever those go. Loops are kernels of common/math/vector.h: the same bits on every level of vector instructions.
 *
 * To add one: <name>_decoder.c with its `const struct decoder_type <name>_decoder`, its row in link_lists.h, a row of `trials` in
 * tests/common/nn/links/decoder_test.c, which holds it to its formula and to central differences, and a line in
 * pipelines/README.md.
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
    float bound, start;
};

struct decoder_type;

struct decoder {
    const struct decoder_type *type;
    uint32_t dim;
    uint32_t outputs;                                    /* scores of a pair, at least 1 */
    const float *parameter[DECODER_PARAMETER_COUNT_MAX]; /* borrowed */
};

struct decoder_type {
    const char *name;
    bool takes_outputs; /* more than one */
    /* Returns how many. */
    int (*parameters)(uint32_t dim, uint32_t outputs, struct decoder_parameter *out);
    void (*prepare)(const struct decoder *decoder, const float *source, float *query);
    /* score [count, outputs] of rows index[0 .. count) of `target`; index NULL: 0 .. count - 1. scratch [decoder_scratch()]. */
    void (*score)(const struct decoder *decoder, const float *query, const float *target,
                  const uint32_t *index, size_t count, float *score, float *scratch);
    /* For the gradient [outputs] of the scores of one pair. source_gradient and target_gradient [dim] may be the same row. */
    void (*backward)(const struct decoder *decoder, const float *source, const float *target,
                     const float *gradient, float *source_gradient, float *target_gradient,
                     float *const *parameter_gradient, float *scratch);
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

/* What several decoders are made of: score[i] = query . target[index[i]]. */
void decoder_dots(const float *query, const float *target, const uint32_t *index, size_t dim,
                  size_t count, float *score);
/* The same of each output's own query, in score [count, outputs]. */
void decoder_query_dots(const struct decoder *decoder, const float *query, const float *target,
                        const uint32_t *index, size_t count, float *score);
/* y += scale x; y += scale a b. */
void decoder_add_scaled(float *y, const float *x, float scale, size_t count);
void decoder_add_product(float *y, const float *a, const float *b, float scale, size_t count);
/* No parameters. */
int decoder_no_parameters(uint32_t dim, uint32_t outputs, struct decoder_parameter *out);

#endif
