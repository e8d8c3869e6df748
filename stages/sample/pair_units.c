#include "stages/sample/pair_units.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/numbers/random.h"
#include "stages/sampling/pairs/negative_chances.h"
#include "stages/sampling/rows/random_walk.h"
#include "stages/sampling/samplers/sampler.h"
#include "store/objects/keys.h"
#include "store/versions/merged_links.h"

#include <inttypes.h>
#include <string.h>

enum { WALK_HOP = 8, STEP_HOP = 9 }; /* hop words of RANDOM_WALK streams */
enum { SHARE_OF_MEMORY = 8 }; /* an eighth each for held-out edges and for chances of nodes */

static enum error_code check_counts(const struct pair_units *units,
                                    const struct stage_context *context, struct error *err)
{
    const uint64_t valid = units->splits.count[HELD_OUT_VALID];
    if (valid == (uint64_t)context->schedule->valid_count &&
        edge_positions_count(&units->edges) == (uint64_t)context->schedule->train_count)
        return ERROR_NONE;
    return error_set(err, ERROR_CORRUPT,
                     "%s: %" PRIu64 " validation edges beside %" PRIu64
                     " of the topology, expected %" PRId64 " and %" PRId64
                     " as in the partition book",
                     units->splits.view.key, valid, edge_positions_count(&units->edges),
                     context->schedule->valid_count, context->schedule->train_count);
}

/* Checks that the held-out edges and the topology have the labels and times that are needed. */
static enum error_code check_columns(const struct pair_units *units, struct error *err)
{
    const struct edge_splits *splits = &units->splits;
    const struct edge_widths *width = &units->topology->width;
    const char *missing =
        units->is_labelled && !(splits->is_labelled && width->of[EDGE_LABEL])    ? "labels"
        : units->is_timed && !(splits->is_timed && edge_widths_are_timed(width)) ? "times"
                                                                                 : NULL;
    if (!missing)
        return ERROR_NONE;
    return error_set(err, ERROR_CORRUPT,
                     "%s: expected held-out edges and a topology with %s, found others",
                     splits->view.key, missing);
}

/* Indexes the training edges that have given negatives. */
static enum error_code index_given(struct pair_units *units, const struct stage_context *context,
                                   uint64_t budget_bytes, struct error *err)
{
    const struct trained_negatives *trained = &units->splits.trained;
    char want[32], have[32];
    if (context->settings->sample.negative != NEGATIVE_GIVEN)
        return ERROR_NONE;
    if (!trained->count)
        return error_set(err, ERROR_CORRUPT, "%s: expected given negatives, found none",
                         units->splits.view.key);
    if (budget_bytes && 16 * trained->count > budget_bytes)
        return error_set(
            err, ERROR_NO_MEMORY,
            "the edges with given negatives want %s, the budget for them is %s; " ADVICE "give "
            "more --memory",
            text_size(16 * trained->count, want), text_size(budget_bytes, have));
    units->given = (struct edge_index){.source = trained->source,
                                       .target = trained->target,
                                       .type = trained->type,
                                       .count = trained->count};
    return edge_index_sort(&units->given, err);
}

static enum error_code find_chances(struct pair_units *units, uint64_t budget_bytes,
                                    struct error *err)
{
    if (pair_ends_have_types(&units->ends))
        return negative_chances_by_type(units->chances, units->topology, &units->ends, budget_bytes,
                                        err);
    struct node_chances all = {0};
    enum error_code rc = negative_chances_init(&all, units->topology, budget_bytes, err);
    if (rc == ERROR_NONE && !pair_sides_are_known(&units->sides)) {
        units->chances[0] = all;
        return ERROR_NONE;
    }
    if (rc == ERROR_NONE)
        rc = pair_sides_chances(&units->sides, &all, units->chances, err);
    node_chances_release(&all);
    return rc;
}

enum error_code pair_units_open(struct pair_units *units, const struct stage_context *context,
                                const struct topology *topology, struct error *err)
{
    const struct partition_book *book = context->book;
    const uint64_t budget = context->memory_bytes / SHARE_OF_MEMORY;
    *units = (struct pair_units){.topology = topology};
    if (!task_has(book->task, TASK_HOLDS_OUT_EDGES))
        return ERROR_NONE;
    units->is_wanted = true;
    units->is_labelled = task_has(book->task, TASK_LABELS_EDGES);
    units->is_timed = sampler_goes_by_time(pipeline_sampler(context->settings));
    enum error_code rc = merged_part_links_get(context->store, book, &units->splits, err);
    if (rc == ERROR_NONE)
        rc = pair_ends_init(&units->ends, book, err);
    if (rc == ERROR_NONE)
        rc = edge_positions_init(&units->edges, topology, &units->ends.reverses, err);
    if (rc == ERROR_NONE)
        rc = check_counts(units, context, err);
    if (rc == ERROR_NONE)
        rc = check_columns(units, err);
    if (rc != ERROR_NONE || units->is_labelled) /* labelled edges have no negatives */
        return rc;
    struct known_pairs_config known = {.topology = topology,
                                       .type_count = book->pair_type_count,
                                       .is_timed = units->is_timed,
                                       .budget_bytes = budget};
    rc = known_pairs_init(&units->training, &known, err);
    known.splits = &units->splits;
    if (rc == ERROR_NONE)
        rc = known_pairs_init(&units->all, &known, err);
    if (rc == ERROR_NONE)
        rc = pair_sides_init(&units->sides, topology, &units->splits, err);
    if (rc == ERROR_NONE && context->settings->sample.negative == NEGATIVE_DEGREE)
        rc = find_chances(units, budget, err);
    return rc == ERROR_NONE ? index_given(units, context, budget, err) : rc;
}

void pair_units_close(struct pair_units *units)
{
    edge_positions_release(&units->edges);
    for (int t = 0; t < RELATION_TYPE_COUNT_MAX; t++)
        node_chances_release(&units->chances[t]);
    pair_ends_release(&units->ends);
    pair_sides_release(&units->sides);
    edge_index_release(&units->given);
    known_pairs_release(&units->all);
    store_release_record(&units->splits.view);
    *units = (struct pair_units){0};
}

enum error_code pair_drawing_init(struct pair_drawing *drawing, const struct pair_units *units,
                                  const struct stage_context *context, uint64_t budget_bytes,
                                  struct error *err)
{
    const struct schedule *s = context->schedule;
    const int64_t most =
        s->batch_size > s->evaluation_batch_size ? s->batch_size : s->evaluation_batch_size;
    if (!units->is_wanted)
        return ERROR_NONE;
    enum error_code rc = memory_new(&drawing->source, (size_t)most, "the edges of a batch", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&drawing->target, (size_t)most, "the edges of a batch", err);
    if (rc == ERROR_NONE && !units->is_labelled && context->settings->sample.pairs == PAIRS_WALKS)
        rc = memory_new(&drawing->walk, (size_t)context->settings->sample.pair_walk_length + 1,
                        "a walk", err);
    if (rc == ERROR_NONE && context->book->pair_type_count)
        rc = memory_new(&drawing->type, (size_t)most, "the edges of a batch", err);
    if (rc == ERROR_NONE && units->is_labelled)
        rc = memory_new(&drawing->label, (size_t)most, "the labels of edges", err);
    if (rc == ERROR_NONE && units->is_timed)
        rc = memory_new(&drawing->time, (size_t)most, "the times of edges", err);
    if (rc == ERROR_NONE && units->given.count)
        rc = memory_new(&drawing->given_list, (size_t)most, "given negatives", err);
    return rc == ERROR_NONE ? pair_drawer_new(units->topology, budget_bytes, &drawing->drawer, err)
                            : rc;
}

void pair_drawing_release(struct pair_drawing *drawing)
{
    pair_drawer_free(drawing->drawer);
    memory_free(drawing->source);
    memory_free(drawing->target);
    memory_free(drawing->type);
    memory_free(drawing->walk);
    memory_free(drawing->label);
    memory_free(drawing->time);
    memory_free(drawing->given_list);
    *drawing = (struct pair_drawing){0};
}

/* Writes the edge at `position` of the topology to place `i` of the drawing. */
static void take_edge(const struct pair_units *units, uint64_t position,
                      const struct pair_drawing *drawing, int64_t i)
{
    const struct edge_place place = edge_positions_find(&units->edges, position);
    drawing->source[i] = place.source;
    drawing->target[i] = place.target;
    if (drawing->type)
        drawing->type[i] = place.type;
    if (units->is_labelled)
        memcpy(&drawing->label[i], topology_column(place.part, EDGE_LABEL, place.edge),
               sizeof *drawing->label);
    if (drawing->given_list)
        drawing->given_list[i] =
            edge_index_find(&units->given, place.source, place.target, place.type);
    if (units->is_timed)
        drawing->time[i] = topology_time(place.part, place.edge);
}

/* Whether a node may be the source of pair `i`: it is of the type in which the relation begins. */
static bool may_be_source(const struct pair_units *units, const struct pair_drawing *drawing,
                          uint32_t i, uint32_t node)
{
    const uint16_t relation = drawing->type ? drawing->type[i] : 0;
    return node != drawing->target[i] && pair_ends_type_of(&units->ends, node) ==
                                             pair_ends_type(&units->ends, relation, PAIR_SOURCE);
}

/* Draws a walk from the target of pair `i`. The pair's source becomes a node of the walk, unless
 * the walk has none that may be one. */
static enum error_code walk_pair(const struct pair_units *units,
                                 const struct stage_context *context, const struct unit *unit,
                                 const struct pair_drawing *drawing, uint32_t i, struct error *err)
{
    const struct random_stream stream =
        random_stream_of(context->schedule->seed, RANDOM_WALK, (uint32_t)unit->round, WALK_HOP,
                         (uint32_t)unit->slot);
    const uint32_t length = (uint32_t)context->settings->sample.pair_walk_length;
    const struct random_walk walk = {.topology = units->topology,
                                     .stream = &stream,
                                     .length = length,
                                     .p = context->settings->sample.walk_p,
                                     .q = context->settings->sample.walk_q};
    const struct random_stream of_step =
        random_stream_of(context->schedule->seed, RANDOM_WALK, (uint32_t)unit->round, STEP_HOP,
                         (uint32_t)unit->slot);
    const uint32_t first = random_below(random_word(&of_step, i, 0), length);
    const enum error_code rc = random_walk_draw(&walk, i, drawing->target[i], drawing->walk, err);
    for (uint32_t k = 0; rc == ERROR_NONE && k < length; k++) {
        const uint32_t node = drawing->walk[1 + (first + k) % length];
        if (!may_be_source(units, drawing, i, node))
            continue;
        drawing->source[i] = node;
        break;
    }
    return rc;
}

static enum error_code training_request(const struct pair_units *units,
                                        const struct stage_context *context,
                                        const struct unit *unit, const struct pair_drawing *drawing,
                                        struct pair_request *out, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    const struct pipeline_settings *settings = context->settings;
    const int64_t epoch = schedule_epoch(context->schedule, unit->round);
    int64_t first = 0, count = 0;
    schedule_seed_range(context->schedule, unit->round, unit->slot, &first, &count);
    for (int64_t i = 0; i < count; i++) {
        const int64_t at = schedule_shuffled(context->schedule, epoch, first + i);
        take_edge(units, (uint64_t)at, drawing, i);
        if (drawing->walk && rc == ERROR_NONE)
            rc = walk_pair(units, context, unit, drawing, (uint32_t)i, err);
    }
    *out = (struct pair_request){
        .use = PAIRS_OF_TRAINING,
        .negative =
            units->is_labelled ? NEGATIVE_UNIFORM : (enum negative_kind)settings->sample.negative,
        .negatives = (uint32_t)pipeline_negatives(settings),
        .chances = units->chances,
        .given = &units->splits.trained.ends,
        .given_list = drawing->given_list,
        .known = settings->sample.filter_negatives && !units->is_labelled ? &units->training : NULL,
        .positive_count = (uint32_t)count,
        .source = drawing->source,
        .target = drawing->target,
        .type = drawing->type,
        .corrupt = (enum corrupted_end)settings->sample.corrupt,
        .label = drawing->label,
        .time = {.word = drawing->time},
        .excludes = units->is_labelled ? (enum excluded_edges_kind)settings->sample.exclude_edges
                                       : EXCLUDE_REVERSES,
    };
    return rc;
}

static struct pair_request validation_request(const struct pair_units *units,
                                              const struct stage_context *context,
                                              const struct unit *unit)
{
    const uint16_t *type = units->splits.type[HELD_OUT_VALID];
    int64_t first = 0, count = 0;
    schedule_evaluation_range(context->schedule, unit->slot, &first, &count);
    return (struct pair_request){
        .use = PAIRS_OF_VALIDATION,
        .negative = NEGATIVE_UNIFORM,
        .negatives = (uint32_t)pipeline_evaluation_negatives(context->settings),
        .known = &units->all,
        .positive_count = (uint32_t)count,
        .source = units->splits.source[HELD_OUT_VALID] + first,
        .target = units->splits.target[HELD_OUT_VALID] + first,
        .type = type ? type + first : NULL,
        .corrupt = (enum corrupted_end)context->settings->sample.corrupt,
        .label = units->is_labelled ? units->splits.label[HELD_OUT_VALID] + first : NULL,
        .time = units->is_timed
                    ? edge_times_from(units->splits.time[HELD_OUT_VALID], (uint64_t)first)
                    : (struct edge_times){0},
    };
}

enum error_code pair_units_draw(const struct pair_units *units, const struct stage_context *context,
                                const struct unit *unit, uint32_t round,
                                struct pair_drawing *drawing, struct drawn_pairs *out,
                                struct error *err)
{
    struct pair_request request = {0};
    enum error_code rc = ERROR_NONE;
    if (unit->kind == UNIT_SAMPLE)
        rc = training_request(units, context, unit, drawing, &request, err);
    else
        request = validation_request(units, context, unit);
    if (rc != ERROR_NONE)
        return rc;
    request.ends = pair_ends_have_types(&units->ends) ? &units->ends : NULL;
    request.sides = pair_sides_are_known(&units->sides) ? &units->sides : NULL;
    request.seed = context->schedule->seed;
    request.round = round;
    request.slot = (uint32_t)unit->slot;
    return pair_drawer_draw(drawing->drawer, &request, out, err);
}
