#include "stages/ingest/build/edges/holdout_times.h"

#include "common/base/memory.h"
#include "stages/ingest/build/edges/spool_walk.h"

#include <string.h>

enum { DIGIT_BITS = 16 };

/* Turns times into unsigned numbers of the same order, and back. */
static uint64_t to_ordered(int64_t time)
{
    return (uint64_t)time ^ UINT64_C(1) << 63;
}

static int64_t from_ordered(uint64_t place)
{
    return (int64_t)(place ^ UINT64_C(1) << 63);
}

struct digit_counts {
    uint64_t prefix; /* the bits above `shift` + DIGIT_BITS of the times that are counted */
    unsigned shift;
    uint64_t all;
    uint64_t *count; /* [1 << DIGIT_BITS], by the next digit */
};

static enum error_code count_digit(void *context, const struct visited_edge *edge,
                                   struct error *err)
{
    struct digit_counts *digits = context;
    const uint64_t place = to_ordered(edge->time), digit = place >> digits->shift & 0xffff;
    (void)err;
    digits->all++;
    if (digits->shift == 64 - DIGIT_BITS || place >> (digits->shift + DIGIT_BITS) == digits->prefix)
        digits->count[digit]++;
    return ERROR_NONE;
}

/* Finds the largest of the first `percent` percent of the times: one digit in each of four passes
 * over the edges. */
static enum error_code find_time(struct edge_spool *spool, int percent, uint64_t *count,
                                 int64_t *time, struct error *err)
{
    struct digit_counts digits = {.shift = 64 - DIGIT_BITS, .count = count};
    uint64_t before = 0, wanted = 0;
    for (;; digits.shift -= DIGIT_BITS) {
        memset(count, 0, sizeof *count << DIGIT_BITS);
        digits.all = 0;
        const enum error_code rc = spool_walk(spool, count_digit, &digits, err);
        if (rc != ERROR_NONE || digits.all == 0)
            return rc;
        wanted = digits.all / 100 * (uint64_t)percent +
                 (digits.all % 100 * (uint64_t)percent + 99) / 100;
        uint64_t digit = 0;
        while (digit < 0xffff && before + count[digit] < wanted)
            before += count[digit++];
        digits.prefix = digits.prefix << DIGIT_BITS | digit;
        if (digits.shift == 0)
            break;
    }
    *time = from_ordered(digits.prefix);
    return ERROR_NONE;
}

enum error_code holdout_times_find(struct edge_spool *spool, const int *percent, int64_t *time_end,
                                   struct error *err)
{
    uint64_t *count = NULL;
    if (!edge_widths_are_timed(&spool->width))
        return error_set(err, ERROR_INPUT,
                         "ingest.edge_split is by time, but the edges have no times: expected a "
                         "column `time` beside them, or `edge_split: random 85/5/10`");
    enum error_code rc = memory_new(&count, (size_t)1 << DIGIT_BITS, "counts of times", err);
    if (rc == ERROR_NONE)
        rc = find_time(spool, percent[0], count, &time_end[0], err);
    if (rc == ERROR_NONE)
        rc = find_time(spool, percent[0] + percent[1], count, &time_end[1], err);
    memory_free(count);
    return rc;
}
