/* The links that a dataset holds out, and where new ones go. Declared in update_reader.h. */
#include "common/base/memory.h"
#include "stages/ingest/build/edge_holdout.h"
#include "stages/ingest/update/update_reader.h"
#include "store/versions/merged_records.h"

#include <stdlib.h>

static int by_number(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

static bool has_key(const uint64_t *keys, uint64_t count, uint64_t key)
{
    return count && bsearch(&key, keys, count, sizeof key, by_number) != NULL;
}

/* The split that holds the link of this key, or -1. */
static int held_in(const struct update_reader *reader, uint64_t key)
{
    for (int s = 0; s < HELD_OUT_COUNT; s++)
        if (has_key(reader->held_key[s], reader->held_count[s], key))
            return s;
    return -1;
}

bool update_links_has(const struct update_reader *reader, uint64_t key)
{
    return held_in(reader, key) >= 0;
}

static enum error_code take_keys(struct update_reader *reader, const struct edge_splits *splits,
                                 enum held_out s, struct error *err)
{
    const uint64_t count = splits->count[s];
    uint64_t **keys = &reader->held_key[s];
    enum error_code rc = update_reader_take(reader, count * sizeof **keys, err);
    if (rc == ERROR_NONE)
        rc = memory_new(keys, count, "held-out edges", err);
    if (rc != ERROR_NONE)
        return rc;
    for (uint64_t i = 0; i < count; i++)
        (*keys)[i] = update_edge_key(reader, splits->source[s][i], splits->target[s][i]);
    if (count)
        qsort(*keys, count, sizeof **keys, by_number);
    reader->held_count[s] = count;
    return ERROR_NONE;
}

enum error_code update_links_open(struct update_reader *reader, struct error *err)
{
    const struct dataset_schema *schema = reader->schema;
    struct edge_splits splits;
    if (!task_learns_pairs(schema->task))
        return ERROR_NONE;
    enum error_code rc =
        merged_edge_splits_get(reader->store, schema->id, schema->node_count, &splits, err);
    if (rc != ERROR_NONE)
        return rc;
    if (splits.negative[0].start || splits.negative[1].start || splits.trained.count)
        rc = error_set(err, ERROR_INVALID,
                       "dataset %s has negatives that are given: expected drawn ones, of which "
                       "alone there are updates",
                       schema->id);
    if (rc == ERROR_NONE)
        rc = pipeline_edge_split(reader->settings, &reader->link_split, err);
    for (int s = 0; rc == ERROR_NONE && s < HELD_OUT_COUNT; s++)
        rc = take_keys(reader, &splits, (enum held_out)s, err);
    store_release_record(&splits.view);
    return rc;
}

int update_links_place(const struct update_reader *reader, uint64_t key, uint32_t source,
                       uint32_t target, bool *is_held)
{
    const struct dataset_schema *schema = reader->schema;
    const bool draws = reader->link_split.kind == EDGE_SPLIT_RANDOM;
    const int held =
        has_key(reader->gone_key, reader->delta.gone_edges, key) ? -1 : held_in(reader, key);
    *is_held = held >= 0 && !(draws && schema->edge_width.of[EDGE_TIME]);
    if (held >= 0 || source == target || !task_learns_pairs(schema->task) || !draws)
        return 1 + held;
    return 1 + edge_holdout_draw(&reader->link_split, (uint64_t)reader->settings->seed,
                                 schema->undirected, source, target);
}
