#include "stages/engine/part_shares.h"

#include "common/base/memory.h"

#include <string.h>

static bool is_begun(struct part_shares *shares, int part_count)
{
    if (shares->in_hand)
        return shares->part_count == part_count;
    if (memory_new(&shares->in_hand, (size_t)part_count, "shares of parts", NULL) != ERROR_NONE)
        return false;
    shares->part_count = part_count;
    return true;
}

void part_shares_add(struct part_shares *shares, int part_count, int part, uint64_t amount)
{
    if (is_begun(shares, part_count))
        shares->in_hand[part] += amount;
}

static bool has_sums(struct part_shares *shares, enum unit_kind kind)
{
    const size_t parts = (size_t)shares->part_count;
    if (!shares->seconds[kind] &&
        memory_new(&shares->seconds[kind], parts, "shares of parts", NULL) != ERROR_NONE)
        return false;
    return shares->amount[kind] ||
           memory_new(&shares->amount[kind], parts, "shares of parts", NULL) == ERROR_NONE;
}

void part_shares_end(struct part_shares *shares, enum unit_kind kind, double seconds, bool done)
{
    uint64_t sum = 0;
    if (!shares->in_hand)
        return;
    for (int p = 0; p < shares->part_count; p++)
        sum += shares->in_hand[p];
    if (done && sum > 0 && has_sums(shares, kind))
        for (int p = 0; p < shares->part_count; p++) {
            shares->seconds[kind][p] += seconds * (double)shares->in_hand[p] / (double)sum;
            shares->amount[kind][p] += shares->in_hand[p];
        }
    memset(shares->in_hand, 0, (size_t)shares->part_count * sizeof *shares->in_hand);
}

void part_shares_put(struct part_shares *shares, enum unit_kind kind, struct json_writer *json)
{
    if (!shares->seconds[kind] || !shares->amount[kind])
        return;
    json_open_array(json, "part_seconds");
    for (int p = 0; p < shares->part_count; p++)
        json_put_double(json, NULL, shares->seconds[kind][p]);
    json_close_array(json);
    json_open_array(json, "part_amounts");
    for (int p = 0; p < shares->part_count; p++)
        json_put_int64(json, NULL, (int64_t)shares->amount[kind][p]);
    json_close_array(json);
    memset(shares->seconds[kind], 0, (size_t)shares->part_count * sizeof *shares->seconds[kind]);
    memset(shares->amount[kind], 0, (size_t)shares->part_count * sizeof *shares->amount[kind]);
}

void part_shares_release(struct part_shares *shares)
{
    memory_free(shares->in_hand);
    for (int kind = 0; kind < UNIT_KIND_COUNT; kind++) {
        memory_free(shares->seconds[kind]);
        memory_free(shares->amount[kind]);
    }
    *shares = (struct part_shares){0};
}
