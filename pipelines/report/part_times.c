#include "pipelines/report/part_times.h"

#include "common/base/memory.h"

#include <stdlib.h>
#include <string.h>

static int order(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* Compares by weights and layer, then by part, then by end. */
static int compare(const void *left, const void *right)
{
    const struct time_layer *a = left, *b = right;
    const int by_layer =
        a->weights != b->weights ? order(a->weights, b->weights) : order(a->layer, b->layer);
    if (by_layer != 0)
        return by_layer;
    return a->part != b->part ? order(a->part, b->part)
                              : (a->ended > b->ended) - (a->ended < b->ended);
}

static bool is_same_layer(const struct time_layer *a, const struct time_layer *b)
{
    return a->weights == b->weights && a->layer == b->layer;
}

/* Adds one layer; each part counts once. */
static void add_layer(const struct time_layer *done, size_t count, struct part_time *out)
{
    const struct time_layer *last = done;
    for (size_t i = 0; i < count; i++)
        last = done[i].ended > last->ended ? &done[i] : last;
    for (size_t i = 0; i < count; i++) {
        out[done[i].part].infer += done[i].ended - done[i].begun;
        out[done[i].part].waited += last->ended - done[i].ended;
    }
    if (count > 1)
        out[last->part].last++;
}

static size_t without_repeats(struct time_layer *layer, size_t count, int part_count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const bool is_again = kept > 0 && is_same_layer(&layer[kept - 1], &layer[i]) &&
                              layer[kept - 1].part == layer[i].part;
        if (!is_again && layer[i].part < part_count)
            layer[kept++] = layer[i];
    }
    return kept;
}

static enum error_code add_layers(const struct run_times *times, int part_count,
                                  struct part_time *out, struct error *err)
{
    struct time_layer *layer = NULL;
    if (times->layer_count == 0)
        return ERROR_NONE;
    const enum error_code rc = memory_new(&layer, times->layer_count, "times of parts", err);
    if (rc != ERROR_NONE)
        return rc;
    memcpy(layer, times->layer, times->layer_count * sizeof *layer);
    qsort(layer, times->layer_count, sizeof *layer, compare);
    const size_t count = without_repeats(layer, times->layer_count, part_count);
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first; end < count && is_same_layer(&layer[first], &layer[end]);)
            end++;
        add_layer(layer + first, end - first, out);
    }
    memory_free(layer);
    return ERROR_NONE;
}

enum error_code part_times_find(const struct run_times *times, int part_count,
                                struct part_time *out, struct error *err)
{
    for (int p = 0; p < part_count; p++) {
        out[p] = (struct part_time){0};
        if ((size_t)p < times->share_count) {
            out[p].sample = times->share[p].sample;
            out[p].step = times->share[p].step;
            out[p].rows = times->share[p].rows;
        }
    }
    return add_layers(times, part_count, out, err);
}

bool part_times_are_known(const struct part_time *time, int part_count)
{
    for (int p = 0; p < part_count; p++)
        if (time[p].sample > 0.0 || time[p].step > 0.0 || time[p].infer > 0.0)
            return true;
    return false;
}
