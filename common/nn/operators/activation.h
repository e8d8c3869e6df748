/*
 * activation - what follows a layer's product while the tile is in cache: bias, ReLU, dropout.
 *
 * Dropout is inverted (kept values are scaled up, so evaluation needs nothing). The draw of an element
 * is 16 bits of the Philox block (row, column / 8), so it depends on neither threads nor tiles; the
 * share dropped is rounded to 1/65536, and the scale is that of the rounded share.
 *
 * Forward can leave one bit for each element, whether the output is above 0: then the value was active and
 * kept, and its gradient passes. That is all of the output that backward reads.
 */
#ifndef COMMON_NN_OPERATORS_ACTIVATION_H
#define COMMON_NN_OPERATORS_ACTIVATION_H

#include "common/numbers/random.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As torch.nn.functional has them: elu with alpha 1, leaky_relu with a slope of 0.01 below 0. */
#define ACTIVATION_LIST(ROW)                                                                       \
    ROW(RELU, relu) ROW(ELU, elu) ROW(LEAKY_RELU, leaky_relu) ROW(NONE, none)

#define ROW(constant, name) ACTIVATION_##constant,
enum activation_kind {
    ACTIVATION_LIST(ROW) ACTIVATION_KIND_COUNT,
    ACTIVATION_AUTO = ACTIVATION_KIND_COUNT /* in settings: what fits the layer's place */
};
#undef ROW
/* In pipeline files; NULL behind the last. */
extern const char *const activation_names[ACTIVATION_KIND_COUNT + 1];

struct activation {      /* {.scale = 1} adds nothing and changes nothing */
    const float *bias;   /* [dim], or NULL */
    bool relu;           /* dropout is for layers with ReLU only */
    uint32_t drop_below; /* of 65536; 0: no dropout */
    float scale;         /* 1 / share kept */
    struct random_stream stream;
};

/* Sets the share dropped, `dropout` in [0, 1). */
void activation_set_dropout(struct activation *activation, float dropout,
                            struct random_stream stream);
/* Words of bits for a row: bit c % 64 of word c / 64 is column c, those beyond `dim` are 0. */
static inline size_t activation_words(size_t dim)
{
    return (dim + 63) / 64;
}

/* In place on `row_count` rows of `dim`; `first_row` is the first one's number in its layer.
 * `active` [row_count, activation_words(dim)], or NULL; only with ReLU. */
void activation_forward(const struct activation *activation, float *rows, size_t dim,
                        size_t first_row, size_t row_count, uint64_t *active);
/* Gradient of the product from that of the output, in place on `row_count` rows of `dim`. */
void activation_backward(const struct activation *activation, const uint64_t *active,
                         float *gradient, size_t dim, size_t row_count);

/* y = f(x) for any kind, element by element; in place or not. */
void activation_apply(enum activation_kind kind, const float *x, float *y, size_t count);
/* gradient *= f'(x). */
void activation_apply_backward(enum activation_kind kind, const float *x, float *gradient,
                               size_t count);

/* Dropout alone, in place on `row_count` rows of `dim`: the draws of activation_forward(). Nothing when there are
 * none. The same of a gradient is its backward. */
void activation_drop(const struct activation *activation, float *rows, size_t dim, size_t first_row,
                     size_t row_count);

#endif
