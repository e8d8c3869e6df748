#include "store/features/row_order.h"

#include "common/base/memory.h"

#include <string.h>

enum { LOW_BITS = 8, LOW_COUNT = 1 << LOW_BITS };

static size_t buckets_for(uint32_t node_count)
{
    const size_t high = ((size_t)node_count >> LOW_BITS) + 1;
    return high > LOW_COUNT ? high : LOW_COUNT;
}

uint64_t row_order_bytes(size_t count, uint32_t node_count)
{
    return 2 * (uint64_t)count * sizeof(uint32_t) +
           ((uint64_t)buckets_for(node_count) + 1) * sizeof(uint32_t);
}

enum error_code row_order_reserve(struct row_order *order, size_t count, uint32_t node_count,
                                  struct error *err)
{
    const size_t buckets = buckets_for(node_count);
    if (count <= order->capacity && buckets <= order->bucket_count)
        return ERROR_NONE;
    row_order_release(order);
    enum error_code rc = memory_new(&order->place, count, "the order of a batch", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&order->spare, count, "the order of a batch", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&order->start, buckets + 1, "the order of a batch", err);
    if (rc != ERROR_NONE) {
        row_order_release(order);
        return rc;
    }
    order->capacity = count;
    order->bucket_count = buckets;
    return ERROR_NONE;
}

void row_order_release(struct row_order *order)
{
    memory_free(order->place);
    memory_free(order->spare);
    memory_free(order->start);
    *order = (struct row_order){0};
}

/* Turns counts into starts: start[b] becomes the start of bucket b. Filling then moves it to the
 * start of the next. */
static void sum_up(uint32_t *start, size_t bucket_count)
{
    for (size_t b = 1; b <= bucket_count; b++)
        start[b] += start[b - 1];
}

void row_order_sort(struct row_order *order, const uint32_t *node, size_t count)
{
    uint32_t *start = order->start;
    memset(start, 0, (LOW_COUNT + 1) * sizeof *start);
    for (size_t i = 0; i < count; i++)
        start[(node[i] & (LOW_COUNT - 1)) + 1]++;
    sum_up(start, LOW_COUNT);
    for (size_t i = 0; i < count; i++)
        order->spare[start[node[i] & (LOW_COUNT - 1)]++] = (uint32_t)i;
    memset(start, 0, (order->bucket_count + 1) * sizeof *start);
    for (size_t i = 0; i < count; i++)
        start[(node[i] >> LOW_BITS) + 1]++;
    sum_up(start, order->bucket_count);
    for (size_t i = 0; i < count; i++) {
        const uint32_t at = order->spare[i];
        order->place[start[node[at] >> LOW_BITS]++] = at;
    }
}
