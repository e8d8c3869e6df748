#include "stages/train-step/typed_features.h"

#include "common/base/memory.h"
#include "stages/plan/run_model.h"

#include <inttypes.h>

/* What opening goes by. */
struct opening {
    const struct stage_context *context;
    const double *nodes_most;
    uint64_t left;                             /* of the budget */
    uint64_t portion[RELATION_TYPE_COUNT_MAX]; /* of a resident type */
    uint64_t brought[RELATION_TYPE_COUNT_MAX]; /* what a batch wants of one that is not */
    bool is_placed[RELATION_TYPE_COUNT_MAX];
};

static uint32_t dim_of(const struct stage_context *context, uint32_t type)
{
    return run_model_type_dim(context->settings, context->book, type);
}

static uint32_t node_count_of(const struct typed_features *features, uint32_t type)
{
    return features->book[type][features->ranges.part_count];
}

/* Ids in order and places of the rows of a batch, beside the rows. */
enum { ORDER_BYTES = 16 };

static void measure(const struct typed_features *features, struct opening *opening)
{
    const uint64_t sharers =
        opening->context->sharers > 1 ? (uint64_t)opening->context->sharers : 1;
    for (uint32_t t = 0; t < features->type_count; t++) {
        const uint64_t row = dim_of(opening->context, t) * (uint64_t)sizeof(float);
        opening->portion[t] = (row * node_count_of(features, t) + sharers - 1) / sharers;
        opening->brought[t] = (uint64_t)(opening->nodes_most[t] * (double)(row + ORDER_BYTES));
        opening->is_placed[t] = row == 0;
    }
}

/* The smallest that has no place yet; type_count: there is none. */
static uint32_t next_type(const struct typed_features *features, const struct opening *opening)
{
    uint32_t best = features->type_count;
    for (uint32_t t = 0; t < features->type_count; t++)
        if (!opening->is_placed[t] &&
            (best == features->type_count || opening->portion[t] < opening->portion[best]))
            best = t;
    return best;
}

/* What the types want that have no place yet. */
static uint64_t wanted_by_others(const struct typed_features *features,
                                 const struct opening *opening)
{
    uint64_t wanted = 0;
    for (uint32_t t = 0; t < features->type_count; t++) {
        const uint64_t portion = opening->portion[t], brought = opening->brought[t];
        if (!opening->is_placed[t])
            wanted += portion < brought ? portion : brought;
    }
    return wanted;
}

/* How many bytes the source of `type` may hold: all that the others leave when it is to be resident, since its array may turn
 * out not to be shared. */
static uint64_t budget_of(const struct typed_features *features, struct opening *opening,
                          uint32_t type)
{
    const uint64_t left = opening->left, portion = opening->portion[type];
    opening->is_placed[type] = true;
    const uint64_t others = wanted_by_others(features, opening);
    const bool is_cheap = portion <= opening->brought[type];
    if (portion <= left && (is_cheap || others <= left - portion))
        return others <= left - portion ? left - others : portion;
    const uint64_t brought = opening->brought[type] < left ? opening->brought[type] : left;
    return brought < portion ? brought : portion - 1;
}

/* What the source holds, or its rows in a batch, is gone from what is left. */
static void take_room(const struct typed_features *features, struct opening *opening, uint32_t type)
{
    const struct feature_source *source = features->source[type];
    const uint64_t taken =
        feature_source_is_resident(source) ? feature_source_bytes(source) : opening->brought[type];
    opening->left -= taken < opening->left ? taken : opening->left;
}

static enum error_code open_type(const struct opening *opening, uint32_t type, uint64_t budget,
                                 struct typed_features *out, struct error *err)
{
    const struct partition_book *book = opening->context->book;
    const struct feature_source_config config = {.store = opening->context->store,
                                                 .origin = FEATURES_OF_PARTITION,
                                                 .id = book->id,
                                                 .node_type = type,
                                                 .part_count = book->part_count,
                                                 .book = out->book[type],
                                                 .tensor = "features",
                                                 .precision = PRECISION_FP32,
                                                 .budget_bytes = budget,
                                                 .sharers = opening->context->sharers,
                                                 .pool = opening->context->pool};
    const enum error_code rc = feature_source_open(&config, &out->source[type], err);
    if (rc != ERROR_NONE)
        return error_context(err, rc, "features of type %s", book->type_name[type]);
    const uint32_t found = feature_source_dim(out->source[type]);
    if (found != dim_of(opening->context, type))
        return error_set(err, ERROR_CORRUPT,
                         "features of type %s in partition %s: expected rows of %" PRIu32
                         " values, found %" PRIu32,
                         book->type_name[type], book->id, dim_of(opening->context, type), found);
    return ERROR_NONE;
}

enum error_code typed_features_open(const struct stage_context *context, uint64_t budget_bytes,
                                    const double *nodes_most, struct typed_features *out,
                                    struct error *err)
{
    struct opening opening = {context, nodes_most, budget_bytes, {0}, {0}, {0}};
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
        measure(out, &opening);
    for (uint32_t i = 0; rc == ERROR_NONE && i < out->type_count; i++) {
        const uint32_t type = next_type(out, &opening);
        if (type == out->type_count)
            break;
        rc = open_type(&opening, type, budget_of(out, &opening, type), out, err);
        if (rc == ERROR_NONE)
            take_room(out, &opening, type);
    }
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

void typed_features_limit(struct typed_features *features, uint64_t budget_bytes)
{
    uint64_t count = 0;
    for (uint32_t t = 0; t < features->type_count; t++)
        count += is_brought(features, t);
    for (uint32_t t = 0; t < features->type_count; t++)
        if (is_brought(features, t))
            feature_source_limit(features->source[t], budget_bytes / count);
}

size_t typed_features_row_bytes(const struct typed_features *features, uint32_t type)
{
    return features->source[type] ? feature_source_row_bytes(features->source[type]) : 0;
}
