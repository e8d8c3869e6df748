#include "stages/train-step/typed_features.h"

#include "common/base/memory.h"
#include "stages/plan/run_model.h"
#include "stages/plan/type_shares.h"
#include "store/features/feature_shares.h"

#include <inttypes.h>

static uint32_t dim_of(const struct stage_context *context, uint32_t type)
{
    return run_model_type_dim(context->settings, context->book, type);
}

static uint32_t node_count_of(const struct typed_features *features, uint32_t type)
{
    return features->book[type][features->ranges.part_count];
}

/* What the rows of a type take of a budget when they are in memory. */
static uint64_t portion_of(const struct stage_context *context,
                           const struct typed_features *features, uint32_t type)
{
    return feature_source_portion((uint64_t)node_count_of(features, type) * dim_of(context, type) *
                                      sizeof(float),
                                  context->sharers);
}

static enum error_code open_type(const struct stage_context *context, uint32_t type,
                                 uint64_t budget, struct typed_features *out, struct error *err)
{
    const struct partition_book *book = context->book;
    const struct feature_source_config config = {.store = context->store,
                                                 .origin = FEATURES_OF_PARTITION,
                                                 .id = book->id,
                                                 .node_type = type,
                                                 .part_count = book->part_count,
                                                 .book = out->book[type],
                                                 .tensor = "features",
                                                 .precision = PRECISION_FP32,
                                                 .budget_bytes = budget,
                                                 .sharers = context->sharers,
                                                 .pool = context->pool};
    const enum error_code rc = feature_source_open(&config, &out->source[type], err);
    if (rc != ERROR_NONE)
        return error_context(err, rc, "features of type %s", book->type_name[type]);
    const uint32_t found = feature_source_dim(out->source[type]);
    if (found != dim_of(context, type))
        return error_set(err, ERROR_CORRUPT,
                         "features of type %s in partition %s: expected rows of %" PRIu32
                         " values, found %" PRIu32,
                         book->type_name[type], book->id, dim_of(context, type), found);
    return ERROR_NONE;
}

static enum error_code open_types(const struct stage_context *context, uint64_t budget_bytes,
                                  struct typed_features *out, struct error *err)
{
    uint64_t portion[RELATION_TYPE_COUNT_MAX] = {0}, share[RELATION_TYPE_COUNT_MAX];
    enum error_code rc = ERROR_NONE;
    for (uint32_t t = 0; t < out->type_count; t++)
        portion[t] = portion_of(context, out, t);
    type_shares(portion, out->type_count, budget_bytes, share);
    for (uint32_t t = 0; rc == ERROR_NONE && t < out->type_count; t++)
        if (dim_of(context, t))
            rc = open_type(context, t, share[t], out, err);
    return rc;
}

enum error_code typed_features_open(const struct stage_context *context, uint64_t budget_bytes,
                                    struct typed_features *out, struct error *err)
{
    const size_t bounds = (size_t)context->book->part_count + 1;
    enum error_code rc = ERROR_NONE;
    *out = (struct typed_features){.type_count = context->book->type_count,
                                   .ranges = partition_book_ranges(context->book)};
    for (uint32_t t = 0; rc == ERROR_NONE && t < out->type_count; t++) {
        rc = memory_new(&out->book[t], bounds, "the book of a node type", err);
        if (rc == ERROR_NONE)
            type_ranges_book(&out->ranges, t, out->book[t]);
    }
    if (rc == ERROR_NONE)
        rc = open_types(context, budget_bytes, out, err);
    if (rc != ERROR_NONE)
        typed_features_close(out);
    return rc;
}

void typed_features_close(struct typed_features *features)
{
    for (uint32_t t = 0; t < features->type_count; t++) {
        feature_source_close(features->source[t]);
        memory_free(features->book[t]);
    }
    *features = (struct typed_features){0};
}

static bool is_brought(const struct typed_features *features, uint32_t type)
{
    return features->source[type] && !feature_source_is_resident(features->source[type]);
}

bool typed_features_are_resident(const struct typed_features *features)
{
    bool all = true;
    for (uint32_t t = 0; t < features->type_count; t++)
        all &= !is_brought(features, t);
    return all;
}

static uint64_t sum_bytes(const struct typed_features *features, bool of_brought)
{
    uint64_t bytes = 0;
    for (uint32_t t = 0; t < features->type_count; t++)
        if (features->source[t] && (of_brought || !is_brought(features, t)))
            bytes += feature_source_bytes(features->source[t]);
    return bytes;
}

uint64_t typed_features_resident_bytes(const struct typed_features *features)
{
    return sum_bytes(features, false);
}

uint64_t typed_features_bytes(const struct typed_features *features)
{
    return sum_bytes(features, true);
}

void typed_features_limit(struct typed_features *features, const uint32_t *row_count,
                          uint64_t budget_bytes)
{
    feature_shares_limit(features->source, row_count, features->type_count, false, budget_bytes);
}

size_t typed_features_row_bytes(const struct typed_features *features, uint32_t type)
{
    return features->source[type] ? feature_source_row_bytes(features->source[type]) : 0;
}
