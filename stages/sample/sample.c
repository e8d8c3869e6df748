/*
 * sample - seed nodes to mini-batches.
 *
 *     partition/<id>/part/<p>/topology ──┐
 *     partition/<id>/splits ─────────────┼─> neighbor_sampler ─> run/<id>/round/<r>/slot/<k>/mini_batch
 *     schedule: which seeds, in what order ┘                  └─> run/<id>/evaluation/<k>/mini_batch
 *
 * A training unit takes its share of the epoch's shuffled training nodes (or parts, where clusters
 * are drawn) and what sample.sampler makes of it. An evaluation unit takes its share of the
 * validation nodes in their own order, with sample.evaluation_fanouts or all neighbours, and is
 * made once for all validations of a run, so that they can be compared. Mini-batches hold ids,
 * never features. With infer.history all the validation events see earlier held-out events too:
 * their units alone read the topology that event_history.h joins.
 *
 * A sampler whose row says counts_walks draws by how often its walks reach nodes and edges:
 * run/<id>/walk_counts, a unit of its own before all mini-batches.
 *
 * With --threads N up to N units are drawn side by side, each by a sampler of its own on the same
 * topology.
 *
 * Up to half of --memory may go into a copy of the topology (store/topology/topology.h); a topology
 * that is larger is read where the files are mapped, which takes longer and no memory that the
 * system cannot have back. All parts are opened before the first unit, for seeds and their
 * neighbourhoods are of any of them: so no unit is nearer to one worker than to another. The rest
 * of --memory is for the samplers.
 */
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "stages/engine/stage.h"
#include "stages/plan/model/edge_use.h"
#include "stages/plan/model/run_model.h"
#include "stages/plan/run/node_appearance.h"
#include "stages/sample/drawn_parts.h"
#include "stages/sample/graph_units.h"
#include "stages/sample/pair_units.h"
#include "stages/sample/sample_room.h"
#include "stages/sample/sampler_tables.h"
#include "stages/sample/unit_fanouts.h"
#include "stages/sampling/rows/event_history.h"
#include "stages/sampling/samplers/sampler.h"
#include "store/objects/keys.h"
#include "store/records/batch/mini_batch.h"
#include "store/records/dataset/node_splits.h"
#include "store/topology/topology.h"
#include "store/topology/topology_ahead.h"
#include "store/versions/merged_parts.h"

#include <inttypes.h>
#include <pthread.h>

/* No round of training has this number, so evaluation draws differ from all of training's. */
static const uint32_t evaluation_round = UINT32_MAX;

struct sample_state {
    struct topology topology;
    int64_t *node_time; /* of its nodes; NULL: they are always there */
    struct edge_use use;
    struct node_splits splits;
    struct sampler_tables tables;
    struct unit_fanouts fanouts;
    struct pair_units pairs;
    struct graph_units graphs;
    struct sample_room room;
    pthread_mutex_t mutex; /* guards what follows */
    /* of events (infer.history), made by the first evaluation unit */
    struct joined_topology history;
    pthread_cond_t given_back;
    struct drawer *idle; /* a list; one for each unit that is drawn at a time */
    bool has_warned;     /* of mini-batches that teach nothing */
};

/* Everything that one unit is drawn with. */
struct drawer {
    struct drawer *next;
    struct neighbor_sampler *sampler;
    const struct topology *topology; /* that it draws from */
    uint32_t *seed_node; /* [the larger of the two batch sizes, or the nodes of so many graphs] */
    int64_t *seed_time;  /* likewise */
    uint32_t *part;      /* [parts in a mini-batch] */
    struct pair_drawing pairs;
    struct arena packed;   /* the record that is written */
    uint64_t budget_bytes; /* of a sampler */
};

static void sample_close(void *opaque)
{
    struct sample_state *state = opaque;
    if (!state)
        return;
    while (state->idle) {
        struct drawer *drawer = state->idle;
        state->idle = drawer->next;
        neighbor_sampler_free(drawer->sampler);
        memory_free(drawer->seed_node);
        memory_free(drawer->seed_time);
        memory_free(drawer->part);
        pair_drawing_release(&drawer->pairs);
        arena_release(&drawer->packed);
        memory_free(drawer);
    }
    (void)pthread_cond_destroy(&state->given_back);
    (void)pthread_mutex_destroy(&state->mutex);
    sampler_tables_release(&state->tables);
    unit_fanouts_release(&state->fanouts);
    store_release_record(&state->splits.view);
    pair_units_close(&state->pairs);
    graph_units_close(&state->graphs);
    joined_topology_close(&state->history);
    topology_close(&state->topology);
    memory_free(state->node_time);
    memory_free(state);
}

static enum error_code open_inputs(const struct stage_context *context, struct sample_state *state,
                                   struct error *err)
{
    const struct partition_book *book = context->book;
    const struct key splits = key_partition(book->id, "splits");
    struct model *model = NULL;
    enum error_code rc = run_model_shape(&model, context->settings, err);
    if (rc == ERROR_NONE)
        rc = edge_use_of(context->settings, model, &book->edge_width, &state->use, err);
    memory_free(model);
    if (rc != ERROR_NONE)
        return rc;
    rc = topology_open(context->store, book, &state->topology, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = topology_open_parts(&state->topology, context->pool, err);
    if (rc == ERROR_NONE)
        rc = node_appearance_open(context->settings, context->store, book, &state->topology,
                                  &state->node_time, err);
    if (rc == ERROR_NONE)
        rc = unit_fanouts_open(context, &state->fanouts, err);
    if (rc == ERROR_NONE)
        rc = sampler_check(pipeline_sampler(context->settings), &state->topology, err);
    if (rc == ERROR_NONE)
        rc = pair_units_open(&state->pairs, context, &state->topology, err);
    if (rc == ERROR_NONE)
        rc = graph_units_open(&state->graphs, context, err);
    if (rc != ERROR_NONE || state->pairs.is_wanted)
        return rc;
    rc = merged_part_splits_get(context->store, book->id, &state->splits, err);
    if (rc != ERROR_NONE)
        return rc;
    const uint32_t *count = state->splits.count;
    if (count[SPLIT_TRAIN] != context->schedule->train_count ||
        count[SPLIT_VALID] != context->schedule->valid_count)
        return error_set(
            err, ERROR_CORRUPT,
            "%s: %" PRIu32 " training and %" PRIu32 " validation %ss, expected %" PRId64
            " and %" PRId64 " as in the partition book",
            splits.text, count[SPLIT_TRAIN], count[SPLIT_VALID], task_subject(book->task),
            context->schedule->train_count, context->schedule->valid_count);
    return ERROR_NONE;
}

/* Copies the topology if it may; *left is what the samplers have. Of a copy that is shared with
 * other workers each counts its portion. */
static enum error_code copy_topology(const struct stage_context *context, struct topology *topology,
                                     uint64_t *left, struct error *err)
{
    const uint64_t budget = context->memory_bytes, bytes = topology_copy_bytes(topology);
    const uint64_t portion = bytes / (uint64_t)(context->sharers > 1 ? context->sharers : 1);
    const bool only_shared = budget && bytes > budget / 2;
    enum error_code rc = ERROR_NO_MEMORY;
    char of[32], taken[32];
    if (budget == 0 || portion <= budget / 2)
        rc = topology_copy(topology, only_shared, context->pool, err);
    const bool copied = rc == ERROR_NONE;
    const uint64_t counted = topology->copy.is_shared ? portion : bytes;
    log_info(copied ? "memory: %s, of it %s for a copy of the topology"
                    : "memory: %s, too little for a copy of the topology of %s, which is read from "
                      "its files",
             text_size(budget, of), text_size(copied ? counted : bytes, taken));
    *left = budget && copied ? budget - counted : budget;
    return rc == ERROR_NO_MEMORY && only_shared ? ERROR_NONE : rc;
}

/* As many samplers as threads, but no more than have room for their table of all nodes twice;
 * others wait for one. */
static uint64_t count_drawers(const struct stage_context *context, uint64_t memory_bytes)
{
    const uint64_t table = (uint64_t)context->book->node_count * sizeof(uint32_t);
    uint64_t count = context->threads > 1 ? (uint64_t)context->threads : 1;
    while (count > 1 && memory_bytes && memory_bytes / count < 2 * table)
        count--;
    return count;
}

static enum error_code add_drawer(const struct stage_context *context, struct sample_state *state,
                                  uint64_t budget_bytes, struct error *err)
{
    const struct schedule *schedule = context->schedule;
    const int64_t trained = state->graphs.is_wanted ? schedule->seeds_most : schedule->batch_size;
    const int64_t validated =
        state->graphs.is_wanted ? schedule->evaluation_seeds_most : schedule->evaluation_batch_size;
    const int64_t seeds_max = trained > validated ? trained : validated;
    const struct neighbor_sampler_config config = {
        .topology = &state->topology,
        .book = context->book,
        .has_self_loops = context->book->self_loop_count != 0,
        .budget_bytes = budget_bytes - budget_bytes / 5 * (state->pairs.is_wanted ? 3 : 2),
    };
    struct drawer *drawer = NULL;
    const enum error_code rc = memory_new(&drawer, 1, "a sampler", err);
    if (rc != ERROR_NONE)
        return rc;
    drawer->packed.limit = budget_bytes / 5 * 2; /* a record is smaller than the arrays packed */
    drawer->budget_bytes = config.budget_bytes;
    drawer->topology = &state->topology;
    drawer->next = state->idle;
    state->idle = drawer;
    enum error_code made =
        memory_new(&drawer->seed_node, (size_t)seeds_max, "the seed nodes of a mini-batch", err);
    if (made == ERROR_NONE && sampler_goes_by_time(pipeline_sampler(context->settings)) &&
        !state->pairs.is_wanted)
        made = memory_new(&drawer->seed_time, (size_t)seeds_max, "the times of seed nodes", err);
    if (made == ERROR_NONE && schedule->cluster_count)
        made = memory_new(&drawer->part, (size_t)schedule->cluster_count,
                          "the clusters of a mini-batch", err);
    if (made == ERROR_NONE)
        made = pair_drawing_init(&drawer->pairs, &state->pairs, context, budget_bytes / 5, err);
    return made != ERROR_NONE ? made : neighbor_sampler_new(&config, &drawer->sampler, err);
}

/* Subtracts from the samplers' memory the splits that are not stored and the sampler's tables. */
static enum error_code leave_room(const struct stage_context *context,
                                  const struct sample_state *state, uint64_t *left,
                                  struct error *err)
{
    const struct topology *topology = &state->topology;
    const struct sampler *sampler = pipeline_sampler(context->settings);
    const uint64_t bytes = sampler_tables_bytes(context, topology);
    const uint64_t splits = merged_bytes(&state->splits.view);
    *left -= splits < *left / 2 ? splits : *left / 2;
    char wanted[32], had[32];
    if (*left && bytes > *left / 2)
        return error_set(err, ERROR_NO_MEMORY,
                         "sample.sampler %s wants %s for what it knows of the whole graph, of the "
                         "%s that are left: " ADVICE "give more --memory%s%s",
                         sampler->name, text_size(bytes, wanted), text_size(*left, had),
                         context->schedule->counts_walks ? ", or " : "",
                         context->schedule->counts_walks ? sampler->advice_without_counts : "");
    *left -= *left ? bytes : 0;
    return ERROR_NONE;
}

static struct drawer *take_drawer(struct sample_state *state)
{
    (void)pthread_mutex_lock(&state->mutex);
    while (!state->idle)
        (void)pthread_cond_wait(&state->given_back, &state->mutex);
    struct drawer *drawer = state->idle;
    state->idle = drawer->next;
    (void)pthread_mutex_unlock(&state->mutex);
    return drawer;
}

static void give_back_drawer(struct sample_state *state, struct drawer *drawer)
{
    (void)pthread_mutex_lock(&state->mutex);
    drawer->next = state->idle;
    state->idle = drawer;
    (void)pthread_cond_signal(&state->given_back);
    (void)pthread_mutex_unlock(&state->mutex);
}

static enum error_code sample_open(const struct stage_context *context, void **opaque,
                                   struct error *err)
{
    struct sample_state *state = NULL;
    enum error_code rc = memory_new(&state, 1, "the state of sample", err);
    if (rc != ERROR_NONE)
        return rc;
    must(pthread_mutex_init(&state->mutex, NULL) == 0);
    must(pthread_cond_init(&state->given_back, NULL) == 0);
    *opaque = state;
    uint64_t left = 0;
    rc = open_inputs(context, state, err);
    if (rc == ERROR_NONE)
        rc = copy_topology(context, &state->topology, &left, err);
    if (rc == ERROR_NONE)
        rc = leave_room(context, state, &left, err);
    const uint64_t count = count_drawers(context, left);
    for (uint64_t i = 0; rc == ERROR_NONE && i < count; i++)
        rc = add_drawer(context, state, left / count, err);
    if (rc == ERROR_NONE)
        rc = sampler_tables_open(context, &state->topology, &state->splits, &state->tables, err);
    if (rc == ERROR_NONE && !state->topology.copy.bytes)
        topology_read_at_random(&state->topology);
    return rc;
}

/* Gives the drawer a sampler of `topology`, its only one, so that two do not share its memory. */
static enum error_code draw_from(const struct stage_context *context, struct drawer *drawer,
                                 const struct topology *topology, struct error *err)
{
    const struct neighbor_sampler_config config = {
        .topology = topology,
        .book = context->book,
        .has_self_loops = context->book->self_loop_count != 0,
        .budget_bytes = drawer->budget_bytes,
    };
    if (drawer->topology == topology && drawer->sampler)
        return ERROR_NONE;
    neighbor_sampler_free(drawer->sampler);
    drawer->sampler = NULL;
    drawer->topology = topology;
    return neighbor_sampler_new(&config, &drawer->sampler, err);
}

/* Makes the topology that validation of events reads, once. */
static enum error_code open_history(const struct stage_context *context, struct sample_state *state,
                                    struct error *err)
{
    enum error_code rc = ERROR_NONE;
    (void)pthread_mutex_lock(&state->mutex);
    if (!state->history.rows)
        rc = event_history_join(context->store, context->book, &state->topology,
                                &state->pairs.splits, &state->history, err);
    (void)pthread_mutex_unlock(&state->mutex);
    return rc;
}

/* Draws the mini-batch of a unit of pairs: their ends are the seeds, in one of the two
 * topologies. */
static enum error_code sample_pairs(const struct stage_context *context,
                                    const struct sample_state *state, struct drawer *drawer,
                                    const struct topology *topology, const struct unit *unit,
                                    struct neighbor_request *request, struct mini_batch *batch,
                                    struct error *err)
{
    struct drawn_pairs drawn;
    enum error_code rc =
        pair_units_draw(&state->pairs, context, unit, request->round, &drawer->pairs, &drawn, err);
    if (rc != ERROR_NONE)
        return rc;
    request->seed_count = drawn.seed_count;
    request->seed_node = drawn.seed_node;
    request->excluded = drawn.has_excluded ? &drawn.excluded : NULL;
    drawn.times.only_earlier = request->times.only_earlier;
    request->times = drawn.times;
    rc = draw_from(context, drawer, topology, err);
    if (rc == ERROR_NONE)
        rc = pipeline_sampler(context->settings)->draw(drawer->sampler, request, batch, err);
    batch->pairs = drawn.pairs;
    request->excluded = NULL; /* which is gone with `drawn` */
    return rc;
}

/* The seeds of a training unit: its range of the epoch's shuffled order. */
static uint32_t choose_training_seeds(const struct stage_context *context,
                                      const struct sample_state *state, const struct drawer *drawer,
                                      const struct unit *unit)
{
    const int64_t epoch = schedule_epoch(context->schedule, unit->round);
    const uint32_t *train = state->splits.node[SPLIT_TRAIN];
    int64_t first = 0, count = 0;
    schedule_seed_range(context->schedule, unit->round, unit->slot, &first, &count);
    for (int64_t i = 0; i < count; i++)
        drawer->seed_node[i] = train[schedule_shuffled(context->schedule, epoch, first + i)];
    return (uint32_t)count;
}

/* The parts of a training unit: its range of the epoch's shuffled order. */
static uint32_t choose_parts(const struct stage_context *context, const struct drawer *drawer,
                             const struct unit *unit)
{
    const int64_t epoch = schedule_epoch(context->schedule, unit->round);
    int64_t first = 0, count = 0;
    schedule_cluster_range(context->schedule, unit->round, unit->slot, &first, &count);
    for (int64_t i = 0; i < count; i++)
        drawer->part[i] = (uint32_t)schedule_shuffled_part(context->schedule, epoch, first + i);
    return (uint32_t)count;
}

/* Returns the part of a request that both kinds of unit share. */
static struct neighbor_request begin_request(const struct stage_context *context,
                                             const struct sample_state *state,
                                             const struct unit *unit, const int64_t *fanout)
{
    /* Steps on listed rows read features of edges off the mini-batch. */
    const bool has_positions = !context->book->relation && state->use.columns >> EDGE_FEATURE & 1;
    return (struct neighbor_request){
        .seed = context->schedule->seed,
        .round = (uint32_t)unit->round,
        .slot = (uint32_t)unit->slot,
        .hop_count = state->fanouts.hop_count,
        .fanout = fanout,
        .wants_degree = context->schedule->needs_degree,
        .wants_weight_sum = state->use.weight_sum,
        .wants_ends = context->schedule->divides_by_ends,
        .edge_columns = state->use.columns & ~(has_positions ? 1U << EDGE_FEATURE : 0U),
        .wants_edge_positions = has_positions,
        .draw_count = (uint32_t)context->settings->sample.batch_size,
        .graph = sampler_tables_knowledge(&state->tables),
        .options = &context->settings->sample.option,
    };
}

static enum error_code draw_batch(const struct stage_context *context,
                                  const struct sample_state *state, struct drawer *drawer,
                                  struct neighbor_request *request, struct mini_batch *batch,
                                  struct error *err)
{
    enum error_code rc = ERROR_NONE;
    if (drawer->seed_time) {
        rc = seed_times_find(&state->topology, request->options, request->seed_node,
                             request->seed_count, drawer->seed_time, err);
        request->times.seed_time = drawer->seed_time;
    }
    return rc == ERROR_NONE
               ? pipeline_sampler(context->settings)->draw(drawer->sampler, request, batch, err)
               : rc;
}

/* Reads the counts of an earlier unit, for the first mini-batch. */
static enum error_code read_counts(const struct stage_context *context, struct sample_state *state,
                                   struct error *err)
{
    (void)pthread_mutex_lock(&state->mutex);
    const enum error_code rc =
        sampler_tables_read_counts(context, &state->topology, &state->splits, &state->tables, err);
    (void)pthread_mutex_unlock(&state->mutex);
    return rc;
}

/* Says it once a worker: a run may have many of them. */
static void warn_of_no_seeds(const struct stage_context *context, struct sample_state *state,
                             const struct unit *unit, const struct mini_batch *batch)
{
    if (!batch->seed_weight || batch->seed_weight[0] > 0)
        return;
    (void)pthread_mutex_lock(&state->mutex);
    const bool is_first = !state->has_warned;
    state->has_warned = true;
    (void)pthread_mutex_unlock(&state->mutex);
    if (is_first)
        log_warn(
            "the mini-batch of round %" PRId64 " slot %" PRId32
            " has no training node, so it teaches nothing, and others like it will be drawn; %s "
            "makes them rare",
            unit->round, unit->slot, pipeline_sampler(context->settings)->advice_on_seeds);
}

static enum error_code sample_training(const struct stage_context *context,
                                       struct sample_state *state, struct drawer *drawer,
                                       const struct unit *unit, struct mini_batch *batch,
                                       struct error *err)
{
    enum error_code rc = read_counts(context, state, err);
    if (rc != ERROR_NONE)
        return rc;
    struct neighbor_request request = begin_request(context, state, unit, state->fanouts.training);
    const enum sampler_unit kind = pipeline_sampler(context->settings)->unit;
    if (state->pairs.is_wanted)
        return sample_pairs(context, state, drawer, &state->topology, unit, &request, batch, err);
    request.seed_node = drawer->seed_node;
    request.part = drawer->part;
    if (state->graphs.is_wanted)
        request.seed_count =
            graph_units_seeds(&state->graphs, context, &state->splits, unit, drawer->seed_node);
    else if (kind == SAMPLER_OF_SEEDS)
        request.seed_count = choose_training_seeds(context, state, drawer, unit);
    else if (kind == SAMPLER_OF_CLUSTERS)
        request.part_count = choose_parts(context, drawer, unit);
    rc = draw_batch(context, state, drawer, &request, batch, err);
    if (rc == ERROR_NONE)
        warn_of_no_seeds(context, state, unit, batch);
    return rc;
}

/* The events of a validation unit see all that was before them, held out or not. Edge features go
 * into the mini-batch: positions would be those of rows that the step has not. */
static enum error_code sample_events(const struct stage_context *context,
                                     struct sample_state *state, struct drawer *drawer,
                                     const struct unit *unit, struct neighbor_request *request,
                                     struct mini_batch *batch, struct error *err)
{
    const enum error_code rc = open_history(context, state, err);
    request->times.only_earlier = true;
    request->edge_columns = state->use.columns;
    request->wants_edge_positions = false;
    return rc == ERROR_NONE ? sample_pairs(context, state, drawer, &state->history.topology, unit,
                                           request, batch, err)
                            : rc;
}

static enum error_code sample_evaluation(const struct stage_context *context,
                                         struct sample_state *state, struct drawer *drawer,
                                         const struct unit *unit, struct mini_batch *batch,
                                         struct error *err)
{
    int64_t first = 0, count = 0;
    schedule_evaluation_range(context->schedule, unit->slot, &first, &count);
    struct neighbor_request request =
        begin_request(context, state, unit, state->fanouts.evaluation);
    request.round = evaluation_round;
    if (context->schedule->shows_history)
        return sample_events(context, state, drawer, unit, &request, batch, err);
    if (state->pairs.is_wanted)
        return sample_pairs(context, state, drawer, &state->topology, unit, &request, batch, err);
    request.seed_count = (uint32_t)count;
    request.seed_node = state->splits.node[SPLIT_VALID] + first;
    if (state->graphs.is_wanted) {
        request.seed_node = drawer->seed_node;
        request.seed_count =
            graph_units_seeds(&state->graphs, context, &state->splits, unit, drawer->seed_node);
    }
    return pipeline_sampler(context->settings)->has_neighborhoods
               ? draw_batch(context, state, drawer, &request, batch, err)
               : neighbor_sampler_draw(drawer->sampler, &request, batch, err);
}

static enum error_code sample_work(const struct stage_context *context, void *opaque,
                                   const struct unit *unit, struct error *err)
{
    struct sample_state *state = opaque;
    struct mini_batch batch = {0};
    struct key key = {0};
    enum error_code rc = sample_room_wait(context, &state->room, unit, err);
    if (rc != ERROR_NONE)
        return rc;
    struct drawer *drawer = take_drawer(state);
    const bool is_training = unit->kind == UNIT_SAMPLE;
    if (unit->kind == UNIT_COUNT_WALKS) {
        rc = sampler_tables_count(context, &state->topology, &state->splits, drawer->sampler, err);
        give_back_drawer(state, drawer);
        return rc == ERROR_NONE
                   ? rc
                   : error_context(err, rc, "%s", key_walk_counts(context->run_id).text);
    }
    must(is_training || unit->kind == UNIT_SAMPLE_EVALUATION);
    key = is_training ? key_mini_batch(context->run_id, unit->round, unit->slot)
                      : key_evaluation_mini_batch(context->run_id, unit->slot);
    rc = is_training ? sample_training(context, state, drawer, unit, &batch, err)
                     : sample_evaluation(context, state, drawer, unit, &batch, err);
    if (rc == ERROR_NONE && is_training)
        drawn_parts_tell(context, &batch);
    stage_times_enter(context->times, TIME_WRITE);
    if (rc == ERROR_NONE)
        rc =
            mini_batch_put(context->store, key.text, context->run_id, &batch, &drawer->packed, err);
    give_back_drawer(state, drawer);
    return rc == ERROR_NONE ? rc : error_context(err, rc, "%s", key.text);
}

const struct stage stage = {
    .name = "sample",
    .summary = "draw neighbourhoods of seed nodes: mini-batches of ids, no features",
    .reads = "topology_seal, partition_delta, node_placement, node_splits, edge_splits, "
             "graph_index, walk_counts, node_times, node_permutation",
    .writes = "mini_batch, walk_counts",
    .form = STAGE_LOOP,
    .works_side_by_side = true,
    .open = sample_open,
    .work = sample_work,
    .close = sample_close,
};
