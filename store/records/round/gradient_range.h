/*
 * gradient_range - some of the values of a gradient, or of a sum of gradients.
 *
 * With aggregate.ranges: n the values of a gradient lie in n records. So a program that adds up one
 * range over all slots reads only that range: the reduce-scatter of a ring all-reduce (Patarasuk
 * and Yuan 2009), through the store.
 *
 *   gradient_range    run/<id>/round/<r>/slot/<k>/gradient_range/<i>
 *                         train-step writes it before the gradient, which then has only counts and
 *                         rows
 *                     run/<id>/round/<r>/gradient_sum/<n>
 *                         aggregate writes and reads it (stages/plan/chain/gradient_sums.h)
 *       "version"    U64 [1]  of the weights that the gradients were computed from
 *       "range"      U64 [2]  the first value, and how many values the whole gradient has
 *       "value"      F32 [values]   of a slot, or the mean over all slots of the round
 *       "sum"        F64 [values]   replaces "value" in a sum that more is added to: each slot's
 *                                   values times its seeds
 *       "statistics" F64 [any]      in a sum of the last range: batch norms
 *                                   (common/nn/running_statistics.h)
 *       "counts"     U64 [2], "loss" F64 [1]   as in a gradient, over the slots that were added
 *   A slot's range may be encoded, as encoded_values.h says. "encoding_error" in a slot's range is
 *   the error of the whole gradient; in a sum it is that of all slots that were added.
 *
 * The last range ends with the running statistics of batch norms, whatever their number.
 */
#ifndef STORE_RECORDS_ROUND_GRADIENT_RANGE_H
#define STORE_RECORDS_ROUND_GRADIENT_RANGE_H

#include "common/base/error.h"
#include "store/objects/keys.h"
#include "store/objects/store.h"
#include "store/records/round/gradient.h"

#include <stddef.h>
#include <stdint.h>

enum { GRADIENT_RANGES_MAX = 64 };

struct gradient_range {
    uint64_t weights_version;
    uint64_t first, count; /* of its values; count may be 0 */
    uint64_t value_count;  /* of the whole gradient */
    const float *value;    /* [count], or NULL and */
    const double *sum;     /* [count] */
    uint64_t statistics_count;
    const double *statistics; /* [statistics_count] */
    uint64_t seed_count, correct_count;
    double loss_sum;
    double squared_error, squared_norm; /* of the encoding; 0 as floats */
    struct record_view view;
    float *decoded;        /* owned: the decoded values, to which `value` points */
    double decode_seconds; /* how long decoding took */
};

/* Sets [*first, *end) to the values of range `range` of `range_count`: each range has an equal
 * share of the `trained_count` values, and the last one also has the rest of `value_count`. */
void gradient_range_bounds(uint64_t trained_count, uint64_t value_count, int range_count, int range,
                           uint64_t *first, uint64_t *end);

MUST_CHECK enum error_code gradient_range_put(struct store *store, const char *run_id,
                                              const struct key *key,
                                              const struct gradient_range *range,
                                              struct error *err);
/* Writes the ranges of a gradient, and then its record, which is the commit. The gradient is
 * encoded as one and then cut. `form`, which floats need too, says how many values are trained. */
MUST_CHECK enum error_code gradient_put_ranges(struct store *store, const char *run_id,
                                               int64_t round, int slot,
                                               const struct gradient *gradient,
                                               const struct gradient_form *form, int range_count,
                                               struct error *err);
/* Reads all values of a gradient in ranges into value [gradient->value_count]. Fails:
 * ERROR_NOT_FOUND; ERROR_CORRUPT. */
MUST_CHECK enum error_code gradient_gather_ranges(struct store *store, const char *run_id,
                                                  int64_t round, int slot,
                                                  const struct gradient *gradient, int range_count,
                                                  float *value, struct error *err);

/* A series of ranges (store.h), in order. A range is released after its visit, unless the visitor
 * took view and `decoded` and left {0} there. */
struct gradient_range_series {
    size_t count, together; /* as in store.h */
    struct key (*key)(const void *context, size_t index);
    enum error_code (*visit)(void *context, size_t index, struct gradient_range *range,
                             struct error *err);
    void *context;
};
MUST_CHECK enum error_code gradient_range_get_each(struct store *store, const char *run_id,
                                                   const struct gradient_range_series *series,
                                                   struct error *err);
/* Checks and reads a record that is in memory. All but `decoded`, which the caller frees, borrows
 * from `view`; the view inside stays empty. Fails: ERROR_CORRUPT naming record and section;
 * ERROR_NO_MEMORY. */
MUST_CHECK enum error_code gradient_range_decode(const struct record_view *view,
                                                 struct gradient_range *out, struct error *err);

#endif
