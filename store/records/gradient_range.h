/*
 * gradient_range - some of the values of a gradient, or of a sum of gradients.
 *
 * With aggregate.ranges: n the values of a gradient lie in n records, so that who adds up one range over all slots reads
 * what it adds, and no more: the reduce-scatter of a ring all-reduce (Patarasuk and Yuan 2009), through the store.
 *
 *   gradient_range    run/<id>/round/<r>/slot/<k>/gradient_range/<i>   written by train-step before the gradient, which
 *                                                                      then has counts and rows alone
 *                     run/<id>/round/<r>/gradient_sum/<n>              written and read by aggregate (stages/plan/gradient_sums.h)
 *       "version"    U64 [1]  of the weights that the gradients were made from
 *       "range"      U64 [2]  the first value, and how many the whole gradient has
 *       "value"      F32 [values]   of a slot, or of the mean over all slots of the round
 *       "sum"        F64 [values]   instead: of each slot's values times its seeds, where more is added to it
 *       "statistics" F64 [any]      of a sum over the last range: batch norms (common/nn/running_statistics.h)
 *       "counts"     U64 [2], "loss" F64 [1]   as in a gradient, over the slots that were added
 *   Of a slot, encoded: values as encoded_values.h says. "encoding_error" is that of the whole gradient in each of its ranges, and
 *   of sums that of the slots that were added.
 *
 * The last range ends with the running statistics of batch norms, whatever their number.
 */
#ifndef STORE_RECORDS_GRADIENT_RANGE_H
#define STORE_RECORDS_GRADIENT_RANGE_H

#include "common/base/error.h"
#include "store/objects/keys.h"
#include "store/objects/store.h"
#include "store/records/gradient.h"

#include <stddef.h>
#include <stdint.h>

enum { GRADIENT_RANGES_MAX = 64 };

struct gradient_range {
    uint64_t weights_version;
    uint64_t first, count; /* of its values, which may be none */
    uint64_t value_count;  /* of the whole gradient */
    const float *value;    /* [count], or NULL and */
    const double *sum;     /* [count] */
    uint64_t statistics_count;
    const double *statistics; /* [statistics_count] */
    uint64_t seed_count, correct_count;
    double loss_sum;
    double squared_error, squared_norm; /* of the encoding; 0 as floats */
    struct record_view view;
    float *decoded;        /* owned: what encoded values were, which `value` then is */
    double decode_seconds; /* that it took to read them */
};

/* Values [*first, *end) are range `range` of `range_count`: `trained_count` values in equal shares, and the rest of
 * `value_count` with the last of them. */
void gradient_range_bounds(uint64_t trained_count, uint64_t value_count, int range_count, int range,
                           uint64_t *first, uint64_t *end);

MUST_CHECK enum error_code gradient_range_put(struct store *store, const char *run_id,
                                              const struct key *key,
                                              const struct gradient_range *range,
                                              struct error *err);
/* A gradient in ranges, and the rest of it last, which is the commit. Encoded as one, then cut: `form`, also
 * of floats, says how many values are trained. */
MUST_CHECK enum error_code gradient_put_ranges(struct store *store, const char *run_id,
                                               int64_t round, int slot,
                                               const struct gradient *gradient,
                                               const struct gradient_form *form, int range_count,
                                               struct error *err);
/* All values of a gradient that lies in ranges, into value [gradient->value_count]. Fails: ERROR_NOT_FOUND; ERROR_CORRUPT. */
MUST_CHECK enum error_code gradient_gather_ranges(struct store *store, const char *run_id,
                                                  int64_t round, int slot,
                                                  const struct gradient *gradient, int range_count,
                                                  float *value, struct error *err);

/* A series of them (store.h), in order. Each is released after its visit, unless that took view and `decoded` and left {0} there. */
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
/* Fails: ERROR_CORRUPT naming record and section; ERROR_NO_MEMORY. Borrows from the view, but for `decoded`, which is the caller's
 * to free; `view` inside stays empty. */
MUST_CHECK enum error_code gradient_range_decode(const struct record_view *view,
                                                 struct gradient_range *out, struct error *err);

#endif
