/*
 * layer_pass - the forward and backward pass of one layer on one block.
 *
 *   aggregation first (the default)             projection first (GCN from wide to narrow)
 *     forward   a = A x, y = a W^T                p = x W^T, y = A p
 *     output    act(y + bias)                     act(y + bias)
 *     backward  dW = dy^T a, da = dy W            dp = A^T dy, dW = dp^T x
 *               dx = A^T da, which the layer      dx = dp W
 *               below makes tile by tile
 *
 * A is the aggregation of operators/aggregation.h, and W the matrices of the layer side by side.
 * The rows of a are called aggregated, the rows of p projected.
 *
 * All work runs over tiles of TILE_ROWS rows, which the threads share. A tile's products, mean,
 * bias, ReLU and dropout are computed while it is in cache. The gradient of weights is summed as
 * partial_sums.h describes. So any number of threads gives the same bits.
 *
 * In bf16 the rows that products read are stored rounded: the input, the aggregated rows, and the
 * output if another layer reads it. Bias, ReLU and dropout come before the rounding. Every gradient
 * is in floats until it becomes an operand.
 *
 * After ReLU and dropout most of dy is zero. A tile of dy in which at most half of the elements
 * passed (in bf16, one sixth) is compressed (sparse_tile.h), and its two products skip the zeros.
 * The forward pass makes this choice from the values, so it does not depend on the threads.
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

/* Rows of an output that are completed in floats before they are rounded: so many stay in the
 * second-level cache. */
enum { LAYER_ROUNDED_ROWS = 128 };

struct layer_pass {
    const struct model_layer *layer;
    const float *parameter[LAYER_PARAMETER_COUNT_MAX]; /* in the order of the kind's parameters */
    /* of a kind that is not linear; the fields behind `activation` are for linear kinds */
    void *state;
    /* dropout of edges in such a kind; only drop_below, scale and stream are used */
    struct activation slot_dropout;
    struct message_block block; /* for a layer that uses no edges: no edges, only sources */
    struct input_rows input;
    /* For a bipartite block, where `input` holds only the sources: the rows of destinations,
     * [destinations, layer->own_dim]; backward leaves their gradient unless this is the first
     * layer. Read them through layer_pass_own_rows(). */
    struct input_rows own;
    float *own_gradient;
    uint64_t first_slot; /* for attention over relations: slots of the relations before this one */
    /* At inference: the aggregation's sums over the sources (operators/aggregation.h), if they are
     * already computed. Then the rows of `input` are those of destinations alone. */
    const float *sum;
    /* For a kind that reads_start: [destinations, input_dim]; backward writes its gradient. */
    const float *second_input;
    float *second_gradient;
    /* mean and variance of the batch norm inside the layer; otherwise NULL */
    const float *running[2];
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
    void *aggregated;          /* [destinations, aggregated_dim]; NULL if not kept for backward */
    uint32_t aggregated_count; /* rows of `aggregated` that are computed before forward */
    void *output;              /* [destinations, output_dim] */
    struct sparse_rows sparse_rows; /* the input, if it is mostly zero (sparse_layer.h) */
    /* with ReLU, if kept for backward: which elements of `output` passed (activation.h) */
    uint64_t *active;
    /* The gradients that backward leaves for the layer below, unless this is the first layer: */
    struct transposed_edges edges;
    float *aggregated_gradient; /* aggregation first: [destinations, aggregated_dim] */
    /* every other layer: [sources, input_dim]; NULL: aggregated_gradient is set instead */
    float *input_gradient;
};

/* Fills in everything but `output`, without dropout. */
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

/* Does the same for a linear layer inside a layer, with one matrix [output_dim, input_dim] and a
 * bias. `layer` is borrowed. */
MUST_CHECK enum error_code
layer_pass_init_matrix(struct layer_pass *out, const struct model_layer *layer, const float *matrix,
                       const float *bias, const struct message_block *block,
                       const struct input_rows *input, struct arena *arena, struct error *err);

/* Computes `output`. `keep`: keeps the values that backward needs. If `aggregated` is set, it is
 * the room of the aggregated rows, the first aggregated_count of which are already computed. */
MUST_CHECK enum error_code layer_pass_forward(struct layer_pass *pass, bool keep,
                                              struct arena *arena, struct thread_pool *pool,
                                              struct error *err);

/* The places of the gradients of the layer's parameters. */
struct layer_gradient {
    float *parameter[LAYER_PARAMETER_COUNT_MAX]; /* in the order of the kind's parameters */
    float *matrix[LAYER_PARAMETER_COUNT_MAX];    /* of the matrices, [output_dim, input_dim] each */
    float *bias;                                 /* [output_dim] */
    /* of the batch norm inside the layer: mean, variance, count; otherwise NULL */
    float *statistics[3];
};

/* Returns the places, in the gradient of the model, for a layer whose tensors are parameter[0 ..]
 * of the table. */
struct layer_gradient layer_pass_gradient(const struct model_layer *layer,
                                          const struct parameter *parameter, float *gradient);

/* Runs the backward pass. The gradient of the output comes from `above` after its own backward, or
 * for the last layer (`above` NULL) from `logits_gradient`. `is_first`: leaves no gradient for a
 * layer below. */
MUST_CHECK enum error_code
layer_pass_backward(struct layer_pass *pass, const struct layer_pass *above,
                    const float *logits_gradient, bool is_first, const struct layer_gradient *out,
                    struct arena *arena, struct thread_pool *pool, struct error *err);

/* For a layer's backward: returns the gradient of the rows first .. end - 1 before bias and
 * activation, in `scratch` [end - first, output_dim] or in place. `above` and `logits_gradient` as
 * in layer_pass_backward(). */
const float *layer_pass_product_gradient(const struct layer_pass *pass,
                                         const struct layer_pass *above,
                                         const float *logits_gradient, uint32_t first, uint32_t end,
                                         float *scratch);

/* For a layer's backward that leaves `aggregated_gradient`: builds `edges` for `aggregation`. */
MUST_CHECK enum error_code layer_pass_transpose_edges(struct layer_pass *pass, struct arena *arena,
                                                      struct error *err);

/* Returns the gradient of the input rows first .. end - 1, of `dim` columns, of a pass after its
 * backward, in `scratch` or in place. */
float *layer_pass_input_gradient(const struct layer_pass *pass, size_t dim, uint32_t first,
                                 uint32_t end, float *scratch);

/* Returns row `row` of an array of rows of `dim` columns that begins at `value`. */
static inline void *layer_pass_row(enum precision precision, void *value, size_t dim, uint32_t row)
{
    return (char *)value + row * precision_stride(precision, dim) * precision_bytes(precision);
}

/* Returns the rows first .. end - 1 of such an array. */
static inline struct rows_view layer_pass_rows(enum precision precision, void *value, size_t dim,
                                               uint32_t first, uint32_t end)
{
    return (struct rows_view){.value = layer_pass_row(precision, value, dim, first),
                              .precision = precision,
                              .rows = end - first,
                              .cols = dim,
                              .stride = precision_stride(precision, dim)};
}

/* Returns the rows of the destinations, which have layer->own_dim columns. */
static inline const struct input_rows *layer_pass_own_rows(const struct layer_pass *pass)
{
    return pass->block.is_bipartite ? &pass->own : &pass->input;
}

/* Applies bias, activation and dropout to output rows first .. end - 1, and stores which elements
 * passed if that is kept. */
void layer_pass_finish(const struct layer_pass *pass, float *rows, uint32_t first, uint32_t end);
/* Reserves room for the bits of the elements that passed. */
MUST_CHECK enum error_code layer_pass_keep_active(struct layer_pass *pass, struct arena *arena,
                                                  struct error *err);

/* Returns the floats of scratch for one thread, rounded up so that every thread's scratch begins at
 * the same place in a cache line. Otherwise the alignment, and with it the bits, could differ
 * between threads. */
static inline size_t layer_pass_scratch(size_t floats)
{
    return (floats + 15) / 16 * 16;
}

/* Returns the number of tiles of so many rows. */
static inline int64_t layer_pass_tiles(uint32_t rows)
{
    return ((int64_t)rows + TILE_ROWS - 1) / TILE_ROWS;
}

/* Returns the end of the tile that begins at row `first`. */
static inline uint32_t layer_pass_tile_end(uint32_t first, uint32_t rows)
{
    return rows - first < TILE_ROWS ? rows : first + TILE_ROWS;
}

#endif
