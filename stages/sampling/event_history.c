#include "stages/sampling/event_history.h"

#include "common/base/memory.h"

#include <stdlib.h>
#include <string.h>

struct event {    /* a held-out edge, one way */
    uint64_t key; /* target above, source below */
    uint64_t index;
    int split;
};

static int by_place(const void *a, const void *b)
{
    const struct event *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->split != y->split)
        return x->split < y->split ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static enum error_code check_columns(const struct topology *training,
                                     const struct edge_splits *splits, struct error *err)
{
    const struct edge_widths *width = &training->width;
    const bool has_types = splits->type[HELD_OUT_VALID] || splits->type[HELD_OUT_TEST];
    const uint64_t count = splits->count[HELD_OUT_VALID] + splits->count[HELD_OUT_TEST];
    const char *missing = !splits->is_timed || !width->of[EDGE_TIME]             ? "times"
                          : splits->has_weights != (width->of[EDGE_WEIGHT] != 0) ? "weights"
                          : splits->feature_dim != width->of[EDGE_FEATURE]       ? "features"
                          : has_types != (width->of[EDGE_TYPE] != 0)             ? "types"
                          : width->of[EDGE_LABEL] && !splits->is_labelled        ? "labels"
                                                                                 : NULL;
    if (!missing || count == 0)
        return ERROR_NONE;
    return error_set(err, ERROR_CORRUPT,
                     "%s: expected held-out edges and a topology with the same %s, found others",
                     splits->view.key, missing);
}

static uint64_t list_events(const struct edge_splits *splits, struct event *event)
{
    uint64_t count = 0;
    for (int s = 0; s < HELD_OUT_COUNT; s++)
        for (uint64_t i = 0; i < splits->count[s]; i++) {
            const uint64_t u = splits->source[s][i], v = splits->target[s][i];
            event[count++] = (struct event){v << 32 | u, i, s};
            if (splits->undirected)
                event[count++] = (struct event){u << 32 | v, i, s};
        }
    qsort(event, count, sizeof *event, by_place);
    return count;
}

/* The values of a held-out edge in a column; NULL where nobody reads them (the user's ids). */
static const void *value_of(const struct edge_splits *splits, int s, uint64_t i,
                            enum edge_column column)
{
    switch (column) {
    case EDGE_WEIGHT:
        return &splits->weight[s][i];
    case EDGE_TYPE:
        return &splits->type[s][i];
    case EDGE_TIME:
    case EDGE_TIME_F64:
        return edge_times_from(splits->time[s], i).word;
    case EDGE_FEATURE:
        return &splits->feature[s][i * splits->feature_dim];
    case EDGE_LABEL:
        return &splits->label[s][i];
    case EDGE_ID:
    case EDGE_COLUMN_COUNT:
        break;
    }
    return NULL;
}

static void fill(const struct edge_splits *splits, const struct event *event, uint64_t count,
                 const struct edge_columns *columns, uint32_t *source, uint32_t *target)
{
    for (uint64_t i = 0; i < count; i++) {
        source[i] = (uint32_t)event[i].key;
        target[i] = (uint32_t)(event[i].key >> 32);
        for (int c = 0; c < EDGE_COLUMN_COUNT; c++) {
            const size_t bytes = edge_column_bytes((enum edge_column)c, columns->width.of[c]);
            const void *value =
                bytes ? value_of(splits, event[i].split, event[i].index, (enum edge_column)c)
                      : NULL;
            if (value)
                memcpy((char *)columns->data[c] + i * bytes, value, bytes);
        }
    }
}

enum error_code event_history_join(struct store *store, const struct topology *training,
                                   const struct edge_splits *splits, struct joined_topology *out,
                                   struct error *err)
{
    static const char what[] = "held-out edges as messages";
    const uint64_t held = splits->count[HELD_OUT_VALID] + splits->count[HELD_OUT_TEST];
    const uint64_t most = splits->undirected ? 2 * held : held;
    struct edge_columns columns = {.width = {{0}}};
    struct event *event = NULL;
    uint32_t *source = NULL, *target = NULL;
    enum error_code rc = check_columns(training, splits, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&event, most, what, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&source, most, what, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&target, most, what, err);
    if (rc == ERROR_NONE)
        rc = edge_columns_new(&columns, &training->width, most, what, err);
    if (rc == ERROR_NONE) {
        struct other_edges others = {
            .count = list_events(splits, event), .source = source, .target = target};
        fill(splits, event, others.count, &columns, source, target);
        others.columns = edge_columns_read(&columns, 0);
        rc = topology_join(store, training, &others, out, err);
    }
    edge_columns_release(&columns);
    memory_free(target);
    memory_free(source);
    memory_free(event);
    return rc;
}
