#include "pipelines/memory_shares.h"

#include "common/base/host.h"
#include "common/base/text.h"

#include <string.h>

enum {
    DRIVER_BYTES = 32 << 20,
    PROGRAM_BYTES = 24 << 20,
    PORTION_BYTES_LEAST = 8 << 20,
    EMBEDDING_PORTION = 2,
};

static uint64_t portion_of(int stage, bool embeddings)
{
    const bool has_rows = embeddings && strcmp(stage_loop[stage].name, "train-step") == 0;
    return (uint64_t)stage_loop[stage].memory_portion + (has_rows ? EMBEDDING_PORTION : 0);
}

static uint64_t portion_sum(int workers, bool embeddings)
{
    uint64_t sum = 0;
    for (int i = 0; i < STAGE_LOOP_COUNT; i++)
        sum += portion_of(i, embeddings);
    return sum * (uint64_t)workers;
}

enum error_code memory_shares_divide(uint64_t budget, int workers, bool embeddings,
                                     struct memory_shares *out, struct error *err)
{
    const uint64_t programs = (uint64_t)workers * STAGE_LOOP_COUNT * PROGRAM_BYTES;
    const uint64_t portions = portion_sum(workers, embeddings);
    const uint64_t least = DRIVER_BYTES + programs + portions * PORTION_BYTES_LEAST;
    const uint64_t all = budget ? budget : host_memory_bytes() / 5 * 4;
    char have[32], want[32];
    *out = (struct memory_shares){0};
    if (all < least)
        return error_set(err, ERROR_NO_MEMORY,
                         "the memory budget is %s, expected at least %s for %d workers of each "
                         "stage; give more --memory or fewer --workers",
                         text_size(all, have), text_size(least, want), workers);
    const uint64_t portion = (all - DRIVER_BYTES - programs) / portions;
    for (int i = 0; i < STAGE_LOOP_COUNT; i++)
        out->worker_bytes[i] =
            portion_of(i, embeddings) ? portion_of(i, embeddings) * portion : PROGRAM_BYTES;
    out->once_bytes = budget ? budget - DRIVER_BYTES - PROGRAM_BYTES : 0;
    return ERROR_NONE;
}
