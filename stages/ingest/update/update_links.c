/* Finds the links that a dataset holds out, and decides where new ones go. Declared in
 * update_reader.h. */
#include "common/base/memory.h"
#include "common/files/file.h"
#include "common/files/file_pattern.h"
#include "stages/ingest/build/edge_holdout.h"
#include "stages/ingest/update/update_reader.h"
#include "store/versions/merged_records.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_key_and_time(const void *left, const void *right)
{
    const struct held_key *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->time > b->time) - (a->time < b->time);
}

/* Returns the index of the first key that is at least `key`. */
static uint64_t first_of(const struct held_key *keys, uint64_t count, uint64_t key)
{
    uint64_t low = 0, high = count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (keys[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

enum { ANY_RELATION = RELATION_COUNT_MAX };

/* A query for held-out edges. */
struct held_query {
    uint64_t key;
    uint32_t relation;   /* or ANY_RELATION */
    const int64_t *time; /* NULL: any time */
    bool that_stays;     /* not those that the update removes */
};

static bool is_asked(const struct update_reader *reader, const struct held_query *query,
                     const struct held_key *held)
{
    const int64_t *time = query->time;
    return (query->relation == ANY_RELATION || held->relation == query->relation) &&
           !(time && held->time != *time) &&
           !(query->that_stays && update_edges_go(reader, held->key, held->relation));
}

/* Returns the split that holds such an edge, or -1. */
static int held_in(const struct update_reader *reader, const struct held_query *query)
{
    for (int s = 0; s < HELD_OUT_COUNT; s++) {
        const struct held_key *keys = reader->held_key[s];
        const uint64_t count = reader->held_count[s];
        for (uint64_t i = first_of(keys, count, query->key); i < count && keys[i].key == query->key;
             i++)
            if (is_asked(reader, query, &keys[i]))
                return s;
    }
    return -1;
}

uint64_t update_pair_key(const struct update_reader *reader, uint64_t key, uint32_t relation)
{
    const bool turns =
        !reader->schema->undirected && !relation_is_forward(&reader->reverses, relation);
    return turns ? key << 32 | key >> 32 : key;
}

bool update_links_has(const struct update_reader *reader, uint64_t key, uint32_t relation)
{
    const struct held_query query = {.key = update_pair_key(reader, key, relation),
                                     .relation = reader->reverses.forward[relation]};
    return held_in(reader, &query) >= 0;
}

static enum error_code take_keys(struct update_reader *reader, const struct edge_splits *splits,
                                 enum held_out s, struct error *err)
{
    const uint64_t count = splits->count[s];
    struct held_key **keys = &reader->held_key[s];
    enum error_code rc = update_reader_take(reader, count * sizeof **keys, err);
    if (rc == ERROR_NONE)
        rc = memory_new(keys, count, "held-out edges", err);
    if (rc != ERROR_NONE)
        return rc;
    for (uint64_t i = 0; i < count; i++)
        (*keys)[i] = (struct held_key){
            .key = update_edge_key(reader, splits->source[s][i], splits->target[s][i]),
            .relation = splits->type[s] ? splits->type[s][i] : 0,
            .time = splits->is_timed ? edge_time_at(splits->time[s], i) : 0};
    if (count)
        qsort(*keys, count, sizeof **keys, by_key_and_time);
    reader->held_count[s] = count;
    reader->has_negatives[s] = splits->negative[s].start != NULL;
    return ERROR_NONE;
}

enum error_code update_links_open(struct update_reader *reader, struct error *err)
{
    const struct dataset_schema *schema = reader->schema;
    struct edge_splits splits;
    if (!task_has(schema->task, TASK_HOLDS_OUT_EDGES))
        return ERROR_NONE;
    enum error_code rc =
        merged_edge_splits_get(reader->store, schema->id, schema->node_count, &splits, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = pipeline_edge_split(reader->settings, &reader->link_split, err);
    for (int s = 0; rc == ERROR_NONE && s < HELD_OUT_COUNT; s++)
        rc = take_keys(reader, &splits, (enum held_out)s, err);
    store_release_record(&splits.view);
    return rc;
}

/* Returns whether each of several links with the same ends is an example, as labelled edges are. A
 * list of given links has each link once. */
static bool has_repeats(const struct update_reader *reader)
{
    return task_has(reader->schema->task, TASK_LABELS_EDGES) ||
           (reader->settings->ingest.duplicates == EDGES_KEEP &&
            reader->link_split.kind != EDGE_SPLIT_GIVEN);
}

/* Returns the key of the edge back. */
static uint64_t key_back(uint64_t key)
{
    return key << 32 | key >> 32;
}

/* Returns the split that holds an edge between the nodes of `query`, or an edge back if both go
 * together; -1: none. */
static int pair_held_in(const struct update_reader *reader, const struct held_query *query)
{
    struct held_query back = *query;
    const int split = held_in(reader, query);
    if (split >= 0 || !reader->schema->pairs_together)
        return split;
    back.key = key_back(query->key);
    back.relation = ANY_RELATION;
    return held_in(reader, &back);
}

/* Places an edge where each edge is an example. Edges of two nodes go to the same split, unless the
 * split is by time: then only an edge that is held out already at the same time counts as the same
 * edge. */
static int place_each(const struct update_reader *reader, const struct held_query *held,
                      int64_t time, int draw)
{
    struct held_query query = *held;
    query.time = reader->link_split.kind == EDGE_SPLIT_TIME ? &time : NULL;
    const int split = query.time ? held_in(reader, &query) : pair_held_in(reader, &query);
    return split >= 0 ? split : draw;
}

/* Returns the split that the pair of the forward edge draws; -1: training, or no draw. */
static int draw_of(const struct update_reader *reader, uint32_t source, uint32_t target,
                   uint32_t relation)
{
    const bool turns = !relation_is_forward(&reader->reverses, relation);
    if (reader->link_split.kind != EDGE_SPLIT_RANDOM || source == target)
        return -1;
    return edge_holdout_draw(&reader->link_split, (uint64_t)reader->settings->seed,
                             edge_holdout_goes_both_ways(reader->schema), turns ? target : source,
                             turns ? source : target);
}

int update_links_place(const struct update_reader *reader, uint32_t source, uint32_t target,
                       uint32_t relation, int64_t time, bool *is_held)
{
    const struct dataset_schema *schema = reader->schema;
    const bool draws = reader->link_split.kind == EDGE_SPLIT_RANDOM;
    const uint64_t key = update_edge_key(reader, source, target);
    *is_held = false;
    if (!task_has(schema->task, TASK_HOLDS_OUT_EDGES))
        return 0;
    const struct held_query same = {.key = update_pair_key(reader, key, relation),
                                    .relation = reader->reverses.forward[relation],
                                    .that_stays = true};
    struct held_query pair = same;
    pair.relation = draws ? ANY_RELATION : same.relation;
    const int draw = draw_of(reader, source, target, relation);
    if (has_repeats(reader))
        return 1 + place_each(reader, &pair, time, draw);
    const int held = pair_held_in(reader, &pair);
    *is_held =
        held_in(reader, &same) >= 0 && !(draws && edge_widths_are_timed(&schema->edge_width));
    return 1 + (held >= 0 ? held : draw);
}

/* ---- listed negatives ----------------------------------------------------------------------- */

enum error_code update_links_check_new(struct update_reader *reader, struct error *err)
{
    const struct dataset_delta *delta = &reader->delta;
    for (uint64_t i = 0; delta->new_held && i < delta->added_edges; i++) {
        const int split = delta->new_held[i] - 1;
        if (split >= 0 && reader->has_negatives[split])
            return error_set(err, ERROR_INPUT,
                             "%s:%" PRId64
                             ": the edge draws the %s split, whose edges have given negatives: "
                             "expected an edge for training, because this one has none",
                             update_place_path(&reader->paths, reader->edge_place[i]),
                             update_place_line(reader->edge_place[i]), held_out_name[split]);
    }
    return ERROR_NONE;
}

static bool is_gone(const struct update_reader *reader, const struct edge_splits *splits,
                    enum held_out s, uint64_t i)
{
    const uint32_t source = splits->source[s][i], target = splits->target[s][i];
    return reader->is_gone[source] || reader->is_gone[target] ||
           update_edges_go(reader, update_edge_key(reader, source, target),
                           splits->type[s] ? splits->type[s][i] : 0);
}

/* The line of --remove-nodes that names a node. */
struct naming {
    char node[NODE_ID_TEXT_SIZE], path[FILE_PATH_SIZE];
    int64_t line; /* 0: not found yet */
};

static enum error_code look_for(void *context, const char *path, size_t index, struct error *err)
{
    struct naming *naming = context;
    struct line_reader *lines = NULL;
    struct text_line line;
    struct field field;
    bool found = true;
    (void)index;
    if (naming->line)
        return ERROR_NONE;
    (void)snprintf(naming->path, sizeof naming->path, "%s", path);
    enum error_code rc = line_reader_open(path, &lines, err);
    while (rc == ERROR_NONE && naming->line == 0) {
        rc = delimited_read(lines, NULL, &line, &found, err);
        if (rc != ERROR_NONE || !found)
            break;
        if (!text_line_is_skipped(&line) &&
            delimited_split_line(&line, delimited_guess(line.text, line.size), &field, 1) > 0 &&
            field.size == strlen(naming->node) && memcmp(field.text, naming->node, field.size) == 0)
            naming->line = line.number;
    }
    line_reader_close(lines);
    return rc;
}

static enum error_code name_last(const struct update_reader *reader,
                                 const struct edge_splits *splits, enum held_out s, uint64_t i,
                                 struct error *err)
{
    char source[NODE_ID_TEXT_SIZE], target[NODE_ID_TEXT_SIZE];
    const uint32_t last = splits->negative[s].node[splits->negative[s].start[i + 1] - 1];
    const uint16_t *type = splits->type[s];
    const bool has_several = type && type[i] < reader->relation_count && reader->relation_count > 1;
    struct naming naming = {.line = 0};
    (void)living_nodes_text(&reader->nodes, last, naming.node);
    error_ignore(file_pattern_visit(reader->request->remove_nodes, look_for, &naming, NULL));
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64
                     ": node %s is removed, and with it the last of the given negatives of the %s "
                     "edge from %s to %s%s%s: expected at least one that stays",
                     naming.path, naming.line, naming.node, held_out_name[s],
                     living_nodes_text(&reader->nodes, splits->source[s][i], source),
                     living_nodes_text(&reader->nodes, splits->target[s][i], target),
                     has_several ? " of relation " : "",
                     has_several ? reader->schema->edge_type[type[i]].name : "");
}

static enum error_code check_split(const struct update_reader *reader,
                                   const struct edge_splits *splits, enum held_out s,
                                   struct error *err)
{
    const struct negative_ends *ends = &splits->negative[s];
    for (uint64_t i = 0; ends->start && i < splits->count[s]; i++) {
        uint64_t left = 0;
        for (uint64_t e = ends->start[i]; e < ends->start[i + 1]; e++)
            left += !reader->is_gone[ends->node[e]];
        if (left == 0 && !is_gone(reader, splits, s, i))
            return name_last(reader, splits, s, i, err);
    }
    return ERROR_NONE;
}

enum error_code update_links_check_gone(struct update_reader *reader, struct error *err)
{
    const struct dataset_schema *schema = reader->schema;
    struct edge_splits splits;
    if (reader->delta.gone_nodes == 0 || !(reader->has_negatives[0] || reader->has_negatives[1]))
        return ERROR_NONE;
    enum error_code rc =
        merged_edge_splits_get(reader->store, schema->id, schema->node_count, &splits, err);
    if (rc != ERROR_NONE)
        return rc;
    for (int s = 0; rc == ERROR_NONE && s < HELD_OUT_COUNT; s++)
        rc = check_split(reader, &splits, (enum held_out)s, err);
    store_release_record(&splits.view);
    return rc;
}
