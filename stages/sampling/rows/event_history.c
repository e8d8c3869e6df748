#include "stages/sampling/rows/event_history.h"

#include "common/base/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct event {    /* a held-out edge, one way */
    uint64_t key; /* target above, source below */
    uint64_t index;
    uint16_t split, relation;
};

struct event_list {
    struct event *event; /* [count] by relation, target and source */
    uint64_t count;
    uint64_t end[RELATION_COUNT_MAX]; /* one past those of each relation */
};

static int by_place(const void *a, const void *b)
{
    const struct event *x = a, *y = b;
    if (x->relation != y->relation)
        return x->relation < y->relation ? -1 : 1;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->split != y->split)
        return x->split < y->split ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* With relations the type of a held-out edge is its relation, and not a column. */
static enum error_code check_columns(const struct partition_book *book,
                                     const struct topology *training,
                                     const struct edge_splits *splits, struct error *err)
{
    const struct edge_widths *width = &training->width;
    const bool wants_types = book->relation || width->of[EDGE_TYPE] != 0;
    const bool has_types = splits->type[HELD_OUT_VALID] || splits->type[HELD_OUT_TEST];
    const uint64_t count = splits->count[HELD_OUT_VALID] + splits->count[HELD_OUT_TEST];
    const char *missing = !splits->is_timed || !width->of[EDGE_TIME]             ? "times"
                          : splits->has_weights != (width->of[EDGE_WEIGHT] != 0) ? "weights"
                          : splits->feature_dim != width->of[EDGE_FEATURE]       ? "features"
                          : has_types != wants_types                             ? "types"
                          : width->of[EDGE_LABEL] && !splits->is_labelled        ? "labels"
                                                                                 : NULL;
    if (!missing || count == 0)
        return ERROR_NONE;
    return error_set(err, ERROR_CORRUPT,
                     "%s: expected held-out edges and a topology with the same %s, found others",
                     splits->view.key, missing);
}

/* Adds a held-out edge from `u` to `v` of a relation, and its way back in an undirected graph. */
static void add_event(const struct edge_splits *splits, struct event_list *list, uint64_t u,
                      uint64_t v, struct event event)
{
    event.key = v << 32 | u;
    list->event[list->count++] = event;
    event.key = u << 32 | v;
    if (splits->undirected)
        list->event[list->count++] = event;
}

/* Adds the held-out edges of a split, each with its declared reverse. A relation that is the
 * reverse by its content has held-out edges of its own. */
static enum error_code add_split(const struct partition_book *book,
                                 const struct edge_splits *splits, uint16_t split,
                                 struct event_list *list, struct error *err)
{
    struct relation_reverses reverses;
    partition_book_reverses(book, &reverses);
    for (uint64_t i = 0; i < splits->count[split]; i++) {
        const uint32_t u = splits->source[split][i], v = splits->target[split][i];
        const uint16_t own = book->relation ? splits->type[split][i] : 0;
        if (own >= partition_book_relations(book))
            return error_set(
                err, ERROR_CORRUPT,
                "%s: %s edge %" PRIu64 " is of relation %" PRIu16 ", expected one of %" PRIu32,
                splits->view.key, held_out_name[split], i, own, partition_book_relations(book));
        const uint16_t back = book->relation ? reverses.reverse[own] : RELATION_COUNT_MAX;
        add_event(splits, list, u, v, (struct event){.index = i, .split = split, .relation = own});
        if (back < RELATION_COUNT_MAX && !relation_is_forward(&reverses, back))
            add_event(splits, list, v, u,
                      (struct event){.index = i, .split = split, .relation = back});
    }
    return ERROR_NONE;
}

static enum error_code list_events(const struct partition_book *book,
                                   const struct edge_splits *splits, struct event_list *list,
                                   struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint16_t s = 0; rc == ERROR_NONE && s < HELD_OUT_COUNT; s++)
        rc = add_split(book, splits, s, list, err);
    if (rc != ERROR_NONE || list->count == 0)
        return rc;
    qsort(list->event, list->count, sizeof *list->event, by_place);
    for (uint64_t i = 0; i < list->count; i++)
        list->end[list->event[i].relation] = i + 1;
    return ERROR_NONE;
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

/* Joins each relation with its events, whose ends and columns are filled in. */
static enum error_code join(struct store *store, const struct topology *training,
                            const struct event_list *list, const struct edge_columns *columns,
                            const uint32_t *source, const uint32_t *target,
                            struct joined_topology *out, struct error *err)
{
    const uint32_t relations = topology_relations(training);
    struct other_edges *others = NULL;
    uint64_t first = 0;
    enum error_code rc = memory_new(&others, relations, "held-out edges as messages", err);
    for (uint32_t r = 0; rc == ERROR_NONE && r < relations; r++) {
        const uint64_t end = list->end[r] > first ? list->end[r] : first;
        others[r] = (struct other_edges){.count = end - first,
                                         .source = source + first,
                                         .target = target + first,
                                         .columns = edge_columns_read(columns, first)};
        first = end;
    }
    if (rc == ERROR_NONE)
        rc = topology_join(store, training, others, out, err);
    memory_free(others);
    return rc;
}

enum error_code event_history_join(struct store *store, const struct partition_book *book,
                                   const struct topology *training,
                                   const struct edge_splits *splits, struct joined_topology *out,
                                   struct error *err)
{
    static const char what[] = "held-out edges as messages";
    const uint64_t held = splits->count[HELD_OUT_VALID] + splits->count[HELD_OUT_TEST];
    const uint64_t ways = splits->undirected ? 2 : 1, most = held * ways * (book->relation ? 2 : 1);
    struct edge_columns columns = {.width = {{0}}};
    struct event_list list = {.event = NULL};
    uint32_t *source = NULL, *target = NULL;
    enum error_code rc = check_columns(book, training, splits, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&list.event, most, what, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&source, most, what, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&target, most, what, err);
    if (rc == ERROR_NONE)
        rc = edge_columns_new(&columns, &training->width, most, what, err);
    if (rc == ERROR_NONE)
        rc = list_events(book, splits, &list, err);
    if (rc == ERROR_NONE) {
        fill(splits, list.event, list.count, &columns, source, target);
        rc = join(store, training, &list, &columns, source, target, out, err);
    }
    edge_columns_release(&columns);
    memory_free(target);
    memory_free(source);
    memory_free(list.event);
    return rc;
}
