#include "pipelines/shared/memory_shares.h"

#include "common/base/host.h"
#include "common/base/text.h"

#include <stdio.h>
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

/* The needs of all workers together: as programs, and in portions. */
struct crew_need {
    uint64_t programs, portions;
};

static struct crew_need need_of(const int count[STAGE_LOOP_COUNT], bool embeddings)
{
    struct crew_need need = {0};
    for (int i = 0; i < STAGE_LOOP_COUNT; i++) {
        need.programs += (uint64_t)count[i] * PROGRAM_BYTES;
        need.portions += (uint64_t)count[i] * portion_of(i, embeddings);
    }
    return need;
}

/* Writes "2 workers of each stage", or "6 of train-step, 1 of infer, ...". */
static const char *count_text(const int count[STAGE_LOOP_COUNT], char text[STAGE_NAMES_SIZE])
{
    size_t size = 0;
    bool equal = true;
    for (int i = 1; i < STAGE_LOOP_COUNT; i++)
        equal = equal && count[i] == count[0];
    if (equal) {
        (void)snprintf(text, STAGE_NAMES_SIZE, "%d workers of each stage", count[0]);
        return text;
    }
    for (int i = 0; i < STAGE_LOOP_COUNT && size < STAGE_NAMES_SIZE; i++)
        size += (size_t)snprintf(text + size, STAGE_NAMES_SIZE - size, "%s%d of %s", i ? ", " : "",
                                 count[i], stage_loop[i].name);
    return text;
}

enum error_code memory_shares_divide_each(uint64_t budget, const int count[STAGE_LOOP_COUNT],
                                          bool embeddings, struct memory_shares *out,
                                          struct error *err)
{
    const struct crew_need need = need_of(count, embeddings);
    const uint64_t least = DRIVER_BYTES + need.programs + need.portions * PORTION_BYTES_LEAST;
    const uint64_t all = budget ? budget : host_memory_bytes() / 5 * 4;
    char have[32], want[32], crew[STAGE_NAMES_SIZE];
    *out = (struct memory_shares){.run_bytes = all, .least_bytes = least};
    if (all < least)
        return error_set(err, ERROR_NO_MEMORY,
                         "the memory budget is %s, expected at least %s for %s; " ADVICE
                         "give more --memory "
                         "or fewer --workers",
                         text_size(all, have), text_size(least, want), count_text(count, crew));
    const uint64_t left = all - DRIVER_BYTES - need.programs;
    const uint64_t portion = need.portions ? left / need.portions : 0;
    for (int i = 0; i < STAGE_LOOP_COUNT; i++)
        out->worker_bytes[i] =
            portion_of(i, embeddings) ? portion_of(i, embeddings) * portion : PROGRAM_BYTES;
    out->once_bytes = budget ? budget - DRIVER_BYTES - PROGRAM_BYTES : 0;
    return ERROR_NONE;
}

enum error_code memory_shares_divide(uint64_t budget, int workers, bool embeddings,
                                     struct memory_shares *out, struct error *err)
{
    int count[STAGE_LOOP_COUNT];
    for (int i = 0; i < STAGE_LOOP_COUNT; i++)
        count[i] = workers;
    return memory_shares_divide_each(budget, count, embeddings, out, err);
}
