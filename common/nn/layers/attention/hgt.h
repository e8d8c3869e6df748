/*
 * hgt - the parts of the heterogeneous graph transformer; hgt_layer.c gives the equations.
 *
 * hgt_matrices.c has the matrices of a relation, hgt_rows.c the operations on single rows around
 * them, and hgt_layer.c the attention and the order of all steps.
 */
#ifndef COMMON_NN_LAYERS_ATTENTION_HGT_H
#define COMMON_NN_LAYERS_ATTENTION_HGT_H

#include "common/nn/layers/attention/relation_attention.h"
#include "common/nn/typed/row_product.h"

enum { HGT_KEY, HGT_QUERY, HGT_VALUE, HGT_KQV_COUNT };
/* Order of the tensors: of a type, then of all relations, then of a type, then of each relation. */
enum { HGT_KQV_WEIGHT, HGT_KQV_BIAS, HGT_OUT_WEIGHT, HGT_OUT_BIAS, HGT_OF_TYPE_COUNT };

struct hgt_type {
    /* NULL without rows; queries are computed for destinations alone */
    struct row_product *kqv[HGT_KQV_COUNT];
    struct row_product *out;
    float *sum, *active; /* o, gelu(o) [destinations, output_dim] */
};

struct hgt_relation {
    struct row_product *query, *value; /* the relation's rows */
    /* [output_dim, output_dim]: the heads' matrices on the diagonal */
    float *key_matrix, *value_matrix;
    float *row; /* sums of w v [rows, output_dim] */
};

struct hgt {
    struct relation_attention *attention;
    struct hgt_type **type;         /* [types] */
    struct hgt_relation **relation; /* [relations]; NULL without edges */
};

/* Gradients for the rows of a type. */
struct hgt_back {
    float *out;                /* of o [destinations, output_dim] */
    float *kqv[HGT_KQV_COUNT]; /* of sources, of destinations, of sources [.., output_dim] */
};

static inline uint32_t hgt_types(const struct typed_pass *pass)
{
    return pass->schema->type_count;
}

static inline uint32_t hgt_relations(const struct typed_pass *pass)
{
    return pass->schema->relation_count;
}

/* Returns the index of tensor `which` of a type among the layer's tensors. */
static inline int hgt_type_tensor(uint32_t type, int which)
{
    return (int)type * HGT_OF_TYPE_COUNT + which;
}

/* Returns the index of k_rel; v_rel follows. */
static inline int hgt_key_tensor(const struct typed_pass *pass)
{
    return hgt_type_tensor(hgt_types(pass), 0);
}

/* Returns the index of skip of a type. */
static inline int hgt_skip_tensor(const struct typed_pass *pass, uint32_t type)
{
    return hgt_key_tensor(pass) + 2 + (int)type;
}

/* Returns the index of p_rel of a relation. */
static inline int hgt_scale_tensor(const struct typed_pass *pass, uint32_t relation)
{
    return hgt_skip_tensor(pass, hgt_types(pass)) + (int)relation;
}

/* Writes the matrices of a relation, each [out, in] for a row product: queries are multiplied by K
 * p / sqrt(D) as it lies, rows of values by V^T. */
void hgt_matrices_fill(const struct typed_pass *pass, uint32_t relation,
                       const struct hgt_relation *own);
/* Computes the gradients of k_rel, v_rel and p_rel from the gradients of those matrices, which lie
 * in the matrices' place. */
void hgt_matrices_share_out(const struct typed_pass *pass, uint32_t relation,
                            const struct hgt_relation *own, float *gradient);

/* Computes the output rows of a type from `sum`. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code hgt_rows_finish(const struct typed_pass *pass, const struct hgt *hgt,
                                           uint32_t type, bool keep,
                                           const struct model_workspace *workspace,
                                           struct error *err);
/* Computes from dy [destinations, output_dim] the gradient of `sum` into back->out, and the
 * gradients of out_lin and skip; clears the rest of *back. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code hgt_rows_back(const struct typed_pass *pass, const struct hgt *hgt,
                                         uint32_t type, const float *dy, struct hgt_back *back,
                                         const struct model_workspace *workspace, float *gradient,
                                         struct error *err);
/* Computes the gradient of the input from those of keys, queries and values, and from the part of
 * dy that skip passes on. */
void hgt_rows_input_gradient(const struct typed_pass *pass, const struct hgt *hgt, uint32_t type,
                             const float *dy, float *input_gradient, struct thread_pool *pool);

#endif
