#include "stages/infer/rows/type_inputs.h"

#include "common/base/memory.h"
#include "stages/infer/rows/layer_reads.h"
#include "stages/plan/model/sparse_features.h"
#include "stages/plan/settings/type_shares.h"
#include "store/features/feature_shares.h"
#include "store/features/feature_source.h"

#include <string.h>

struct type_input { /* {0}: there are no rows, or nobody needs them */
    struct feature_source *source;
    uint32_t dim;
    uint64_t bytes;   /* of all rows */
    bool mostly_zero; /* (sparse_features.h); set if the layer makes use of it */
};

struct type_inputs {
    struct type_inputs_config config;
    struct type_ranges ranges;
    uint32_t *book; /* [types, part_count + 1]: the book of each type */
    struct type_input type[RELATION_TYPE_COUNT_MAX];
};

const uint32_t *type_inputs_book(const struct type_inputs *inputs, uint32_t type)
{
    return inputs->book + type * ((size_t)inputs->ranges.part_count + 1);
}

struct feature_source *type_inputs_source(const struct type_inputs *inputs, uint32_t type)
{
    return inputs->type[type].source;
}

static bool is_there(const struct type_input *input)
{
    return input->bytes > 0;
}

/* --- open --- */

static enum error_code find_books(struct type_inputs *inputs, struct error *err)
{
    const size_t bounds = (size_t)inputs->ranges.part_count + 1;
    const enum error_code rc = memory_new(&inputs->book, inputs->ranges.type_count * bounds,
                                          "the ranges of node types", err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < inputs->ranges.type_count; t++)
        type_ranges_book(&inputs->ranges, t, inputs->book + t * bounds);
    return rc;
}

static void find_types(struct type_inputs *inputs)
{
    const struct model *model = inputs->config.model;
    const int layer = inputs->config.layer - 1;
    bool needed[RELATION_TYPE_COUNT_MAX];
    model_needs(model, layer - 1, needed);
    for (uint32_t t = 0; t < inputs->ranges.type_count; t++) {
        struct type_input *own = &inputs->type[t];
        own->dim = layer_reads_columns(model, layer, t);
        if (needed[t])
            own->bytes = (uint64_t)type_inputs_book(inputs, t)[inputs->ranges.part_count] *
                         own->dim * sizeof(float);
    }
}

/* Returns whether the rows are an output of infer. Learnable rows, with or without features, are
 * the output of layer 0. */
static bool is_made(const struct type_inputs *inputs, uint32_t type)
{
    const struct stage_context *context = inputs->config.context;
    return inputs->config.layer > 1 || embedding_tensor_of(&context->schedule->embeddings, type);
}

static enum error_code open_type(struct type_inputs *inputs, uint32_t type, uint64_t budget_bytes,
                                 struct error *err)
{
    const struct stage_context *context = inputs->config.context;
    const bool made = is_made(inputs, type);
    struct type_input *own = &inputs->type[type];
    char name[TENSOR_NAME_SIZE];
    layer_tensor_of_type(type, name);
    const struct feature_source_config config = {
        .store = context->store,
        .origin = made ? FEATURES_OF_INFER_LAYER : FEATURES_OF_PARTITION,
        .id = made ? context->run_id : context->book->id,
        .layer = inputs->config.layer - 1,
        .weights = inputs->config.identity,
        .node_type = type,
        .part_count = inputs->ranges.part_count,
        .book = type_inputs_book(inputs, type),
        .tensor = made ? name : "features",
        .budget_bytes = budget_bytes,
        .sharers = context->sharers,
        .pool = context->pool,
    };
    const enum error_code rc = feature_source_open(&config, &own->source, err);
    if (rc == ERROR_NONE && feature_source_dim(own->source) != own->dim)
        return error_set(err, ERROR_CORRUPT, "rows of type %s: expected %u columns, found %u",
                         partition_book_type_name(context->book, type), own->dim,
                         feature_source_dim(own->source));
    return rc == ERROR_NONE && !made &&
                   layer_reads_zeros(inputs->config.model, inputs->config.layer - 1)
               ? sparse_features_detect(own->source, config.book[config.part_count],
                                        &own->mostly_zero, err)
               : rc;
}

/* Returns the bytes of the budget that a type's rows take if all are in memory. */
static uint64_t portion(const struct type_inputs *inputs, const struct type_input *input)
{
    return feature_source_portion(input->bytes, inputs->config.context->sharers);
}

static enum error_code open_types(struct type_inputs *inputs, struct error *err)
{
    const uint32_t count = inputs->ranges.type_count;
    uint64_t bytes[RELATION_TYPE_COUNT_MAX] = {0}, share[RELATION_TYPE_COUNT_MAX];
    enum error_code rc = ERROR_NONE;
    for (uint32_t t = 0; t < count; t++)
        bytes[t] = portion(inputs, &inputs->type[t]);
    type_shares(bytes, count, inputs->config.budget_bytes, share);
    /* The limit of a type that is not in memory is set when its rows are fetched. */
    for (uint32_t t = 0; rc == ERROR_NONE && t < count; t++)
        if (is_there(&inputs->type[t]))
            rc = open_type(inputs, t, share[t], err);
    return rc;
}

enum error_code type_inputs_open(const struct type_inputs_config *config, struct type_inputs **out,
                                 struct error *err)
{
    struct type_inputs *inputs = NULL;
    enum error_code rc = memory_new(&inputs, 1, "the inputs of a layer", err);
    if (rc != ERROR_NONE)
        return rc;
    inputs->config = *config;
    inputs->ranges = partition_book_ranges(config->context->book);
    rc = find_books(inputs, err);
    if (rc == ERROR_NONE)
        find_types(inputs);
    if (rc == ERROR_NONE)
        rc = open_types(inputs, err);
    if (rc == ERROR_NONE)
        *out = inputs;
    else
        type_inputs_close(inputs);
    return rc;
}

void type_inputs_close(struct type_inputs *inputs)
{
    if (!inputs)
        return;
    for (uint32_t t = 0; t < inputs->ranges.type_count; t++)
        feature_source_close(inputs->type[t].source);
    memory_free(inputs->book);
    memory_free(inputs);
}

uint64_t type_inputs_bytes(const struct type_inputs *inputs)
{
    uint64_t bytes = 0;
    for (uint32_t t = 0; t < inputs->ranges.type_count; t++)
        bytes += inputs->type[t].source ? feature_source_bytes(inputs->type[t].source) : 0;
    return bytes;
}

bool type_inputs_are_resident(const struct type_inputs *inputs)
{
    bool all = true;
    for (uint32_t t = 0; t < inputs->ranges.type_count; t++)
        all &= !inputs->type[t].source || feature_source_is_resident(inputs->type[t].source);
    return all;
}

bool type_inputs_skip_zeros(const struct type_inputs *inputs)
{
    bool some = false;
    for (uint32_t t = 0; t < inputs->ranges.type_count; t++)
        some |= inputs->type[t].mostly_zero;
    return some;
}

/* --- fetch --- */

/* Shares the budget that resident rows leave, if count[t] rows of each type are needed. */
static void share_out(struct type_inputs *inputs, const uint32_t *count)
{
    struct feature_source *source[RELATION_TYPE_COUNT_MAX];
    uint64_t held = 0;
    for (uint32_t t = 0; t < inputs->ranges.type_count; t++) {
        source[t] = inputs->type[t].source;
        if (source[t] && feature_source_is_resident(source[t]))
            held += feature_source_bytes(source[t]);
    }
    const uint64_t budget = inputs->config.budget_bytes;
    feature_shares_limit(source, count, inputs->ranges.type_count, true,
                         budget > held ? budget - held : 0);
}

void type_inputs_rest(struct type_inputs *inputs)
{
    for (uint32_t t = 0; t < inputs->ranges.type_count; t++)
        if (inputs->type[t].source)
            feature_source_rest(inputs->type[t].source);
}

void type_inputs_limit(struct type_inputs *inputs, uint64_t budget_bytes)
{
    static const uint32_t none[RELATION_TYPE_COUNT_MAX];
    inputs->config.budget_bytes = budget_bytes;
    share_out(inputs, none);
}

static enum error_code name_type(const struct type_inputs *inputs, uint32_t type,
                                 enum error_code rc, struct error *err)
{
    return rc == ERROR_NONE
               ? rc
               : error_context(err, rc, "rows of type %s",
                               partition_book_type_name(inputs->config.context->book, type));
}

/* Fetches the rows of the nodes with these numbers in the type. */
static enum error_code fetch_type(struct type_inputs *inputs, uint32_t type, const uint32_t *number,
                                  uint32_t count, struct input_rows *rows, struct error *err)
{
    struct feature_rows found = {0};
    const struct type_input *own = &inputs->type[type];
    must(own->source);
    const enum error_code rc = feature_source_fetch(own->source, number, count, &found, err);
    *rows = (struct input_rows){.base = found.base,
                                .stride = found.stride,
                                .row_index = found.row_index,
                                .mostly_zero = own->mostly_zero};
    stage_times_add_rows(inputs->config.context->times, count,
                         count * (uint64_t)found.dim * sizeof(float));
    return name_type(inputs, type, rc, err);
}

/* Finds the numbers of a type's nodes in a tile. With one type, numbers are ids. */
static enum error_code number_nodes(const struct type_inputs *inputs,
                                    const struct inference_tile *tile, uint32_t type,
                                    uint32_t count, const uint32_t **out, struct error *err)
{
    const struct inference_span *span = &tile->span;
    const uint32_t *book = type_inputs_book(inputs, type);
    uint32_t *number = NULL;
    *out = tile->batch.node;
    if (tile->is_drawn && inputs->ranges.type_count == 1)
        return ERROR_NONE;
    const enum error_code rc = arena_new(tile->arena, &number, count, "numbers of nodes", err);
    *out = number;
    if (rc != ERROR_NONE)
        return rc;
    if (tile->is_drawn)
        return mini_batch_numbers(&tile->batch, type, &inputs->ranges, book, number, err);
    for (uint32_t i = 0; i < count; i++)
        number[i] = book[span->part] + span->first + i;
    return ERROR_NONE;
}

enum error_code type_inputs_fetch(struct type_inputs *inputs, struct inference_tile *tile,
                                  struct error *err)
{
    const uint32_t *count = tile->is_drawn ? tile->sources : tile->destinations;
    enum error_code rc = ERROR_NONE;
    share_out(inputs, count);
    for (uint32_t t = 0; rc == ERROR_NONE && t < inputs->ranges.type_count; t++) {
        const uint32_t *number = NULL;
        tile->rows[t] = (struct input_rows){.stride = inputs->type[t].dim};
        if (count[t] == 0)
            continue;
        rc = number_nodes(inputs, tile, t, count[t], &number, err);
        if (rc == ERROR_NONE)
            rc = fetch_type(inputs, t, number, count[t], &tile->rows[t], err);
    }
    return rc;
}

enum error_code type_inputs_copy_own(struct type_inputs *inputs, const struct inference_tile *tile,
                                     float **out, struct error *err)
{
    const struct inference_span *span = &tile->span;
    const struct type_input *own = &inputs->type[span->type];
    const uint32_t first = type_inputs_book(inputs, span->type)[span->part] + span->first;
    enum error_code rc =
        arena_new(tile->arena, out, span->count * (size_t)own->dim, "rows of a tile", err);
    must(own->source);
    if (rc == ERROR_NONE)
        rc =
            name_type(inputs, span->type,
                      feature_source_read(own->source, first, first + span->count, *out, err), err);
    stage_times_add_rows(inputs->config.context->times, span->count,
                         span->count * (uint64_t)own->dim * sizeof(float));
    return rc;
}
