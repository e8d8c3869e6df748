#include "stages/engine/straggler.h"

#include "common/base/clock.h"

#include <stdlib.h>
#include <string.h>

enum {
    TIMES_AS_LONG = 3,
    LEAST_MS = 1000,
    UNKNOWN_MS = 5000,    /* for a worker that has done no unit itself, such as a standby */
    COPY_HOLD_MS = 60000, /* for so long nobody else begins a third copy */
};

void straggler_note(struct straggler *straggler, enum unit_kind kind, double seconds)
{
    straggler->kind[kind].seconds[straggler->kind[kind].count++ % STRAGGLER_DURATIONS] = seconds;
}

static int compare_seconds(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of(const double *seconds, int64_t count)
{
    double sorted[STRAGGLER_DURATIONS];
    const size_t used = count < STRAGGLER_DURATIONS ? (size_t)count : STRAGGLER_DURATIONS;
    memcpy(sorted, seconds, used * sizeof *sorted);
    qsort(sorted, used, sizeof *sorted, compare_seconds);
    return sorted[used / 2];
}

/* Returns how long a worker may hold a unit before it is copied. The kind of a held unit is not
 * known before it is taken, so the slowest kind counts. */
static int64_t patience_ms(const struct straggler *straggler)
{
    double longest = 0.0;
    bool knows = false;
    for (int kind = 0; kind < UNIT_KIND_COUNT; kind++) {
        if (straggler->kind[kind].count == 0)
            continue;
        const double median = median_of(straggler->kind[kind].seconds, straggler->kind[kind].count);
        longest = median > longest ? median : longest;
        knows = true;
    }
    const int64_t ms = (int64_t)(TIMES_AS_LONG * 1000.0 * longest);
    return !knows ? UNKNOWN_MS : ms > LEAST_MS ? ms : LEAST_MS;
}

static bool same_delivery(const struct held_unit *a, const struct held_unit *b)
{
    return a->delivery_count == b->delivery_count && strcmp(a->id, b->id) == 0 &&
           strcmp(a->owner, b->owner) == 0;
}

/* Returns the time since which this worker was seen to hold the unit. */
static int64_t seen_since(const struct straggler *straggler, const struct held_unit *held,
                          int64_t now)
{
    for (int i = 0; i < straggler->seen_count; i++)
        if (same_delivery(&straggler->seen[i].held, held))
            return straggler->seen[i].since_ms;
    return now;
}

static bool is_own(const char *owner, const char *process)
{
    const size_t size = strlen(process);
    return strncmp(owner, process, size) == 0 && (owner[size] == '\0' || owner[size] == '+');
}

/* Replaces the units seen before by those held now. */
static void look(struct straggler *straggler, const struct held_unit *held, int count, int64_t now)
{
    struct straggler before = *straggler;
    straggler->seen_count = count;
    for (int i = 0; i < count; i++) {
        straggler->seen[i].held = held[i];
        straggler->seen[i].since_ms = seen_since(&before, &held[i], now);
    }
}

enum error_code straggler_find(struct straggler *straggler, struct work_queue *queue,
                               const char *process, bool *found, struct work_claim *copy,
                               struct error *err)
{
    struct held_unit held[STRAGGLER_HELD_MAX];
    int count = 0;
    const int64_t now = clock_ms(), patience = patience_ms(straggler);
    *found = false;
    enum error_code rc = work_queue_held(queue, held, STRAGGLER_HELD_MAX, &count, err);
    if (rc != ERROR_NONE)
        return rc;
    look(straggler, held, count, now);
    for (int i = 0; i < count && rc == ERROR_NONE && !*found; i++)
        if (now - straggler->seen[i].since_ms > patience && !is_own(held[i].owner, process))
            rc = work_queue_begin_copy(queue, &held[i], COPY_HOLD_MS, found, copy, err);
    return rc;
}
