/*
 * growing_array - arrays of 32-bit numbers on 2 MB pages, which grow within a budget and are
 * reused.
 *
 * The size of a batch is known only when it is drawn, and memory is slow when it is touched for
 * the first time. So the arrays are kept from batch to batch, and after the largest batch nothing
 * is allocated any more.
 */
#ifndef STAGES_SAMPLING_ROWS_GROWING_ARRAY_H
#define STAGES_SAMPLING_ROWS_GROWING_ARRAY_H

#include "common/base/error.h"

#include <stddef.h>
#include <stdint.h>

/* The memory that several arrays may take together. */
struct array_budget {
    uint64_t limit; /* bytes; 0: no limit */
    uint64_t used;
};

struct growing_array { /* {0} is empty */
    uint32_t *data;
    size_t capacity; /* elements */
};

/* Makes room for `wanted` elements, keeping the first `used`. New elements are zero only if the
 * array was empty before. Fails: ERROR_NO_MEMORY naming `what`, the wanted bytes and the budget. */
MUST_CHECK enum error_code growing_array_grow(struct growing_array *array,
                                              struct array_budget *budget, size_t wanted,
                                              size_t used, const char *what, struct error *err);

/* Does the same, with the case that there is room inlined. */
MUST_CHECK static inline enum error_code growing_array_reserve(struct growing_array *array,
                                                               struct array_budget *budget,
                                                               size_t wanted, size_t used,
                                                               const char *what, struct error *err)
{
    return wanted <= array->capacity ? ERROR_NONE
                                     : growing_array_grow(array, budget, wanted, used, what, err);
}

void growing_array_release(struct growing_array *array, struct array_budget *budget);

#endif
