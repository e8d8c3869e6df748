/*
 * encoded_values - the sections that the values of a gradient lie in, in its own record (gradient.h) and in its ranges
 * (gradient_range.h): encoded those that are trained, as floats the running statistics behind them.
 *
 *       "value"       F32 [values that are not encoded]; absent where all are
 *       "value_..."   those that are (gradient_encoding.h), and
 *       "value_count" U64 [1]  how many
 *       "encoding_error" F64 [2]  of a whole gradient: sum of squares of what its form changed it by, and of what it was
 *
 * All values of a gradient are encoded at once, and then cut into ranges, so any number of ranges has the same numbers.
 */
#ifndef STORE_RECORDS_ENCODED_VALUES_H
#define STORE_RECORDS_ENCODED_VALUES_H

#include "common/base/error.h"
#include "store/records/gradient.h"

#include <stdint.h>

/* Of (round, slot): encoded [form->encoded_count] of its values, {0} where they stay floats; and the error, which of a form that
 * rounds is found here, else that of `gradient`. `form` NULL: floats. Free with encoded_floats_free(). Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code encoded_values_make(const struct gradient *gradient,
                                               const struct gradient_form *form, int64_t round,
                                               int slot, struct encoded_floats *encoded,
                                               double error[2], struct error *err);
/* The same of its learnable rows, which a form that keeps the largest numbers leaves as they are. */
MUST_CHECK enum error_code encoded_rows_make(const struct gradient *gradient,
                                             const struct gradient_form *form, int64_t round,
                                             int slot, struct encoded_floats *encoded,
                                             struct error *err);
/* Adds value [count], of which the first are `encoded` instead. The record borrows all. */
void encoded_values_add(struct record *record, const float *value, uint64_t count,
                        const struct encoded_floats *encoded);
/* Adds an error, unless it is one of nothing. The record borrows. */
void encoding_error_add(struct record *record, const double error[2]);

/* What is read of a record. */
struct value_sections {
    const float *value; /* [value_count]; behind those that are encoded. NULL: all are */
    uint64_t value_count;
    struct encoded_floats encoded;
};
/* `first` of all values of the gradient that this record begins with. Borrows. Fails: ERROR_CORRUPT naming record and section. */
MUST_CHECK enum error_code value_sections_get(const struct record_view *view, uint64_t first,
                                              struct value_sections *out, struct error *err);
/* Into out [encoded.count + value_count]. */
void value_sections_read(const struct value_sections *sections, float *out);
/* Leaves `error` as it is where the record has none. Fails: ERROR_CORRUPT. */
MUST_CHECK enum error_code encoding_error_get(const struct record_view *view, double error[2],
                                              struct error *err);
/* Learnable rows, as many as there are. */
MUST_CHECK enum error_code encoded_rows_get(const struct record_view *view,
                                            enum gradient_encoding encoding,
                                            struct encoded_floats *out, struct error *err);

#endif
