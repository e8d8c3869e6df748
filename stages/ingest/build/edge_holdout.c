#include "stages/ingest/build/edge_holdout.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/formats/bytes/usual_advice.h"
#include "stages/ingest/build/edge_labels.h"
#include "stages/ingest/build/edges/holdout_times.h"
#include "stages/ingest/build/edges/last_edges.h"
#include "stages/ingest/build/edges/spool_walk.h"
#include "stages/ingest/build/given_holdout.h"
#include "store/objects/keys.h"
#include "store/records/dataset/dataset_types.h"

#include <inttypes.h>
#include <string.h>

enum { STAYS = -1 };

enum error_code edge_holdout_init(struct edge_holdout *holdout,
                                  const struct pipeline_settings *settings,
                                  const struct dataset_schema *schema, uint64_t memory_bytes,
                                  struct error *err)
{
    *holdout = (struct edge_holdout){
        .schema = schema,
        .seed = (uint64_t)settings->seed,
        .memory_bytes = memory_bytes,
        .negatives.memory_bytes = memory_bytes,
        .hold_out_reverse = (enum hold_out_reverse)settings->ingest.hold_out_reverse,
        .keeps_repeats = settings->ingest.duplicates == EDGES_KEEP,
        .is_wanted = task_has(settings->ingest.task, TASK_HOLDS_OUT_EDGES),
        .keeps_messages = pipeline_history(settings) == HISTORY_ALL};
    return holdout->is_wanted ? pipeline_edge_split(settings, &holdout->split, err) : ERROR_NONE;
}

static void release_edges(struct held_edges *held)
{
    memory_free(held->source);
    memory_free(held->target);
    memory_free(held->type);
    memory_free(held->label);
    memory_free(held->time);
    memory_free(held->weight);
    memory_free(held->feature);
    memory_free(held->line);
    memory_free(held->where);
}

void edge_holdout_release(struct edge_holdout *holdout)
{
    for (int s = 0; s < HELD_OUT_COUNT; s++) {
        release_edges(&holdout->held[s]);
        release_edges(&holdout->listed[s]);
    }
    memory_free(holdout->last);
    memory_free(holdout->given);
    memory_free(holdout->train_class);
    given_negatives_release(&holdout->negatives);
    *holdout = (struct edge_holdout){0};
}

/* Returns whether each of several edges with the same ends is an example. */
static bool has_repeats(const struct edge_holdout *holdout)
{
    return holdout->keeps_repeats || edge_holdout_has_labels(holdout);
}

/* Returns whether the held-out edges have times, given the columns of edges. Links that files list
 * have none. */
static bool has_times(const struct edge_holdout *holdout, const struct edge_widths *width)
{
    return edge_widths_are_timed(width) &&
           (holdout->split.kind != EDGE_SPLIT_GIVEN || edge_holdout_has_labels(holdout));
}

bool edge_holdout_has_labels(const struct edge_holdout *holdout)
{
    return holdout->labels && holdout->labels->task;
}

/* Returns the number of floats that a held-out edge has as a message. */
static size_t message_floats(const struct edge_holdout *holdout, const struct edge_widths *width)
{
    return holdout->keeps_messages ? width->of[EDGE_WEIGHT] + (size_t)width->of[EDGE_FEATURE] : 0;
}

/* ---- lists
 * ------------------------------------------------------------------------------------ */

/* Checks that the lists fit their share of the budget. `floats`: values of each edge on top of its
 * ends, type and time. */
static enum error_code check_room(const struct edge_holdout *holdout, int split, bool is_timed,
                                  size_t floats, struct error *err)
{
    const struct held_edges *held = holdout->held, *listed = holdout->listed;
    const uint64_t count = held[0].count + held[1].count + listed[0].count + listed[1].count;
    const uint64_t each = 10 + (edge_holdout_has_labels(holdout) ? sizeof(float) : 0) +
                          (is_timed ? sizeof(int64_t) : 0) + floats * sizeof(float);
    const uint64_t bytes = (count + 1) * each;
    char have[32], want[32];
    if (holdout->memory_bytes && bytes > holdout->memory_bytes / 4)
        return error_set(err, ERROR_NO_MEMORY,
                         "the held-out edges take more than %s: expected at most a quarter of the "
                         "memory budget of %s; " ADVICE "give more --memory, or hold out fewer "
                         "(ingest.edge_split)",
                         text_size(bytes, want), text_size(holdout->memory_bytes, have));
    return held[split].count < UINT32_MAX
               ? ERROR_NONE
               : error_set(err, ERROR_INPUT, "expected at most %u edges of the %s split",
                           UINT32_MAX, held_out_name[split]);
}

static enum error_code add_edge(struct held_edges *held, uint32_t source, uint32_t target,
                                uint16_t type, struct error *err)
{
    static const char what[] = "held-out edges";
    enum error_code rc =
        memory_grow(&held->source, &held->source_capacity, held->count + 1, what, err);
    if (rc == ERROR_NONE)
        rc = memory_grow(&held->target, &held->target_capacity, held->count + 1, what, err);
    if (rc == ERROR_NONE)
        rc = memory_grow(&held->type, &held->type_capacity, held->count + 1, what, err);
    if (rc != ERROR_NONE)
        return rc;
    held->type[held->count] = type;
    held->source[held->count] = source;
    held->target[held->count++] = target;
    return ERROR_NONE;
}

void edge_holdout_find_reverses(struct edge_holdout *holdout)
{
    if (holdout->reverses.count == 0)
        dataset_reverses(holdout->schema, &holdout->reverses);
}

/* Checks that the relation of a listed edge is no reverse, and that both ends have the types that
 * it connects. */
static enum error_code check_relation(struct edge_holdout *holdout, const struct given_edge *edge,
                                      struct error *err)
{
    const struct dataset_schema *schema = holdout->schema;
    const struct relation_reverses *reverses = &holdout->reverses;
    const struct edge_type *relation = &schema->edge_type[edge->type];
    if (!schema->has_relations)
        return ERROR_NONE;
    edge_holdout_find_reverses(holdout);
    if (!relation_is_forward(reverses, edge->type))
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": relation %s is the reverse of %s: expected the edge as "
                         "one of %s, whose reverse goes with it",
                         edge->where, edge->line, relation->name,
                         schema->edge_type[reverses->forward[edge->type]].name,
                         schema->edge_type[reverses->forward[edge->type]].name);
    for (int i = 0; i < 2; i++) {
        const int64_t node = i ? edge->target : edge->source;
        const uint32_t expected = i ? relation->target_type : relation->source_type;
        const uint32_t found = dataset_type_of(schema, (uint32_t)node);
        if (found != expected)
            return error_set(err, ERROR_INPUT,
                             "%s:%" PRId64 ": %s %" PRId64
                             " of relation %s: expected a node of type %s, found one of type %s",
                             edge->where, edge->line, i ? "target" : "source", node, relation->name,
                             schema->node_type[expected].name, schema->node_type[found].name);
    }
    return ERROR_NONE;
}

enum error_code edge_holdout_give(struct edge_holdout *holdout, enum held_out split,
                                  const struct given_edge *edge, struct error *err)
{
    struct held_edges *held = &holdout->listed[split];
    const char *where = edge->where;
    const int64_t nodes = holdout->schema->node_count, end[] = {edge->source, edge->target};
    enum error_code rc = ERROR_NONE;
    must(holdout->is_wanted);
    for (int i = 0; i < 2; i++)
        if (end[i] < 0 || end[i] >= nodes)
            return error_set(err, ERROR_INPUT,
                             "%s:%" PRId64 ": %s %" PRId64
                             " is out of range: expected a node id from 0 to %" PRId64 ADVISE_NODE,
                             where, edge->line, i ? "target" : "source", end[i], nodes - 1);
    rc = check_relation(holdout, edge, err);
    if (rc == ERROR_NONE && !held->where) {
        const size_t size = strlen(where) + 1;
        rc = memory_new(&held->where, size, "the name of a file", err);
        if (rc == ERROR_NONE)
            memcpy(held->where, where, size);
    }
    if (rc == ERROR_NONE)
        rc = check_room(holdout, (int)split, false, 0, err);
    if (rc == ERROR_NONE)
        rc = memory_grow(&held->line, &held->line_capacity, held->count + 1, "lines of edges", err);
    if (rc != ERROR_NONE)
        return rc;
    held->line[held->count] = edge->line;
    return add_edge(held, (uint32_t)edge->source, (uint32_t)edge->target, edge->type, err);
}

static enum error_code find_last(struct edge_holdout *holdout, struct edge_spool *spool,
                                 struct error *err)
{
    const uint32_t nodes = holdout->schema->node_count;
    enum error_code rc = memory_new(&holdout->last, nodes, "the last edges of nodes", err);
    struct last_search search = {.last = holdout->last,
                                 .node_count = nodes,
                                 .seed = holdout->seed,
                                 .reverses = &holdout->reverses};
    if (rc == ERROR_NONE)
        rc = last_edges_find(&search, spool, err);
    holdout->passed_sources = search.passed_over;
    return rc;
}

enum error_code edge_holdout_prepare(struct edge_holdout *holdout, struct edge_spool *spool,
                                     struct error *err)
{
    if (!holdout->is_wanted || spool->edge_count == 0)
        return ERROR_NONE;
    edge_holdout_find_reverses(holdout);
    const enum error_code made =
        edge_holdout_has_labels(holdout)
            ? memory_new(&holdout->train_class, holdout->labels->class_count, "classes", err)
            : given_negatives_sort(&holdout->negatives, holdout->schema, holdout->ids, err);
    if (made != ERROR_NONE)
        return made;
    switch (holdout->split.kind) {
    case EDGE_SPLIT_RANDOM:
        break;
    case EDGE_SPLIT_TIME:
        return holdout_times_find(spool, holdout->split.percent, holdout->time_end, err);
    case EDGE_SPLIT_LEAVE_ONE_OUT:
        return find_last(holdout, spool, err);
    case EDGE_SPLIT_GIVEN:
        return given_holdout_check(holdout, spool, err);
    }
    return ERROR_NONE;
}

/* ---- rows
 * ------------------------------------------------------------------------------------- */

int edge_holdout_draw(const struct edge_split *split, uint64_t seed, bool both_ways,
                      uint32_t source, uint32_t target)
{
    const bool turns = both_ways && source > target;
    const uint64_t draw = last_edges_draw(seed, turns ? target : source, turns ? source : target);
    const double percent = (double)(draw >> 11) * 0x1p-53 * 100;
    if (percent < split->percent[0])
        return STAYS;
    return percent < split->percent[0] + split->percent[1] ? HELD_OUT_VALID : HELD_OUT_TEST;
}

static int split_by_time(const struct edge_holdout *holdout, int64_t time)
{
    if (time <= holdout->time_end[0])
        return STAYS;
    return time <= holdout->time_end[1] ? HELD_OUT_VALID : HELD_OUT_TEST;
}

/* Returns the split of an edge by the last edges of `source`. */
static int split_of_last(const struct edge_holdout *holdout, uint32_t source, uint32_t target)
{
    const int place = last_edges_place(&holdout->last[source], target);
    return place < 0 ? STAYS : place ? HELD_OUT_VALID : HELD_OUT_TEST;
}

bool edge_holdout_goes_both_ways(const struct dataset_schema *schema)
{
    return schema->undirected || schema->pairs_together;
}

int edge_holdout_split(const struct edge_holdout *holdout, uint32_t source, uint32_t target,
                       uint16_t type, int64_t time)
{
    const bool both_ways = edge_holdout_goes_both_ways(holdout->schema);
    if (source == target)
        return STAYS;
    if (holdout->split.kind == EDGE_SPLIT_GIVEN)
        return given_holdout_split(holdout, source, target, type);
    if (holdout->split.kind == EDGE_SPLIT_RANDOM)
        return edge_holdout_draw(&holdout->split, holdout->seed, both_ways, source, target);
    if (holdout->split.kind == EDGE_SPLIT_TIME)
        return split_by_time(holdout, time);
    const int there = split_of_last(holdout, source, target);
    if (!both_ways)
        return there;
    /* NOLINTNEXTLINE(readability-suspicious-call-argument): the way back */
    const int back = split_of_last(holdout, target, source);
    return there > back ? there : back;
}

/* Appends one column of an edge to the array of `held`. */
static enum error_code add_column(const struct edge_columns_view *columns, enum edge_column column,
                                  uint64_t edge, size_t count, float **array, size_t *capacity,
                                  struct error *err)
{
    const size_t width = columns->width.of[column];
    const enum error_code rc =
        memory_grow(array, capacity, (count + 1) * width, edge_column[column].plural, err);
    if (rc == ERROR_NONE && width)
        memcpy(*array + count * width, edge_columns_at(columns, column, edge),
               width * sizeof **array);
    return rc;
}

static enum error_code add_message(struct held_edges *held, const struct edge_columns_view *columns,
                                   uint64_t edge, struct error *err)
{
    const enum error_code rc = add_column(columns, EDGE_WEIGHT, edge, held->count, &held->weight,
                                          &held->weight_capacity, err);
    return rc == ERROR_NONE ? add_column(columns, EDGE_FEATURE, edge, held->count, &held->feature,
                                         &held->feature_capacity, err)
                            : rc;
}

/* Lists an edge of a row as held out, with its label and other columns. */
static enum error_code note(struct edge_holdout *holdout, int split, uint32_t source,
                            uint32_t target, const struct edge_columns_view *columns, uint64_t edge,
                            struct error *err)
{
    struct held_edges *held = &holdout->held[split];
    const size_t wanted = held->count + 1;
    const bool is_labelled = edge_holdout_has_labels(holdout);
    const bool is_timed = has_times(holdout, &columns->width);
    enum error_code rc =
        check_room(holdout, split, is_timed, message_floats(holdout, &columns->width), err);
    if (rc == ERROR_NONE && is_labelled)
        rc = memory_grow(&held->label, &held->label_capacity, wanted, "labels of edges", err);
    if (rc == ERROR_NONE && is_timed)
        rc = memory_grow(&held->time, &held->time_capacity, wanted, "times of edges", err);
    if (rc == ERROR_NONE && holdout->keeps_messages)
        rc = add_message(held, columns, edge, err);
    if (rc != ERROR_NONE)
        return rc;
    if (is_labelled)
        memcpy(&held->label[held->count], edge_columns_at(columns, EDGE_LABEL, edge),
               sizeof(float));
    if (is_timed)
        held->time[held->count] = edge_columns_time(columns, edge);
    return add_edge(held, source, target, visited_type(columns, edge), err);
}

/* Counts the class of an edge that stays. */
static void count_class(struct edge_holdout *holdout, const struct edge_columns_view *columns,
                        uint64_t edge)
{
    float label = 0;
    if (!edge_holdout_has_labels(holdout) || !holdout->labels->task->is_in_class)
        return;
    memcpy(&label, edge_columns_at(columns, EDGE_LABEL, edge), sizeof label);
    holdout->train_class[(uint32_t)label]++;
}

enum error_code edge_holdout_take(struct edge_holdout *holdout, uint32_t node,
                                  const struct edge_row *row, uint64_t *order, uint32_t *kept,
                                  struct error *err)
{
    uint32_t to = 0;
    /* the link (source and type) noted last */
    uint64_t noted[HELD_OUT_COUNT] = {UINT64_MAX, UINT64_MAX};
    enum error_code rc = ERROR_NONE;
    if (!holdout->is_wanted)
        return ERROR_NONE;
    for (uint32_t i = 0; rc == ERROR_NONE && i < *kept; i++) {
        const uint32_t source = (uint32_t)(order[i] >> 32), edge = (uint32_t)order[i];
        const uint16_t type = visited_type(&row->columns, edge);
        const uint64_t link = (uint64_t)source << 16 | type;
        const uint16_t forward = holdout->reverses.forward[type];
        const bool is_reverse = forward != type;
        const int split =
            edge_holdout_split(holdout, is_reverse ? node : source, is_reverse ? source : node,
                               forward, edge_columns_time(&row->columns, edge));
        if (split == STAYS) {
            count_class(holdout, &row->columns, edge);
            given_negatives_see(&holdout->negatives, source, node, type);
            order[to++] = order[i];
        } else if (!is_reverse && (!holdout->schema->undirected || source < node)) {
            const bool is_noted = noted[split] == link && !has_repeats(holdout);
            noted[split] = link;
            holdout->merged_repeats += is_noted;
            if (!is_noted)
                rc = note(holdout, split, source, node, &row->columns, edge, err);
        }
    }
    *kept = to;
    return rc;
}

enum error_code edge_holdout_put(struct edge_holdout *holdout, bool has_types,
                                 const struct edge_sides *sides, struct store *store,
                                 struct error *err)
{
    uint32_t *left = NULL;
    struct edge_splits splits = {.undirected = holdout->schema->undirected};
    const char *id = holdout->schema->id;
    if (!holdout->is_wanted)
        return ERROR_NONE;
    enum error_code rc =
        given_negatives_match(&holdout->negatives, holdout->ids, holdout->held, &splits, err);
    if (rc == ERROR_NONE && sides->is_source)
        rc = edge_sides_sources(sides, &left, err);
    if (rc != ERROR_NONE)
        return rc;
    splits.left = left;
    splits.left_count = left ? sides->count[0] : 0;
    splits.trained.type = has_types ? splits.trained.type : NULL;
    splits.is_labelled = edge_holdout_has_labels(holdout);
    splits.is_timed = has_times(holdout, &holdout->schema->edge_width);
    if (splits.is_labelled && holdout->labels->task->is_in_class) {
        splits.class_count = holdout->labels->class_count;
        splits.train_class = holdout->train_class;
    }
    for (int s = 0; s < HELD_OUT_COUNT; s++) {
        splits.count[s] = holdout->held[s].count;
        splits.source[s] = holdout->held[s].source;
        splits.target[s] = holdout->held[s].target;
        splits.type[s] = has_types ? holdout->held[s].type : NULL;
        splits.label[s] = holdout->held[s].label;
        splits.time[s].word = holdout->held[s].time;
        splits.weight[s] = holdout->held[s].weight;
        splits.feature[s] = holdout->held[s].feature;
    }
    splits.has_weights = holdout->keeps_messages && holdout->schema->edge_width.of[EDGE_WEIGHT];
    splits.feature_dim = holdout->keeps_messages ? holdout->schema->edge_width.of[EDGE_FEATURE] : 0;
    rc = edge_splits_put(store, key_dataset(id, "edge_splits").text, id, &splits, err);
    memory_free(left);
    return rc;
}
