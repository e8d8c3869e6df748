/*
 * gradient - the gradient of the loss that a slot of a round computed.
 *
 *   run/<id>/round/<r>/slot/<k>/gradient   train-step writes it, and aggregate reads it
 *       "version"  U64 [1]  of the weights that it was computed from
 *       "value"    F32 [parameter count]   of the mean loss over the slot's seeds; in the place of
 *                           running statistics those of the slot's mini-batch
 *                           (common/nn/layers/layer_tail.h)
 *       "counts"   U64 [2]  seeds with a label, correct ones
 *       "loss"     F64 [1]  sum over those seeds
 *       "row_node" U32 [rows]         with learnable embeddings: the rows that the mini-batch read,
 *                           ascending
 *       "row_gradient" F32 [rows, width]   the gradient of the same loss for those rows
 *       "row_group" U32 [groups, 3]  in a graph with relations: node type, width and rows of each
 *                           group; types ascend. The two sections before then have one group after
 *                           the other
 *   Encoded (gradient_encoding.h): "row_..." replaces "row_gradient", and encoded_values.h
 *   describes the values.
 *
 *   In ranges (gradient_range.h):
 *       "values_beside" U64 [1]  replaces "value": how many values lie beside this record
 *
 * Valid: the version inside is the one in the key; arrays that belong together are equally long. It
 * may hold a NaN: a run that diverges is not a damaged record.
 */
#ifndef STORE_RECORDS_ROUND_GRADIENT_H
#define STORE_RECORDS_ROUND_GRADIENT_H

#include "common/base/error.h"
#include "common/graph/relation_block.h"
#include "store/objects/store.h"
#include "store/records/round/gradient_encoding.h"

#include <stdint.h>

/* The rows of a learnable tensor that the mini-batch read (stages/plan/model/embedding_shards.h). */
struct gradient_rows {
    uint32_t type, width; /* type 0 of a graph without relations */
    uint64_t count;
    const uint32_t *node;  /* [count], ascending: numbers among the nodes of the type */
    const float *gradient; /* [count, width] */
};

struct gradient {
    uint64_t weights_version;
    uint64_t value_count;
    const float *value; /* [value_count]; NULL: the values lie in ranges (gradient_range.h) */
    uint64_t seed_count, correct_count;
    double loss_sum;
    /* Error and norm of the encoding; 0 without one. For a put: those of earlier encodings. */
    double squared_error, squared_norm;
    int group_count; /* 0 without learnable embeddings, or where the mini-batch read none */
    /* [group_count], types ascending. For a put, the nodes of all groups lie in one array, group
     * after group, and so do their gradients. */
    struct gradient_rows group[RELATION_TYPE_COUNT_MAX];
    struct record_view view;
    float *decoded;        /* owned: the decoded numbers, to which `value` and `group` point */
    double decode_seconds; /* how long decoding took */
};

/* How a gradient is stored. */
struct gradient_form {
    enum gradient_encoding encoding; /* of rows, too, but with GRADIENT_SPARSE rows stay floats */
    uint64_t encoded_count; /* the values behind these are running statistics, and stay floats */
    uint64_t seed;          /* of the run, for random rounding */
    struct encoding_work *work; /* each encoding is added to it; may be NULL */
};

/* `form` NULL stores floats, or no values if there are none. Encoded numbers must be finite. Fails:
 * ERROR_NO_MEMORY; as store_put(). */
MUST_CHECK enum error_code gradient_put(struct store *store, const char *run_id, int64_t round,
                                        int slot, const struct gradient *gradient,
                                        const struct gradient_form *form, struct error *err);
/* Reads the numbers as floats, whatever their form. Release with gradient_release(), also after a
 * failure. Fails: ERROR_NOT_FOUND; ERROR_CORRUPT; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code gradient_get(struct store *store, const char *run_id, int64_t round,
                                        int slot, struct gradient *out, struct error *err);
void gradient_release(struct gradient *gradient);
/* Returns the rows of a type, or NULL if there are none. */
const struct gradient_rows *gradient_rows_of(const struct gradient *gradient, uint32_t type);
/* Visits the gradients of the first `slot_count` slots of a round, in order. `together` is as in
 * store.h. A gradient is released after its visit, unless the visitor took it and left {0}
 * there. */
typedef enum error_code (*gradient_visitor)(void *context, int slot, struct gradient *gradient,
                                            struct error *err);
MUST_CHECK enum error_code gradient_get_each(struct store *store, const char *run_id, int64_t round,
                                             int slot_count, size_t together,
                                             gradient_visitor visit, void *context,
                                             struct error *err);
/* Checks and reads a record that is in memory. All but `decoded` borrows from `view`; the view
 * inside stays empty. Fails: ERROR_CORRUPT naming record, section, expected and found;
 * ERROR_NO_MEMORY. */
MUST_CHECK enum error_code gradient_decode(const struct record_view *view, struct gradient *out,
                                           struct error *err);

#endif
