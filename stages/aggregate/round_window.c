#include "stages/aggregate/round_window.h"

#include "common/base/memory.h"

#include <string.h>

static enum error_code grow(struct round_window *window, int64_t count, struct error *err)
{
    static const char what[] = "the progress of rounds";
    const enum error_code rc = memory_grow(&window->progress, &window->progress_capacity,
                                           (size_t)count * PROGRESS_COUNT, what, err);
    return rc == ERROR_NONE
               ? memory_grow(&window->known, &window->known_capacity, (size_t)count, what, err)
               : rc;
}

enum error_code round_window_note(struct round_window *window, const struct schedule *schedule,
                                  int64_t version, const double progress[PROGRESS_COUNT],
                                  struct error *err)
{
    const int64_t before = schedule_snapshot_before(schedule, version);
    const int64_t after = before > 0 ? before : 0, index = version - after - 1;
    if (version == 0) /* no round made version 0 */
        return ERROR_NONE;
    if (after != window->after)
        window->count = 0;
    window->after = after;
    const enum error_code rc = grow(window, index + 1, err);
    if (rc != ERROR_NONE)
        return rc;
    for (; window->count <= index; window->count++)
        window->known[window->count] = false;
    memcpy(window->progress + index * PROGRESS_COUNT, progress,
           PROGRESS_COUNT * sizeof *window->progress);
    window->known[index] = true;
    return ERROR_NONE;
}

int64_t round_window_unknown(const struct round_window *window, int64_t version)
{
    for (int64_t i = 0; i < version - window->after; i++)
        if (!window->known[i])
            return window->after + 1 + i;
    return -1;
}

const double *round_window_progress(const struct round_window *window, int64_t version,
                                    uint64_t *count)
{
    *count = (uint64_t)(version - window->after);
    return window->progress;
}

void round_window_release(struct round_window *window)
{
    memory_free(window->progress);
    memory_free(window->known);
    *window = (struct round_window){0};
}
