/*
 * infer - embeddings and predictions of every node, layer by layer, all neighbours, no sampling.
 *
 *   weights w, out of the snapshot that ends the run ─┐
 *   topology, features ───────────────────────────────┴─> [ infer/w/1/p ] ─> layer 1 of part p ─┐ (all parts)
 *   (with a learnable embedding [ infer/w/0/p ] before it: features and rows of part p side by side)
 *                                                         [ infer/w/2/p ] <─────────────────────┘
 *                                                              ...
 *   the last layers of all parts ─────────────────────────> [ outputs/w ] ─> model, embeddings, predictions,
 *                                                                            metrics
 *
 * w is named by the unit, and no other weights are taken for it: not those of a snapshot in the midst of
 * training, nor those that an earlier unit left in memory. Every seal says which weights were used, and a
 * layer above reads no layer of other ones.
 *
 * --memory is shared out among what is held at one time, and that is a layer or the outputs: what layers were
 * computed with is given back before the outputs are written.
 *
 *   a layer   1/2 rows of the layer below, 1/4 neighbours of a tile, 1/4 values of a tile; where those rows do not fit
 *             and are summed in windows (source_windows.h, typed_windows.h), what neighbours of a tile do not take is for them too
 *   outputs   5/8 rows in the order of the input (output_writer.c); the rest for lines and ids
 *
 * Of a run that wants some nodes alone there is one unit, outputs/w: selection.h.
 * Of a run that samples by times each node is computed at its own (temporal_inference.h), in the same units, from the features on.
 *
 * A layer at a time costs each edge once a layer, where sampling all neighbours of a batch would compute
 * the same node again for every batch it is near to.
 */
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/nn/model.h"
#include "stages/infer/inference_tile.h"
#include "stages/infer/input_rows.h"
#include "stages/infer/output_writer.h"
#include "stages/infer/part_inference.h"
#include "stages/infer/selected_inference.h"
#include "stages/infer/temporal_inference.h"
#include "stages/infer/typed_inference.h"
#include "stages/infer/typed_selection.h"
#include "stages/plan/chain.h"
#include "stages/plan/run_model.h"
#include "stages/plan/sparse_features.h"
#include "store/records/node_permutation.h"
#include "store/records/snapshot.h"
#include "store/records/wanted_nodes.h"
#include "store/versions/merged_parts.h"

#include <inttypes.h>
#include <string.h>

struct infer_state {
    struct model model;
    struct edge_use edge_use;
    struct topology topology;
    struct typed_tiles *tiles;     /* of a graph with relations, in place of what follows: */
    struct typed_inference *typed; /* over these */
    struct neighbor_sampler *sampler;
    struct feature_source *input, *second;         /* of layer input_layer (part_inference.h) */
    struct feature_source *lower[LAYER_COUNT_MAX]; /* likewise; NULL where there is none */
    struct source_windows *windows;                /* over the input, where they are wanted */
    bool mostly_zero;                              /* the input: features may be */
    int last_part;                                 /* of the last layer that was computed */
    int input_layer; /* the layer that reads it, with these weights; 0: none is open */
    struct arena arena;
    float *weights; /* [model.value_count]; NULL until the first unit */
    struct weights_identity identity;
};

static void close_input(struct infer_state *state)
{
    typed_inference_close_inputs(state->typed);
    source_windows_free(state->windows);
    feature_source_close(state->input);
    feature_source_close(state->second);
    state->windows = NULL;
    state->input = state->second = NULL;
    for (int l = 0; l < LAYER_COUNT_MAX; l++) {
        feature_source_close(state->lower[l]);
        state->lower[l] = NULL;
    }
    state->input_layer = 0;
}

/* Gives back all that layers are computed with, but for the weights. */
static void close_layers(struct infer_state *state)
{
    close_input(state);
    typed_inference_free(state->typed);
    state->typed = NULL;
    typed_tiles_free(state->tiles);
    state->tiles = NULL;
    neighbor_sampler_free(state->sampler);
    state->sampler = NULL;
    topology_close(&state->topology);
    arena_release(&state->arena);
}

static void infer_close(void *opaque)
{
    struct infer_state *state = opaque;
    if (!state)
        return;
    close_layers(state);
    memory_free(state->weights);
    memory_free(state);
}

static enum error_code infer_open(const struct stage_context *context, void **opaque,
                                  struct error *err)
{
    struct infer_state *state = NULL;
    enum error_code rc = memory_new(&state, 1, "the state of infer", err);
    *opaque = state;
    if (rc == ERROR_NONE)
        rc = run_model_init(&state->model, context->settings, context->book, err);
    if (rc == ERROR_NONE)
        rc = edge_use_of(context->settings, &state->model, &context->book->edge_width,
                         &state->edge_use, err);
    return rc;
}

/* Of a graph with relations. */
static enum error_code new_tiles(const struct stage_context *context, struct infer_state *state,
                                 struct error *err)
{
    const struct typed_tiles_config tiles = {.context = context,
                                             .topology = &state->topology,
                                             .model = &state->model,
                                             .edge_columns = state->edge_use.columns,
                                             .neighbor_bytes = context->memory_bytes / 4,
                                             .value_bytes = context->memory_bytes / 4};
    struct typed_inference_config typed = {.context = context,
                                           .rows_bytes = context->memory_bytes / 2};
    const enum error_code rc = typed_tiles_new(&tiles, &state->tiles, err);
    typed.tiles = state->tiles;
    return rc == ERROR_NONE ? typed_inference_new(&typed, &state->typed, err) : rc;
}

/* Topology and sampler are opened when the first unit comes: until the end of training there is none. Its parts are
 * opened by the units that read them. */
static enum error_code open_topology(const struct stage_context *context, struct infer_state *state,
                                     struct error *err)
{
    if (state->sampler || state->typed)
        return ERROR_NONE;
    enum error_code rc = topology_open(context->store, context->book, &state->topology, err);
    if (rc != ERROR_NONE)
        return rc;
    const struct neighbor_sampler_config config = {
        .topology = &state->topology,
        .has_self_loops = context->book->self_loop_count > 0,
        .budget_bytes = context->memory_bytes / 4,
    };
    state->arena.limit = context->memory_bytes / 4;
    rc = model_is_typed(&state->model) ? new_tiles(context, state, err)
                                       : neighbor_sampler_new(&config, &state->sampler, err);
    if (rc != ERROR_NONE)
        close_layers(state);
    return rc;
}

/* A layer that weighs its sources by their degrees or by sums of weights asks the parts of all of
 * them. In a graph with relations only a layer that divides by both ends of an edge does so. */
static enum error_code open_parts(const struct stage_context *context,
                                  const struct infer_state *state, int part, struct error *err)
{
    const bool weighs_sources = state->typed
                                    ? state->model.divides_by_ends
                                    : state->model.needs_degree || state->edge_use.weight_sum;
    return temporal_inference_is_wanted(context) || weighs_sources
               ? topology_open_parts(&state->topology, context->pool, err)
               : topology_open_part(&state->topology, part, err);
}

/* Keeps the weights that inference takes of this snapshot. */
static enum error_code keep_weights(const struct stage_context *context, struct infer_state *state,
                                    const struct snapshot *snapshot, struct error *err)
{
    const float *value = NULL;
    if (snapshot->value_count != state->model.value_count)
        return error_set(err, ERROR_CORRUPT, "record %s: %" PRIu64 " parameters, expected %" PRIu64,
                         snapshot->view.key, snapshot->value_count, state->model.value_count);
    if (!state->weights) {
        const enum error_code rc =
            memory_new(&state->weights, state->model.value_count, "weights", err);
        if (rc != ERROR_NONE)
            return rc;
    }
    state->identity = weights_identity_of(snapshot, context->schedule->infers_best, &value);
    memcpy(state->weights, value, state->model.value_count * sizeof *value);
    return ERROR_NONE;
}

/* Brings weights `version` into memory. The snapshot that ends the run says whether inference takes them. */
static enum error_code read_weights(const struct stage_context *context, struct infer_state *state,
                                    int64_t version, struct error *err)
{
    struct snapshot snapshot = {0};
    if (state->weights && state->identity.version == version)
        return ERROR_NONE;
    close_input(state);
    enum error_code rc = snapshot_get_current(context->store, context->run_id, &snapshot, err);
    if (rc != ERROR_NONE)
        return rc;
    const int64_t wanted = chain_weights_version(context->schedule, &snapshot);
    if (wanted < 0)
        rc =
            error_set(err, ERROR_NOT_FOUND,
                      "weights %" PRId64 ": the run has not ended: its newest snapshot is %" PRId64,
                      version, snapshot.version);
    else if (wanted != version)
        rc = error_set(err, ERROR_INVALID,
                       "weights %" PRId64 ": the run ended with snapshot %" PRId64
                       ", of which inference takes weights %" PRId64,
                       version, snapshot.version, wanted);
    else
        rc = keep_weights(context, state, &snapshot, err);
    store_release_record(&snapshot.view);
    return rc;
}

static void tell_memory(const struct stage_context *context, const struct infer_state *state)
{
    char all[32], rows[32], tile[32];
    log_info("memory: %s, of it up to %s for neighbours and values of a tile, %s for the rows that "
             "layer %d "
             "reads, which %s",
             text_size(context->memory_bytes, all), text_size(context->memory_bytes / 2, tile),
             text_size(feature_source_bytes(state->input) +
                           (state->second ? feature_source_bytes(state->second) : 0) +
                           (state->windows ? source_windows_bytes(state->windows) : 0),
                       rows),
             state->input_layer,
             feature_source_is_resident(state->input) ? "all fit"
             : state->windows                         ? "are summed in windows"
                                                      : "are read as tiles want them");
}

static uint32_t largest_part(const struct partition_book *book)
{
    uint32_t most = 0;
    for (int p = 0; p < book->part_count; p++)
        most = book->book[p + 1] - book->book[p] > most ? book->book[p + 1] - book->book[p] : most;
    return most;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Rows that are mostly zero are multiplied before they are summed (sparse_layer.h), but for attention: those are read tile by
 * tile. */
static enum error_code open_windows(const struct stage_context *context, struct infer_state *state,
                                    int layer, struct error *err)
{
    const bool sums_all = source_windows_sum_all(&state->model, layer - 1);
    if (temporal_inference_is_wanted(context) ||
        !source_windows_are_possible(&state->model, layer - 1) ||
        (state->mostly_zero && model_sums_sources(&state->model, layer - 1)) ||
        (feature_source_is_resident(state->input) &&
         !source_windows_are_always(&state->model, layer - 1)))
        return ERROR_NONE;
    const uint32_t largest = largest_part(context->book);
    const uint64_t others = context->memory_bytes / (state->second ? 2 : 4) +
                            neighbor_sampler_bytes(state->sampler) +
                            feature_source_bytes(state->input);
    const struct source_windows_config config = {
        .topology = &state->topology,
        .input = state->input,
        .model = &state->model,
        .weights = state->weights,
        .layer = layer - 1,
        .edge_use = state->edge_use,
        .has_self_loops = context->book->self_loop_count > 0,
        .pool = context->pool,
        .budget_bytes = context->memory_bytes > others ? context->memory_bytes - others : 0,
        .destinations_least = largest < INFERENCE_TILE_NODES ? largest : INFERENCE_TILE_NODES,
        .destinations_most = largest,
    };
    const enum error_code rc = source_windows_new(&config, &state->windows, err);
    if (sums_all)
        return rc;
    /* Of GAT some tiles are read as they are, while windows rest; or all, where there is no room for windows. */
    if (rc == ERROR_NONE)
        feature_source_limit(
            state->input,
            smaller(context->memory_bytes / (state->second ? 4 : 2),
                    config.budget_bytes - source_windows_resting_bytes(state->windows)));
    return rc == ERROR_NO_MEMORY ? ERROR_NONE : rc;
}

/* The rows that layer `layer` gives, from 1; 0: the features, or with a learnable embedding what input_rows.h made. */
static enum error_code open_rows(const struct stage_context *context,
                                 const struct infer_state *state, int layer, uint64_t budget_bytes,
                                 struct feature_source **out, struct error *err)
{
    const bool is_made = layer >= schedule_first_layer(context->schedule);
    const struct feature_source_config config = {
        .store = context->store,
        .origin = is_made ? FEATURES_OF_INFER_LAYER : FEATURES_OF_PARTITION,
        .id = is_made ? context->run_id : context->book->id,
        .layer = layer,
        .weights = &state->identity,
        .part_count = context->book->part_count,
        .book = context->book->book,
        .tensor = is_made ? layer_tensor : "features",
        .budget_bytes = budget_bytes,
        .sharers = context->sharers,
        .pool = context->pool,
    };
    return feature_source_open(&config, out, err);
}

static enum error_code open_input(const struct stage_context *context, struct infer_state *state,
                                  int layer, struct error *err)
{
    if (state->input_layer == layer)
        return ERROR_NONE;
    close_input(state);
    const int second = state->model.layer[layer - 1].second_input;
    const bool reads_all = state->model.layer[layer - 1].reads_all;
    const uint64_t shares = reads_all && layer > 1 ? (uint64_t)layer - 1 : second < 0 ? 1 : 2;
    const uint64_t budget_bytes = context->memory_bytes / (2 * shares);
    enum error_code rc = open_rows(context, state, layer - 1, budget_bytes, &state->input, err);
    for (int l = 0; rc == ERROR_NONE && reads_all && l < layer - 2; l++)
        rc = open_rows(context, state, l + 1, budget_bytes, &state->lower[l], err);
    if (rc == ERROR_NONE && second >= 0)
        rc = open_rows(context, state, second + 1, budget_bytes, &state->second, err);
    state->mostly_zero = false;
    if (rc == ERROR_NONE && layer == 1 && context->schedule->embedding_shards == 0)
        rc = sparse_features_detect(state->input, context->book->node_count, &state->mostly_zero,
                                    err);
    if (rc == ERROR_NONE)
        rc = open_windows(context, state, layer, err);
    if (rc != ERROR_NONE)
        return rc;
    state->input_layer = layer;
    tell_memory(context, state);
    return ERROR_NONE;
}

/* A layer of a part. */
static enum error_code infer_part(const struct stage_context *context, struct infer_state *state,
                                  int layer, int part, struct error *err)
{
    const bool is_temporal = temporal_inference_is_wanted(context);
    enum error_code rc = open_input(context, state, is_temporal ? 1 : layer, err);
    stage_times_enter(context->times, TIME_COMPUTE);
    struct part_inference inference = {.context = context,
                                       .topology = &state->topology,
                                       .model = &state->model,
                                       .edge_use = state->edge_use,
                                       .weights = state->weights,
                                       .identity = &state->identity,
                                       .sampler = state->sampler,
                                       .input = state->input,
                                       .second = state->second,
                                       .windows = state->windows,
                                       .has_self_loops = context->book->self_loop_count > 0,
                                       .mostly_zero = state->mostly_zero,
                                       .is_temporal = is_temporal,
                                       .arena = &state->arena};
    memcpy(inference.lower, state->lower, sizeof inference.lower);
    if (rc == ERROR_NONE)
        rc = part_inference_run(&inference, layer, part, err);
    if (rc != ERROR_NONE)
        close_input(state); /* what was open may be what was damaged, and is made again meanwhile */
    return rc;
}

static enum error_code write_outputs(const struct stage_context *context, struct infer_state *state,
                                     const struct wanted_nodes *wanted,
                                     const struct selected_rows *selected, struct error *err)
{
    const struct output_request request = {.context = context,
                                           .model = &state->model,
                                           .weights = state->weights,
                                           .identity = &state->identity,
                                           .wanted = wanted,
                                           .selected = selected};
    stage_times_enter(context->times, TIME_WRITE);
    close_layers(state);
    return output_writer_run(&request, err);
}

/* The wanted nodes as the partition calls them. */
static enum error_code find_wanted(const struct stage_context *context,
                                   const struct wanted_nodes *wanted, uint32_t **node,
                                   struct error *err)
{
    const struct partition_book *book = context->book;
    struct node_permutation permutation = {0};
    enum error_code rc =
        merged_permutation_get(context->store, book->id, book->node_count, &permutation, err);
    if (rc == ERROR_NONE)
        rc = memory_new(node, wanted->count, "the wanted nodes", err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < wanted->count; i++)
        (*node)[i] = permutation.to_partition[wanted->node[i]];
    store_release_record(&permutation.view);
    return rc;
}

/* All layers of node [count], of the partition. */
static enum error_code select_rows(const struct stage_context *context, struct infer_state *state,
                                   const uint32_t *node, uint32_t count, struct selected_rows *rows,
                                   struct error *err)
{
    const struct selection_config selection = {.context = context,
                                               .topology = &state->topology,
                                               .model = &state->model,
                                               .budget_bytes = context->memory_bytes / 2,
                                               .node = node,
                                               .count = count};
    const struct selected_inference_config config = {.selection = selection,
                                                     .edge_use = &state->edge_use,
                                                     .weights = state->weights,
                                                     .sampler = state->sampler,
                                                     .arena = &state->arena};
    return state->tiles ? typed_selection_run(&selection, state->tiles, state->weights, rows, err)
                        : selected_inference_run(&config, rows, err);
}

/* The outputs of some nodes, with all that they are computed from. */
static enum error_code infer_some(const struct stage_context *context, struct infer_state *state,
                                  struct error *err)
{
    struct wanted_nodes wanted = {0};
    struct selected_rows rows = {0};
    uint32_t *node = NULL;
    enum error_code rc =
        wanted_nodes_get(context->store, context->run_id, context->book->node_count, &wanted, err);
    if (rc == ERROR_NONE)
        rc = find_wanted(context, &wanted, &node, err);
    if (rc == ERROR_NONE)
        rc = open_topology(context, state, err);
    stage_times_enter(context->times, TIME_COMPUTE);
    if (rc == ERROR_NONE)
        rc = select_rows(context, state, node, wanted.count, &rows, err);
    if (rc == ERROR_NONE)
        rc = write_outputs(context, state, &wanted, &rows, err);
    selected_rows_release(&rows);
    memory_free(node);
    store_release_record(&wanted.view);
    return rc;
}

static enum error_code infer_work(const struct stage_context *context, void *opaque,
                                  const struct unit *unit, struct error *err)
{
    struct infer_state *state = opaque;
    stage_times_enter(context->times, TIME_READ);
    enum error_code rc = read_weights(context, state, unit->round, err);
    if (rc != ERROR_NONE)
        return rc;
    if (unit->kind == UNIT_OUTPUTS && context->schedule->infers_some)
        return infer_some(context, state, err);
    if (unit->kind == UNIT_OUTPUTS)
        return write_outputs(context, state, NULL, NULL, err);
    if (unit->layer == 0)
        return input_rows_run(context, &state->identity, unit->slot, err);
    state->last_part = (int)unit->slot;
    rc = open_topology(context, state, err);
    if (rc == ERROR_NONE)
        rc = open_parts(context, state, unit->slot, err);
    if (rc != ERROR_NONE)
        close_input(state);
    else if (state->typed)
        rc = typed_inference_run(state->typed, state->weights, &state->identity, unit->layer,
                                 unit->slot, err);
    else
        rc = infer_part(context, state, unit->layer, unit->slot, err);
    return rc;
}

/* The layer of parts whose topology is here rather than one of a part that has to be fetched and hashed first; those behind the
 * part of the last unit come first, for a layer is done in that order. */
static int infer_prefers(const struct stage_context *context, const void *opaque,
                         const struct unit *unit, char wanted[STAGE_PREFERS_MAX][UNIT_NAME_SIZE])
{
    const struct infer_state *state = opaque;
    const int parts = context->book->part_count;
    const bool is_here = state->topology.source != NULL;
    int count = 0;
    if (unit->kind != UNIT_INFER || unit->layer == 0 || !is_here || unit->slot >= parts ||
        topology_part_is_open(&state->topology, (int)unit->slot))
        return 0;
    struct unit other = *unit;
    for (int i = 1; i <= parts && count < STAGE_PREFERS_MAX; i++) {
        other.slot = (state->last_part + i) % parts;
        if (topology_part_is_open(&state->topology, (int)other.slot))
            unit_name(&other, wanted[count++]);
    }
    return count;
}

const struct stage stage = {
    .name = "infer",
    .summary = "compute every node's embedding and prediction, layer by layer",
    .reads = "dataset_schema, feature_statistics, node_columns, partition_book, topology_seal, "
             "partition_delta, node_placement, shard_seal, snapshot, "
             "embedding_rows, node_labels, node_splits, graph_index, node_permutation, node_ids, "
             "wanted_nodes",
    .writes = "shard_seal, outputs_seal",
    .form = STAGE_LOOP,
    .multiplies = true,
    .open = infer_open,
    .work = infer_work,
    .prefers = infer_prefers,
    .close = infer_close,
};
