/*
 * layer_pass - one layer at work on one block: forward, and what backward needs of it.
 *
 * aggregation first (the default)             projection first (GCN from wide to narrow)
 *   forward   a = A x, y = a W^T                p = x W^T, y = A p
 *   output    act(y + bias)                     act(y + bias)
 *   backward  dW = dy^T a, da = dy W            dp = A^T dy, dW = dp^T x
 *             dx = A^T da, which the layer      dx = dp W
 *             below makes tile by tile
 *
 * A is the aggregation of operators/aggregation.h, and W the matrices of the layer side by side: the rows of a
 * and p are called aggregated and projected.
 *
 * Everything runs over tiles of TILE_ROWS rows. Threads share the tiles out; a tile's products, its mean,
 * bias, ReLU and dropout are done while it is in cache. The gradient of weights is summed as partial_sums.h
 * says. So any number of threads gives the same bits.
 *
 * In bf16 the rows that products read are kept rounded: the input, the aggregated rows, and the output when
 * another layer reads it. Bias, ReLU and dropout come before the rounding, and every gradient is in floats
 * until it is an operand.
 *
 * After ReLU and dropout most of dy is zero. A tile of it in which at most half of the elements passed (in bf16, one sixth)
 * is compressed (sparse_tile.h), and its two products leave the zeros out. The forward pass decides that,
 * not the threads.
 */
#ifndef COMMON_NN_LAYERS_LAYER_PASS_H
#define COMMON_NN_LAYERS_LAYER_PASS_H

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/graph/message_block.h"
#include "common/graph/transposed_edges.h"
#include "common/math/matrix.h"
#include "common/nn/description/model_description.h"
#include "common/nn/layers/layer.h"
#include "common/nn/operators/activation.h"
#include "common/nn/operators/aggregation.h"
#include "common/nn/operators/linear.h"
#include "common/nn/operators/sparse_rows.h"
#include "common/parallel/thread_pool.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TILE_ROWS = 512 };

/* Rows of an output that are finished before they are rounded: they stay in the second cache. */
enum { LAYER_ROUNDED_ROWS = 128 };

struct layer_pass {
    const struct model_layer *layer;
    const float *parameter[LAYER_PARAMETER_COUNT_MAX]; /* in the order of its row of the table */
    void *state; /* of a kind that is not linear; what follows `activation` is of linear ones */
    struct activation
        slot_dropout;           /* of edges, by such a kind: drop_below, scale and stream alone */
    struct message_block block; /* of a layer that uses no edges: without any, sources alone */
    struct input_rows input;
    /* In a bipartite block, where `input` has the sources alone: the rows of destinations,
     * [destinations, layer->own_dim]; backward leaves their gradient unless this is the first
     * layer. Read through layer_pass_own_rows(). */
    struct input_rows own;
    float *own_gradient;
    uint64_t first_slot; /* of attention over relations: slots of the relations before this one */
    /* In inference: the aggregation's sums over the sources (operators/aggregation.h), if they are there already. Then the rows of
     * `input` are those of destinations alone. */
    const float *sum;
    /* Of a kind that reads_start: [destinations, input_dim]; backward writes the gradient of it. */
    const float *second_input;
    float *second_gradient;
    const float *running[2]; /* mean and variance of the batch norm inside the layer; else NULL */
    uint32_t input_dim, output_dim;
    size_t aggregated_dim; /* columns of the weight matrix */
    struct aggregation aggregation;
    struct activation activation;
    int matrix_count;
    bool projects_first;
    struct linear_weight
        weight;               /* [output_dim, aggregated_dim]: the layer's matrices side by side */
    enum precision precision; /* of input, aggregated rows and weights */
    enum precision output_precision; /* float unless set after init */
    void *aggregated;          /* [destinations, aggregated_dim]; NULL when not kept for backward */
    uint32_t aggregated_count; /* of its rows that are there before forward */
    void *output;              /* [destinations, output_dim] */
    struct sparse_rows sparse_rows; /* the input, when it is mostly zero (sparse_layer.h) */
    uint64_t *active; /* with ReLU, when kept for backward: bits of `output` (activation.h) */
    /* Left by backward for the layer below, unless this is the first: */
    struct transposed_edges edges;
    float *aggregated_gradient; /* aggregation first: [destinations, aggregated_dim] */
    float *input_gradient;      /* all others: [sources, input_dim]; NULL: the above counts */
};

/* Fills everything but `output`, and draws no dropout. */
MUST_CHECK enum error_code layer_pass_init(struct layer_pass *out, const struct model *model,
                                           const float *value, int layer,
                                           const struct message_block *block,
                                           const struct input_rows *input, struct arena *arena,
                                           struct error *err);

/* Does the same for a layer whose tensors are parameter[0 .. layer->parameter_count - 1] of the
 * table. `layer` is borrowed. */
MUST_CHECK enum error_code
layer_pass_init_tensors(struct layer_pass *out, const struct model_layer *layer,
                        const struct parameter *parameter, const float *value,
                        const struct message_block *block, const struct input_rows *input,
                        struct arena *arena, struct error *err);

/* The same of a linear layer inside a layer, with one matrix [output_dim, input_dim] and a bias. `layer` is borrowed. */
MUST_CHECK enum error_code
layer_pass_init_matrix(struct layer_pass *out, const struct model_layer *layer, const float *matrix,
                       const float *bias, const struct message_block *block,
                       const struct input_rows *input, struct arena *arena, struct error *err);

/* Computes `output`. `keep`: leave what backward needs. A `aggregated` that is set holds the aggregated rows. */
MUST_CHECK enum error_code layer_pass_forward(struct layer_pass *pass, bool keep,
                                              struct arena *arena, struct thread_pool *pool,
                                              struct error *err);

/* Where the gradients of the layer's parameters go. */
struct layer_gradient {
    float *parameter[LAYER_PARAMETER_COUNT_MAX]; /* in the order of the layer's row of the table */
    float *matrix[LAYER_PARAMETER_COUNT_MAX];    /* of them, [output_dim, input_dim] each */
    float *bias;                                 /* [output_dim] */
    float *statistics[3]; /* of the batch norm inside the layer: mean, variance, count; else NULL */
};

/* Returns the places, in the whole gradient, of a layer whose tensors are parameter[0 ..] of the
 * table. */
struct layer_gradient layer_pass_gradient(const struct model_layer *layer,
                                          const struct parameter *parameter, float *gradient);

/* The gradient of the output comes from `above` after its own backward, or for the last layer (`above`
 * NULL) from `logits_gradient`. `is_first`: nothing is left for a layer below. */
MUST_CHECK enum error_code
layer_pass_backward(struct layer_pass *pass, const struct layer_pass *above,
                    const float *logits_gradient, bool is_first, const struct layer_gradient *out,
                    struct arena *arena, struct thread_pool *pool, struct error *err);

/* For a layer's backward: the gradient of the rows first .. end - 1 before bias and activation, in `scratch`
 * [end - first, output_dim] or where it lies. `above` and `logits_gradient` as in layer_pass_backward(). */
const float *layer_pass_product_gradient(const struct layer_pass *pass,
                                         const struct layer_pass *above,
                                         const float *logits_gradient, uint32_t first, uint32_t end,
                                         float *scratch);

/* For a layer's backward that leaves `aggregated_gradient`: makes `edges`, as `aggregation` wants them. */
MUST_CHECK enum error_code layer_pass_transpose_edges(struct layer_pass *pass, struct arena *arena,
                                                      struct error *err);

/* Of a pass after its backward: the gradient of its input rows first .. end - 1, of `dim` columns, in `scratch` or where
 * it lies. */
float *layer_pass_input_gradient(const struct layer_pass *pass, size_t dim, uint32_t first,
                                 uint32_t end, float *scratch);

/* Row `row` of those of `dim` columns that lie together from `value` on. */
static inline void *layer_pass_row(enum precision precision, void *value, size_t dim, uint32_t row)
{
    return (char *)value + row * precision_stride(precision, dim) * precision_bytes(precision);
}

/* The rows first .. end - 1 of them. */
static inline struct rows_view layer_pass_rows(enum precision precision, void *value, size_t dim,
                                               uint32_t first, uint32_t end)
{
    return (struct rows_view){.value = layer_pass_row(precision, value, dim, first),
                              .precision = precision,
                              .rows = end - first,
                              .cols = dim,
                              .stride = precision_stride(precision, dim)};
}

/* The rows of the destinations, of layer->own_dim columns. */
static inline const struct input_rows *layer_pass_own_rows(const struct layer_pass *pass)
{
    return pass->block.is_bipartite ? &pass->own : &pass->input;
}

/* Bias, activation and dropout of output rows first .. end - 1, and the bits of them if they are kept. */
void layer_pass_finish(const struct layer_pass *pass, float *rows, uint32_t first, uint32_t end);
/* Room for the bits. */
MUST_CHECK enum error_code layer_pass_keep_active(struct layer_pass *pass, struct arena *arena,
                                                  struct error *err);

/* Floats of scratch for one thread, so that all threads' start on a cache line alike: where memory lies
 * must not be a way in which threads differ. */
static inline size_t layer_pass_scratch(size_t floats)
{
    return (floats + 15) / 16 * 16;
}

static inline int64_t layer_pass_tiles(uint32_t rows)
{
    return ((int64_t)rows + TILE_ROWS - 1) / TILE_ROWS;
}

static inline uint32_t layer_pass_tile_end(uint32_t first, uint32_t rows)
{
    return rows - first < TILE_ROWS ? rows : first + TILE_ROWS;
}

#endif
