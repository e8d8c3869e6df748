#include "stages/infer/typed_inference.h"

#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/stop_signal.h"
#include "common/base/text.h"
#include "common/nn/layers/layer.h"
#include "common/nn/typed/typed_model.h"
#include "stages/infer/layer_shard.h"
#include "stages/infer/type_inputs.h"
#include "stages/sampling/neighbor_sampler.h"
#include "stages/sampling/relation_sampler.h"
#include "store/features/feature_source.h"

/* A tile ends at a number of nodes, or of edges in all relations: by the data alone, since the bits of a product may
 * depend on how its rows are cut. Attention holds several rows for each source. */
enum { TILE_NODES = 1024, TILE_EDGES = 1 << 16 };

struct typed_inference {
    struct typed_inference_config config;
    struct relation_sampler *sampler;
    struct type_inputs *inputs; /* NULL: none are open */
    int input_layer;            /* the layer that reads them */
    struct arena arena;         /* reset for each tile */
    int64_t *all_neighbors;     /* [relations]: fan-outs */
    /* Of the unit at hand: */
    const float *weights;
    int layer, part; /* from 1; from 0 */
};

enum error_code typed_inference_new(const struct typed_inference_config *config,
                                    struct typed_inference **out, struct error *err)
{
    const struct stage_context *context = config->context;
    const uint32_t relations = partition_book_relations(context->book);
    const struct relation_sampler_config sampler = {.topology = config->topology,
                                                    .book = context->book,
                                                    .budget_bytes = config->neighbor_bytes};
    struct typed_inference *inference = NULL;
    enum error_code rc = memory_new(&inference, 1, "inference over relations", err);
    if (rc != ERROR_NONE)
        return rc;
    inference->config = *config;
    inference->arena.limit = config->value_bytes;
    rc = memory_new(&inference->all_neighbors, relations, "fan-outs of relations", err);
    for (uint32_t r = 0; rc == ERROR_NONE && r < relations; r++)
        inference->all_neighbors[r] = FANOUT_ALL;
    if (rc == ERROR_NONE)
        rc = relation_sampler_new(&sampler, &inference->sampler, err);
    if (rc == ERROR_NONE)
        *out = inference;
    else
        typed_inference_free(inference);
    return rc;
}

void typed_inference_close_inputs(struct typed_inference *inference)
{
    if (!inference)
        return;
    type_inputs_close(inference->inputs);
    inference->inputs = NULL;
    inference->input_layer = 0;
}

void typed_inference_free(struct typed_inference *inference)
{
    if (!inference)
        return;
    typed_inference_close_inputs(inference);
    relation_sampler_free(inference->sampler);
    memory_free(inference->all_neighbors);
    arena_release(&inference->arena);
    memory_free(inference);
}

static void tell_memory(const struct typed_inference *inference)
{
    const struct typed_inference_config *config = &inference->config;
    char all[32], rows[32], tile[32];
    log_info("memory: %s, of it up to %s for neighbours and values of a tile, %s for the rows that "
             "layer %d reads, which %s",
             text_size(config->context->memory_bytes, all),
             text_size(config->neighbor_bytes + config->value_bytes, tile),
             text_size(type_inputs_bytes(inference->inputs), rows), inference->input_layer,
             type_inputs_are_resident(inference->inputs) ? "all fit"
                                                         : "are read as tiles want them");
}

static enum error_code open_inputs(struct typed_inference *inference,
                                   const struct weights_identity *identity, int layer,
                                   struct error *err)
{
    const struct stage_context *context = inference->config.context;
    const struct type_inputs_config config = {.context = context,
                                              .model = inference->config.model,
                                              .identity = identity,
                                              .layer = layer,
                                              .budget_bytes = inference->config.rows_bytes};
    if (inference->input_layer == layer)
        return ERROR_NONE;
    typed_inference_close_inputs(inference);
    const enum error_code rc = type_inputs_open(&config, &inference->inputs, err);
    if (rc != ERROR_NONE)
        return rc;
    inference->input_layer = layer;
    tell_memory(inference);
    return ERROR_NONE;
}

/* --- tiles --- */

static uint64_t edges_of(const struct typed_inference *inference, uint32_t type, uint32_t row)
{
    const struct partition_book *book = inference->config.context->book;
    uint64_t edges = 0;
    for (uint32_t r = 0; r < partition_book_relations(book); r++) {
        const struct topology_part *rows =
            topology_rows(inference->config.topology, inference->part, r);
        if (partition_book_relation(book, r)->target_type == type)
            edges += topology_row_start(rows, row + 1) - topology_row_start(rows, row);
    }
    return edges;
}

/* Of the nodes of a type in the part, from row `first` to `end`, how many are the next tile. */
static uint32_t tile_size(const struct typed_inference *inference, uint32_t type, uint32_t first,
                          uint32_t end)
{
    uint64_t edges = edges_of(inference, type, first);
    uint32_t count = 1;
    while (count < TILE_NODES && count < end - first) {
        edges += edges_of(inference, type, first + count);
        if (edges > TILE_EDGES)
            break;
        count++;
    }
    return count;
}

static enum error_code draw_tile(struct typed_inference *inference, uint32_t first_node,
                                 uint32_t count, struct relation_batch *batch, struct error *err)
{
    uint32_t *node = NULL;
    const enum error_code rc = arena_new(&inference->arena, &node, count, "node ids", err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < count; i++)
        node[i] = first_node + i;
    const struct relation_request request = {.hop_count = 1,
                                             .fanout = inference->all_neighbors,
                                             .seed_node = node,
                                             .seed_count = count,
                                             .wants_degree = inference->config.model->needs_degree,
                                             .edge_columns = inference->config.edge_columns};
    return rc == ERROR_NONE ? relation_sampler_draw(inference->sampler, &request, batch, err) : rc;
}

/* What the layer computes on: the arrays of a block, and counts. */
struct tile {
    struct typed_layer_input input;
    struct input_rows rows[RELATION_TYPE_COUNT_MAX];
    struct relation_block block;
    uint32_t destinations[RELATION_TYPE_COUNT_MAX], sources[RELATION_TYPE_COUNT_MAX];
};

/* The tile of `span`, whose numbers are those in the type, with its neighbours. */
static enum error_code read_neighbors(struct typed_inference *inference,
                                      const struct type_span *span, struct tile *tile,
                                      struct error *err)
{
    const struct partition_book *book = inference->config.context->book;
    const struct type_ranges ranges = partition_book_ranges(book);
    const uint32_t first_node = type_ranges_first(&ranges, inference->part, span->type) +
                                span->first -
                                type_inputs_first(inference->inputs, span->type, inference->part);
    struct relation_batch batch = {0};
    struct relation_edges *edges = NULL;
    enum error_code rc = draw_tile(inference, first_node, span->count, &batch, err);
    if (rc == ERROR_NONE)
        rc = arena_new(&inference->arena, &edges, partition_book_relations(book),
                       "relations of a tile", err);
    if (rc != ERROR_NONE)
        return rc;
    relation_batch_block(&batch, 0, tile->destinations, tile->sources, edges, &tile->block);
    tile->input.block = &tile->block;
    stage_times_enter(inference->config.context->times, TIME_READ);
    return type_inputs_fetch(inference->inputs, &batch, &inference->arena, tile->rows, err);
}

static enum error_code infer_tile(struct typed_inference *inference, const struct type_span *span,
                                  float **output, struct error *err)
{
    const struct model *model = inference->config.model;
    const struct stage_context *context = inference->config.context;
    const struct model_layer *layer = &model->layer[inference->layer - 1];
    const struct model_workspace workspace = {.arena = &inference->arena, .pool = context->pool};
    struct tile tile = {.destinations = {0}};
    tile.input = (struct typed_layer_input){.count = tile.destinations, .rows = tile.rows};
    arena_reset(&inference->arena);
    enum error_code rc =
        arena_new(&inference->arena, output, (size_t)span->count * layer->output_dim,
                  "a layer's output", err);
    if (rc == ERROR_NONE && layer->type->uses_edges) {
        rc = read_neighbors(inference, span, &tile, err);
    } else if (rc == ERROR_NONE) {
        tile.destinations[span->type] = span->count;
        stage_times_enter(context->times, TIME_READ);
        rc = type_inputs_fetch_span(inference->inputs, span, &inference->arena, tile.rows, err);
    }
    stage_times_enter(context->times, TIME_COMPUTE);
    return rc == ERROR_NONE
               ? typed_model_infer_layer(model, inference->weights, inference->layer - 1,
                                         &tile.input, span->type, &workspace, *output, err)
               : rc;
}

/* --- a part --- */

static enum error_code write_type(struct typed_inference *inference, uint32_t type,
                                  struct feature_shard_writer *writer, struct error *err)
{
    const struct stage_context *context = inference->config.context;
    const uint32_t begin = type_inputs_first(inference->inputs, type, inference->part);
    const uint32_t end = type_inputs_first(inference->inputs, type, inference->part + 1);
    struct tensor_spec tensor = {
        .type = TENSOR_F32,
        .dim = model_layer_output_dim(inference->config.model, inference->layer - 1),
        .row_count = end - begin};
    layer_tensor_of_type(type, tensor.name);
    enum error_code rc = feature_shard_writer_begin(writer, &tensor, err);
    for (struct type_span span = {.type = type, .first = begin};
         rc == ERROR_NONE && span.first < end; span.first += span.count) {
        float *output = NULL;
        if (stop_signal_seen())
            return error_set(err, ERROR_UNAVAILABLE, "stopped inside a part");
        span.count = tile_size(inference, type, span.first - begin, end - begin);
        rc = infer_tile(inference, &span, &output, err);
        stage_times_enter(context->times, TIME_WRITE);
        if (rc == ERROR_NONE)
            rc = feature_shard_writer_add(writer, output, span.count, err);
        stage_times_enter(context->times, TIME_COMPUTE);
    }
    return rc;
}

static enum error_code write_types(void *opaque, struct feature_shard_writer *writer,
                                   struct error *err)
{
    struct typed_inference *inference = opaque;
    const struct partition_book *book = inference->config.context->book;
    bool needed[RELATION_TYPE_COUNT_MAX];
    enum error_code rc = ERROR_NONE;
    typed_model_needs(inference->config.model, inference->layer - 1, needed);
    for (uint32_t t = 0; rc == ERROR_NONE && t < partition_book_types(book); t++)
        if (needed[t]) {
            rc = write_type(inference, t, writer, err);
            if (rc != ERROR_NONE)
                rc = error_context(err, rc, "nodes of type %s", book->type_name[t]);
        }
    return rc;
}

enum error_code typed_inference_run(struct typed_inference *inference, const float *weights,
                                    const struct weights_identity *identity, int layer, int part,
                                    struct error *err)
{
    inference->weights = weights;
    inference->layer = layer;
    inference->part = part;
    enum error_code rc = open_inputs(inference, identity, layer, err);
    if (rc == ERROR_NONE)
        rc = layer_shard_write(inference->config.context, identity, layer, part, write_types,
                               inference, err);
    if (rc != ERROR_NONE) /* what was open may be what was damaged, and is made again meanwhile */
        typed_inference_close_inputs(inference);
    return rc;
}
