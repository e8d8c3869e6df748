#include "stages/ingest/build/edge_row.h"

#include <string.h>

/*
 * A merge sort over 64-bit keys (neighbour, position): without types and times comparing keys is
 * comparing numbers, and equal neighbours stay in input order by themselves. qsort() would do, but is
 * free to be anything from quadratic to allocating.
 */
enum { RUN_LENGTH = 24 }; /* shorter runs are sorted by insertion */

static bool before(const struct edge_row *row, uint64_t a, uint64_t b)
{
    if (a >> 32 == b >> 32) {
        const uint32_t i = (uint32_t)a, j = (uint32_t)b;
        if (row->edge_type && row->edge_type[i] != row->edge_type[j])
            return row->edge_type[i] < row->edge_type[j];
        if (row->time && (row->time[i] < row->time[j] || row->time[i] > row->time[j]))
            return row->time[i] < row->time[j];
    }
    return a < b;
}

static void insertion_sort(const struct edge_row *row, uint64_t *key, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const uint64_t moved = key[i];
        size_t at = i;
        for (; at > 0 && before(row, moved, key[at - 1]); at--)
            key[at] = key[at - 1];
        key[at] = moved;
    }
}

static void merge(const struct edge_row *row, const uint64_t *from, size_t middle, size_t count,
                  uint64_t *to)
{
    size_t left = 0, right = middle;
    for (size_t i = 0; i < count; i++) {
        const bool take_right =
            left >= middle || (right < count && before(row, from[right], from[left]));
        to[i] = take_right ? from[right++] : from[left++];
    }
}

void edge_row_sort(const struct edge_row *row, uint64_t *order, uint64_t *scratch)
{
    const size_t count = row->count;
    for (size_t i = 0; i < count; i++)
        order[i] = (uint64_t)row->neighbor[i] << 32 | i;
    for (size_t i = 0; i < count; i += RUN_LENGTH)
        insertion_sort(row, order + i, count - i < RUN_LENGTH ? count - i : RUN_LENGTH);
    for (size_t width = RUN_LENGTH; width < count; width *= 2) {
        for (size_t i = 0; i < count; i += 2 * width) {
            const size_t length = count - i < 2 * width ? count - i : 2 * width;
            merge(row, order + i, length < width ? length : width, length, scratch + i);
        }
        memcpy(order, scratch, count * sizeof *order);
    }
}

bool edge_row_same(const struct edge_row *row, uint32_t a, uint32_t b)
{
    if (row->neighbor[a] != row->neighbor[b])
        return false;
    if (row->edge_type && row->edge_type[a] != row->edge_type[b])
        return false;
    return !row->time || (row->time[a] >= row->time[b] && row->time[a] <= row->time[b]);
}
