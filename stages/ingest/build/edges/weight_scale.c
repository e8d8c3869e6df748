#include "stages/ingest/build/edges/weight_scale.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/numbers/portable_math.h"

#include <stdlib.h>

void weight_scale_release(struct weight_scale *scale)
{
    memory_free(scale->weight);
    *scale = (struct weight_scale){0};
}

enum error_code weight_scale_note(struct weight_scale *scale, float weight, struct error *err)
{
    char have[32], want[32];
    const uint64_t bytes = (scale->count + 1) * sizeof *scale->weight;
    if (scale->kind != WEIGHTS_RANK)
        return ERROR_NONE;
    if (scale->memory_bytes && bytes > scale->memory_bytes)
        return error_set(
            err, ERROR_NO_MEMORY,
            "the weights of edges take more than %s: expected at most a quarter of the "
            "memory budget (%s); " ADVICE "give more --memory, or write `weight_scale: log` below "
            "`ingest:`, which needs none",
            text_size(bytes, want), text_size(scale->memory_bytes, have));
    const enum error_code rc =
        memory_grow(&scale->weight, &scale->capacity, scale->count + 1, "weights of edges", err);
    if (rc == ERROR_NONE)
        scale->weight[scale->count++] = weight;
    return rc;
}

static int by_size(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

void weight_scale_finish(struct weight_scale *scale)
{
    if (scale->count)
        qsort(scale->weight, scale->count, sizeof *scale->weight, by_size);
}

/* Returns how many weights are at most `weight`. */
static uint64_t at_most(const struct weight_scale *scale, float weight)
{
    uint64_t low = 0, high = scale->count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (scale->weight[middle] <= weight)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

float weight_scale_of(const struct weight_scale *scale, float weight)
{
    switch (scale->kind) {
    case WEIGHTS_AS_GIVEN:
        break;
    case WEIGHTS_LOG:
        return weight < 0 ? -(float)portable_log(1.0 - (double)weight)
                          : (float)portable_log(1.0 + (double)weight);
    case WEIGHTS_RANK:
        return (float)((double)at_most(scale, weight) / (double)scale->count);
    }
    return weight;
}
