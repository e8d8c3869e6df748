/*
 * gradient - the record of what a slot of a round found: the gradient of its loss.
 *
 *   run/<id>/round/<r>/slot/<k>/gradient   written by train-step, read by aggregate
 *       "version"  U64 [1]  of the weights it was made from
 *       "value"    F32 [parameter count]   of the mean loss over the slot's seeds; in the place of running
 *                           statistics those of the slot's mini-batch (common/nn/layers/layer_tail.h)
 *       "counts"   U64 [2]  seeds with a label, correct ones
 *       "loss"     F64 [1]  sum over those seeds
 *       "row_node" U32 [rows]         with learnable embeddings: the rows that the mini-batch read, ascending
 *       "row_gradient" F32 [rows, width]   and the gradient of the same loss for them
 *       "row_group" U32 [groups, 3]  of a graph with relations: node type, width and rows of each group; types ascend. The
 *                           two before have group behind group then
 *   Encoded (gradient_encoding.h): "row_..." in the place of "row_gradient", and values as encoded_values.h says.
 *
 *   In ranges (gradient_range.h):
 *       "values_beside" U64 [1]  in the place of "value": how many values lie beside this record
 *
 * Valid: the version inside is the one in the key; arrays that belong together are equally long. It may hold a NaN: a run that
 * diverges is the user's to mend, not a damaged record.
 */
#ifndef STORE_RECORDS_GRADIENT_H
#define STORE_RECORDS_GRADIENT_H

#include "common/base/error.h"
#include "common/graph/relation_block.h"
#include "store/objects/store.h"
#include "store/records/gradient_encoding.h"

#include <stdint.h>

/* Rows of a learnable tensor that the mini-batch read (stages/plan/embedding_shards.h). */
struct gradient_rows {
    uint32_t type, width; /* type 0 of a graph without relations */
    uint64_t count;
    const uint32_t *node;  /* [count], ascending: numbers among the nodes of the type */
    const float *gradient; /* [count, width] */
};

struct gradient {
    uint64_t weights_version;
    uint64_t value_count;
    const float *value; /* [value_count]; NULL: they lie in ranges beside it (gradient_range.h) */
    uint64_t seed_count, correct_count;
    double loss_sum;
    double squared_error,
        squared_norm; /* of the encoding; 0 as floats. To be put: of what was left out before */
    int group_count;  /* 0 without learnable embeddings, or where the mini-batch read none */
    /* [group_count], types ascending. To be put, they lie one behind the other: nodes behind nodes, gradients behind
     * gradients. */
    struct gradient_rows group[RELATION_TYPE_COUNT_MAX];
    struct record_view view;
    float *decoded; /* owned: what encoded numbers were, of which `value` and `group` are then */
    double decode_seconds; /* that it took to read them */
};

/* How it is stored. */
struct gradient_form {
    enum gradient_encoding encoding; /* of rows, too, but for GRADIENT_SPARSE: they stay floats */
    uint64_t
        encoded_count; /* of the values; those behind are running statistics, and stay floats */
    uint64_t seed;     /* of the run, for what is rounded at random */
    struct encoding_work *work; /* added to, where numbers are encoded; NULL: not wanted */
};

/* `form` NULL: as floats, or without values where there are none. Encoded numbers are finite. Fails: ERROR_NO_MEMORY; as store_put(). */
MUST_CHECK enum error_code gradient_put(struct store *store, const char *run_id, int64_t round,
                                        int slot, const struct gradient *gradient,
                                        const struct gradient_form *form, struct error *err);
/* Gives numbers as floats, whatever the form. Release with gradient_release(), after a failure, too. Fails: ERROR_NOT_FOUND;
 * ERROR_CORRUPT; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code gradient_get(struct store *store, const char *run_id, int64_t round,
                                        int slot, struct gradient *out, struct error *err);
void gradient_release(struct gradient *gradient);
/* The rows of a type; NULL: there are none. */
const struct gradient_rows *gradient_rows_of(const struct gradient *gradient, uint32_t type);
/* A series of them (store.h): those of the first `slot_count` slots of a round, in order. `together`: as in store.h. Each is
 * released after its visit, unless that took it and left {0} there. */
typedef enum error_code (*gradient_visitor)(void *context, int slot, struct gradient *gradient,
                                            struct error *err);
MUST_CHECK enum error_code gradient_get_each(struct store *store, const char *run_id, int64_t round,
                                             int slot_count, size_t together,
                                             gradient_visitor visit, void *context,
                                             struct error *err);
/* The check alone, of a record of any origin. What it fills borrows from the view, but for `decoded`; `view` inside stays
 * empty. Fails: ERROR_CORRUPT naming record, section, expected and found; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code gradient_decode(const struct record_view *view, struct gradient *out,
                                           struct error *err);

#endif
