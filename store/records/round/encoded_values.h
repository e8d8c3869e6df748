/*
 * encoded_values - the sections of a gradient's values, in its own record (gradient.h) and in its
 * ranges (gradient_range.h).
 *
 * Values that are trained may be encoded; the running statistics behind them stay floats.
 *
 *       "value"       F32 [values that are not encoded]; absent if all are
 *       "value_..."   the encoded values (gradient_encoding.h), and
 *       "value_count" U64 [1]  how many they are
 *       "encoding_error" F64 [2]  of a whole gradient: the sum of squares of the encoding's error,
 *                             and that of the values
 *
 * All values of a gradient are encoded at once and then cut into ranges. So the numbers do not
 * depend on how many ranges there are.
 */
#ifndef STORE_RECORDS_ROUND_ENCODED_VALUES_H
#define STORE_RECORDS_ROUND_ENCODED_VALUES_H

#include "common/base/error.h"
#include "store/records/round/gradient.h"

#include <stdint.h>

/* Encodes the first form->encoded_count values of the gradient of (round, slot). *encoded is {0} if
 * they stay floats, as with `form` NULL; free it with encoded_floats_free(). `error` is the error
 * of the encoding: computed here if the form rounds, else taken from `gradient`. Fails:
 * ERROR_NO_MEMORY. */
MUST_CHECK enum error_code encoded_values_make(const struct gradient *gradient,
                                               const struct gradient_form *form, int64_t round,
                                               int slot, struct encoded_floats *encoded,
                                               double error[2], struct error *err);
/* Encodes its learnable rows. A form that keeps only the largest numbers leaves them as they
 * are. */
MUST_CHECK enum error_code encoded_rows_make(const struct gradient *gradient,
                                             const struct gradient_form *form, int64_t round,
                                             int slot, struct encoded_floats *encoded,
                                             struct error *err);
/* Adds value [count]; `encoded` replaces the first of them. The record borrows both. */
void encoded_values_add(struct record *record, const float *value, uint64_t count,
                        const struct encoded_floats *encoded);
/* Adds an error, unless it is that of no values. The record borrows `error`. */
void encoding_error_add(struct record *record, const double error[2]);

/* The values of a record before they are decoded. */
struct value_sections {
    const float *value; /* [value_count], behind the encoded ones; NULL: all are encoded */
    uint64_t value_count;
    struct encoded_floats encoded;
};
/* `first` is the place of the record's first value in the gradient. Borrows from the view. Fails:
 * ERROR_CORRUPT naming record and section. */
MUST_CHECK enum error_code value_sections_get(const struct record_view *view, uint64_t first,
                                              struct value_sections *out, struct error *err);
/* Decodes into out [encoded.count + value_count]. */
void value_sections_read(const struct value_sections *sections, float *out);
/* Leaves `error` as it is if the record has none. Fails: ERROR_CORRUPT. */
MUST_CHECK enum error_code encoding_error_get(const struct record_view *view, double error[2],
                                              struct error *err);
/* Reads all learnable rows. */
MUST_CHECK enum error_code encoded_rows_get(const struct record_view *view,
                                            enum gradient_encoding encoding,
                                            struct encoded_floats *out, struct error *err);

#endif
