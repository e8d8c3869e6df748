#include "stages/train-step/rows/node_features.h"

#include "common/base/memory.h"
#include "stages/plan/model/run_model.h"
#include "stages/plan/model/sparse_features.h"
#include "stages/plan/settings/type_shares.h"
#include "store/features/feature_shares.h"

#include <inttypes.h>

static uint32_t dim_of(const struct stage_context *context, uint32_t type)
{
    return run_model_type_dim(context->settings, context->book, type);
}

static uint32_t node_count_of(const struct node_features *features, uint32_t type)
{
    return features->book[type][features->ranges.part_count];
}

/* Returns the bytes of the budget that the rows of a type take in memory. */
static uint64_t portion_of(const struct stage_context *context,
                           const struct node_features *features, uint32_t type)
{
    return feature_source_portion((uint64_t)node_count_of(features, type) *
                                      precision_stride(features->precision, dim_of(context, type)) *
                                      precision_bytes(features->precision),
                                  context->sharers);
}

static enum error_code open_type(const struct stage_context *context, uint32_t type,
                                 uint64_t budget, struct node_features *out, struct error *err)
{
    const struct partition_book *book = context->book;
    const struct feature_source_config config = {.store = context->store,
                                                 .origin = FEATURES_OF_PARTITION,
                                                 .id = book->id,
                                                 .node_type = type,
                                                 .part_count = book->part_count,
                                                 .book = out->book[type],
                                                 .tensor = "features",
                                                 .precision = out->precision,
                                                 .budget_bytes = budget,
                                                 .sharers = context->sharers,
                                                 .pool = context->pool};
    const char *name = book->type_name ? book->type_name[type] : "node";
    const enum error_code rc = feature_source_open(&config, &out->source[type], err);
    if (rc != ERROR_NONE)
        return error_context(err, rc, "features of type %s", name);
    const uint32_t found = feature_source_dim(out->source[type]);
    if (found != dim_of(context, type))
        return error_set(err, ERROR_CORRUPT,
                         "features of type %s in partition %s: expected rows of %" PRIu32
                         " values, found %" PRIu32,
                         name, book->id, dim_of(context, type), found);
    return ERROR_NONE;
}

static enum error_code open_types(const struct stage_context *context, uint64_t budget_bytes,
                                  struct node_features *out, struct error *err)
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

enum error_code node_features_open(const struct stage_context *context, enum precision precision,
                                   uint64_t budget_bytes, struct node_features *out,
                                   struct error *err)
{
    const size_t bounds = (size_t)context->book->part_count + 1;
    enum error_code rc = ERROR_NONE;
    *out = (struct node_features){.type_count = partition_book_types(context->book),
                                  .precision = precision,
                                  .ranges = partition_book_ranges(context->book)};
    for (uint32_t t = 0; rc == ERROR_NONE && t < out->type_count; t++) {
        rc = memory_new(&out->book[t], bounds, "the book of a node type", err);
        if (rc == ERROR_NONE)
            type_ranges_book(&out->ranges, t, out->book[t]);
    }
    if (rc == ERROR_NONE)
        rc = open_types(context, budget_bytes, out, err);
    if (rc != ERROR_NONE)
        node_features_close(out);
    return rc;
}

void node_features_close(struct node_features *features)
{
    for (uint32_t t = 0; t < features->type_count; t++) {
        feature_source_close(features->source[t]);
        memory_free(features->book[t]);
    }
    arena_release(&features->memory);
    *features = (struct node_features){0};
}

enum error_code node_features_fetch(const struct node_features *features, uint32_t type,
                                    const uint32_t *number, uint32_t count, struct input_rows *out,
                                    struct error *err)
{
    struct feature_rows rows = {0};
    *out = (struct input_rows){.precision = features->precision};
    if (!features->source[type])
        return ERROR_NONE;
    const enum error_code rc =
        feature_source_fetch(features->source[type], number, count, &rows, err);
    out->base = rows.base;
    out->stride = rows.stride;
    out->row_index = rows.row_index;
    out->mostly_zero = features->mostly_zero[type];
    if (features->compressed[type].row_count)
        out->compressed = &features->compressed[type];
    return rc;
}

/* Compresses the resident rows of a type, within the limit of `memory`. */
static enum error_code compress_type(struct node_features *features, uint32_t type,
                                     struct thread_pool *pool)
{
    struct input_rows all;
    const enum error_code rc = node_features_fetch(features, type, NULL, 0, &all, NULL);
    return rc == ERROR_NONE ? sparse_rows_build(&all, feature_source_dim(features->source[type]),
                                                node_count_of(features, type), &features->memory,
                                                pool, &features->compressed[type], NULL)
                            : rc;
}

/* Compresses the rows of all types that are mostly zero. If one does not fit, compresses none. */
static void compress(struct node_features *features, struct thread_pool *pool)
{
    enum error_code rc = ERROR_NONE;
    for (uint32_t t = 0; rc == ERROR_NONE && t < features->type_count; t++)
        if (features->mostly_zero[t] && !node_features_are_brought(features, t))
            rc = compress_type(features, t, pool);
    if (rc == ERROR_NONE)
        return;
    arena_release(&features->memory);
    for (uint32_t t = 0; t < features->type_count; t++)
        features->compressed[t] = (struct sparse_rows){0};
}

enum error_code node_features_find_zeros(struct node_features *features, uint64_t budget_bytes,
                                         struct thread_pool *pool, struct error *err)
{
    const uint64_t held = node_features_bytes(features);
    enum error_code rc = ERROR_NONE;
    for (uint32_t t = 0; rc == ERROR_NONE && t < features->type_count; t++)
        if (features->source[t])
            rc = sparse_features_detect(features->source[t], node_count_of(features, t),
                                        &features->mostly_zero[t], err);
    if (rc != ERROR_NONE || held >= budget_bytes)
        return rc;
    features->memory.limit = (size_t)(budget_bytes - held);
    compress(features, pool);
    return ERROR_NONE;
}

bool node_features_are_resident(const struct node_features *features)
{
    bool all = true;
    for (uint32_t t = 0; t < features->type_count; t++)
        all &= !node_features_are_brought(features, t);
    return all;
}

bool node_features_hold(const struct node_features *features, int part)
{
    bool all = true;
    for (uint32_t t = 0; t < features->type_count; t++)
        all &= !features->source[t] || feature_source_holds(features->source[t], part);
    return all;
}

static uint64_t sum_bytes(const struct node_features *features, bool of_brought)
{
    uint64_t bytes = 0;
    for (uint32_t t = 0; t < features->type_count; t++)
        if (features->source[t] && (of_brought || !node_features_are_brought(features, t)))
            bytes += feature_source_bytes(features->source[t]);
    return bytes;
}

uint64_t node_features_resident_bytes(const struct node_features *features)
{
    return sum_bytes(features, false);
}

uint64_t node_features_bytes(const struct node_features *features)
{
    return sum_bytes(features, true);
}

void node_features_limit(struct node_features *features, const uint32_t *row_count,
                         uint64_t budget_bytes)
{
    feature_shares_limit(features->source, row_count, features->type_count, false, budget_bytes);
}

size_t node_features_row_bytes(const struct node_features *features, uint32_t type)
{
    return features->source[type] ? feature_source_row_bytes(features->source[type]) : 0;
}
