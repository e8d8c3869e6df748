/*
 * infer - computes embeddings and predictions of every node, layer by layer, with all neighbours
 * and without sampling.
 *
 *   weights w, from the snapshot that ends the run ─┐
 *   topology, features ─────────────────────────────┴─> [ infer/w/1/p ] ─> layer 1 of part p ─┐
 *   (a learnable embedding has [ infer/w/0/p ] first:                               all parts │
 *    features and learnable rows of part p joined)      [ infer/w/2/p ] <─────────────────────┘
 *                                                            ...
 *   the last layers of all parts ─────────────────────> [ outputs/w ] ─> model, embeddings,
 *                                                                        predictions, metrics
 *
 * The unit names w, and no other weights are used for it: neither those of a snapshot during
 * training, nor those that an earlier unit left in memory. Every seal says which weights were
 * used, and a layer reads no layer that was computed with others.
 *
 * --memory is divided among what is held at one time: a layer, or the outputs. The memory of the
 * layers is freed before the outputs are written.
 *
 *   a layer   1/2 rows of the layer below, 1/4 neighbours of a tile, 1/4 values of a tile; if those
 *             rows do not fit and are summed in windows (source_windows.h), the windows also get
 *             what the neighbours of a tile do not use
 *   outputs   5/8 rows in the order of the input (output_writer.c); the rest for lines and ids
 *
 * A run that wants only some nodes has one unit, outputs/w: selection.h. A run that samples by
 * times computes each node at its own time (temporal_inference.h), in the same units, from the
 * features.
 *
 * Computing a layer at a time uses each edge once per layer. Sampling all neighbours of a batch
 * would compute the same node again for every batch that it is near to.
 */
#include "common/base/memory.h"
#include "common/nn/model.h"
#include "stages/infer/outputs/output_writer.h"
#include "stages/infer/rows/input_rows.h"
#include "stages/infer/rows/selected_inference.h"
#include "stages/infer/windows/part_inference.h"
#include "stages/plan/chain/chain.h"
#include "stages/plan/model/run_model.h"
#include "stages/plan/run/node_appearance.h"
#include "store/records/dataset/wanted_nodes.h"
#include "store/records/partition/node_permutation.h"
#include "store/records/round/snapshot.h"
#include "store/versions/merged_parts.h"

#include <inttypes.h>
#include <string.h>

struct infer_state {
    struct model model;
    struct edge_use edge_use;
    struct topology topology;
    int64_t *node_time;               /* of the graph's nodes; NULL: they are always visible */
    struct inference_tiles *tiles;    /* NULL until the first unit */
    struct part_inference *inference; /* uses `tiles`; NULL until the first unit */
    int last_part;                    /* part of the last layer that was computed */
    float *weights;                   /* [model.value_count]; NULL until the first unit */
    struct weights_identity identity;
};

/* Frees everything that layers are computed with, except the weights. */
static void close_layers(struct infer_state *state)
{
    part_inference_free(state->inference);
    state->inference = NULL;
    inference_tiles_free(state->tiles);
    state->tiles = NULL;
    topology_close(&state->topology);
    memory_free(state->node_time);
    state->node_time = NULL;
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

static enum error_code new_tiles(const struct stage_context *context, struct infer_state *state,
                                 struct error *err)
{
    const uint64_t quarter = context->memory_bytes / 4;
    const struct inference_tiles_config tiles = {.context = context,
                                                 .topology = &state->topology,
                                                 .model = &state->model,
                                                 .edge_use = state->edge_use,
                                                 .neighbor_bytes = quarter,
                                                 .value_bytes = quarter};
    struct part_inference_config parts = {
        .context = context, .rows_bytes = context->memory_bytes / 2, .window_bytes = 3 * quarter};
    const enum error_code rc = inference_tiles_new(&tiles, &state->tiles, err);
    parts.tiles = state->tiles;
    return rc == ERROR_NONE ? part_inference_new(&parts, &state->inference, err) : rc;
}

/* Opens topology and tiles for the first unit. No unit comes before the end of training, so they
 * are not opened earlier. The units that read parts open them. */
static enum error_code open_topology(const struct stage_context *context, struct infer_state *state,
                                     struct error *err)
{
    if (state->inference)
        return ERROR_NONE;
    enum error_code rc = topology_open(context->store, context->book, &state->topology, err);
    if (rc == ERROR_NONE)
        rc = node_appearance_open(context->settings, context->store, context->book,
                                  &state->topology, &state->node_time, err);
    if (rc == ERROR_NONE)
        rc = new_tiles(context, state, err);
    if (rc != ERROR_NONE)
        close_layers(state);
    return rc;
}

static enum error_code open_parts(const struct stage_context *context,
                                  const struct infer_state *state, int part, struct error *err)
{
    return inference_tiles_ask_sources(state->tiles)
               ? topology_open_parts(&state->topology, context->pool, err)
               : topology_open_part(&state->topology, part, err);
}

/* Keeps the weights of this snapshot that inference uses. */
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

/* Reads weights `version`. The snapshot that ends the run decides whether inference uses that
 * version. */
static enum error_code read_weights(const struct stage_context *context, struct infer_state *state,
                                    int64_t version, struct error *err)
{
    struct snapshot snapshot = {0};
    if (state->weights && state->identity.version == version)
        return ERROR_NONE;
    part_inference_close_inputs(state->inference);
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

/* Finds the partition ids of the wanted nodes. */
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

/* Computes and writes the outputs of some nodes. */
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
        rc = selected_inference_run(
            &(struct selection_config){.tiles = state->tiles,
                                       .weights = state->weights,
                                       .budget_bytes = context->memory_bytes / 2,
                                       .node = node,
                                       .count = wanted.count},
            &rows, err);
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
    if (rc == ERROR_NONE)
        return part_inference_run(state->inference, state->weights, &state->identity, unit->layer,
                                  unit->slot, err);
    part_inference_close_inputs(state->inference);
    return rc;
}

/* Prefers parts whose topology is already open, because another part would have to be fetched
 * and hashed first. Parts after the last one come first, since the queue hands a layer out in
 * that order. */
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
             "wanted_nodes, node_times",
    .writes = "shard_seal, outputs_seal",
    .form = STAGE_LOOP,
    .multiplies = true,
    .open = infer_open,
    .work = infer_work,
    .prefers = infer_prefers,
    .close = infer_close,
};
