/*
 * growing_array - 32-bit numbers on 2 MB pages that grow within a budget and are reused.
 *
 * A batch's size is known only when it is drawn, and memory is slow when touched for the first time. So
 * the arrays of a batch stay, and after the largest batch nothing is allocated any more.
 */
#ifndef STAGES_SAMPLING_GROWING_ARRAY_H
#define STAGES_SAMPLING_GROWING_ARRAY_H

#include "common/base/error.h"

#include <stddef.h>
#include <stdint.h>

/* What several arrays may take together. */
struct array_budget {
    uint64_t limit; /* bytes; 0: no limit */
    uint64_t used;
};

struct growing_array { /* {0} is empty */
    uint32_t *data;
    size_t capacity; /* elements */
};

/* Makes room for `wanted` elements, keeping the first `used` ones; new room is zero only as long as an
 * array was empty. Fails: ERROR_NO_MEMORY naming `what`, the bytes wanted and the budget. */
MUST_CHECK enum error_code growing_array_grow(struct growing_array *array,
                                              struct array_budget *budget, size_t wanted,
                                              size_t used, const char *what, struct error *err);

/* The same, inlined for the case that there is room. */
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
