#include "stages/sampling/rows/growing_array.h"

#include "common/base/memory.h"

#include <inttypes.h>
#include <string.h>

enum { CAPACITY_MIN = 16384 };

static enum error_code over_budget(const struct array_budget *budget, uint64_t bytes,
                                   const char *what, struct error *err)
{
    return error_set(err, ERROR_NO_MEMORY,
                     "no memory for %s: %" PRIu64 " bytes, and %" PRIu64
                     " of the budget of %" PRIu64
                     " are used; expected a larger --memory, smaller batches or lower fan-outs",
                     what, bytes, budget->used, budget->limit);
}

enum error_code growing_array_grow(struct growing_array *array, struct array_budget *budget,
                                   size_t wanted, size_t used, const char *what, struct error *err)
{
    if (wanted > SIZE_MAX / 2 / sizeof *array->data)
        return error_set(err, ERROR_NO_MEMORY, "no memory for %s: %zu x 4 bytes", what, wanted);
    /* The capacity grows by half so that copies stay rare. If the budget has no room for that, it
     * grows only to the wanted size. */
    size_t capacity = array->capacity + array->capacity / 2;
    if (capacity < CAPACITY_MIN)
        capacity = CAPACITY_MIN;
    const uint64_t left =
        budget->limit > budget->used ? (budget->limit - budget->used) / sizeof *array->data : 0;
    if (capacity < wanted || (budget->limit && capacity > left))
        capacity = wanted;
    if (budget->limit && capacity > left)
        return over_budget(budget, capacity * sizeof *array->data, what, err);
    uint32_t *data = memory_map(capacity * sizeof *data);
    if (!data)
        return error_set(err, ERROR_NO_MEMORY, "no memory for %s: %zu x 4 bytes", what, capacity);
    if (used)
        memcpy(data, array->data, used * sizeof *data);
    growing_array_release(array, budget);
    *array = (struct growing_array){.data = data, .capacity = capacity};
    budget->used += capacity * sizeof *data;
    return ERROR_NONE;
}

void growing_array_release(struct growing_array *array, struct array_budget *budget)
{
    memory_unmap(array->data, array->capacity * sizeof *array->data);
    budget->used -= array->capacity * sizeof *array->data;
    *array = (struct growing_array){0};
}
