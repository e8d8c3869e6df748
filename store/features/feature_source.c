/*
 * Resident, a row is found by its node id and the ids are the index: nothing is copied or allocated.
 *
 * Out of the budget, a visit orders the wanted nodes (row_order.h) and walks them (feature_walk.h).
 *
 * Kept rows are a compact array with a table from node to slot. They are given up from the end, so the
 * best ones should come first.
 */
#include "store/features/feature_source.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "store/features/feature_source_state.h"
#include "store/features/feature_walk.h"
#include "store/features/row_conversion.h"
#include "store/objects/keys.h"

#include <inttypes.h>
#include <string.h>

enum { PAGE_BYTES = 4096 };

/* --- open --- */

static size_t row_bytes(const struct feature_source *source)
{
    return precision_stride(source->precision, source->dim) * precision_bytes(source->precision);
}

bool feature_source_converts(const struct feature_source *source)
{
    return !row_conversion_is_none(source->type, source->precision);
}

size_t feature_source_row_bytes(const struct feature_source *source)
{
    return row_bytes(source);
}

static enum error_code open_shard(const struct feature_source_config *config, int part,
                                  struct feature_shard **out, struct error *err)
{
    const bool layer = config->origin == FEATURES_OF_INFER_LAYER;
    const int64_t version = layer ? config->weights->version : 0;
    const struct key key = layer ? key_infer(config->id, version, config->layer, part, "shard")
                                 : key_part(config->id, part, "shard");
    const struct key seal = layer
                                ? key_infer(config->id, version, config->layer, part, "shard_seal")
                                : key_part(config->id, part, "shard_seal");
    enum error_code rc =
        feature_shard_open(config->store, key.text, seal.text, config->id, out, err);
    if (rc != ERROR_NONE)
        return rc;
    const struct tensor_spec *tensor = feature_shard_tensor(*out, config->tensor);
    const uint32_t rows = config->book[part + 1] - config->book[part];
    if (layer)
        rc = feature_shard_check_weights(*out, config->weights, err);
    if (rc == ERROR_NONE && !tensor)
        rc = error_set(err, ERROR_NOT_FOUND, "artifact %s has no tensor %s", key.text,
                       config->tensor);
    else if (rc == ERROR_NONE && tensor->row_count != rows)
        rc = error_set(err, ERROR_CORRUPT,
                       "artifact %s: tensor %s: expected %" PRIu32 " rows, found %" PRIu64,
                       key.text, config->tensor, rows, tensor->row_count);
    if (rc != ERROR_NONE) {
        feature_shard_close(*out);
        *out = NULL;
    }
    return rc;
}

/* What every part must have alike is that of the first. */
static enum error_code check_tensor(struct feature_source *source, const struct tensor_spec *tensor,
                                    int part, struct error *err)
{
    if (!source->dim) {
        source->dim = tensor->dim;
        source->type = tensor->type;
    }
    if (tensor->dim != source->dim)
        return error_set(err, ERROR_CORRUPT,
                         "tensor %s of part %d: expected a dim of %" PRIu32 ", found %" PRIu32,
                         source->tensor, part, source->dim, tensor->dim);
    if (tensor->type == source->type)
        return ERROR_NONE;
    return error_set(err, ERROR_CORRUPT, "tensor %s of part %d: expected elements of %s, found %s",
                     source->tensor, part, tensor_type_name(source->type),
                     tensor_type_name(tensor->type));
}

/* Opens the shard of a part, whose tensor must be as that of the first. */
static enum error_code open_part(struct feature_source *source,
                                 const struct feature_source_config *config, int part,
                                 struct feature_shard **out, struct error *err)
{
    enum error_code rc = open_shard(config, part, out, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = check_tensor(source, feature_shard_tensor(*out, config->tensor), part, err);
    if (rc == ERROR_NONE)
        return rc;
    feature_shard_close(*out);
    *out = NULL;
    return rc;
}

/* All blocks of a part, converted one by one. */
static enum error_code read_converted(const struct feature_source *source,
                                      struct feature_shard *shard, uint32_t row_count, char *to,
                                      struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint32_t first = 0; rc == ERROR_NONE && first < row_count; first += FEATURE_BLOCK_ROWS) {
        struct feature_pin pin = {0};
        rc = feature_shard_pin(shard, source->tensor, first / FEATURE_BLOCK_ROWS, &pin, err);
        if (rc == ERROR_NONE)
            row_conversion_enter(to + first * row_bytes(source), source->precision, pin.rows,
                                 source->type, source->dim, pin.row_count);
        feature_pin_release(&pin);
    }
    return rc;
}

/* One array for all rows, one ordered pass for each part. */
static enum error_code read_resident(struct feature_source *source,
                                     const struct feature_source_config *config, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    source->resident = memory_map(source->resident_bytes);
    if (!source->resident)
        return error_set(err, ERROR_NO_MEMORY, "no memory for tensor %s: %zu bytes", source->tensor,
                         source->resident_bytes);
    for (int p = 0; rc == ERROR_NONE && p < source->part_count; p++) {
        struct feature_shard *shard = NULL;
        char *to = source->resident + source->book[p] * row_bytes(source);
        rc = open_part(source, config, p, &shard, err);
        if (rc == ERROR_NONE && feature_source_converts(source))
            rc = read_converted(source, shard, source->book[p + 1] - source->book[p], to, err);
        else if (rc == ERROR_NONE)
            rc = feature_shard_read_all(shard, source->tensor, to, source->dim, err);
        feature_shard_close(shard);
    }
    return rc;
}

/* Bytes that are held whatever is fetched. */
static uint64_t fixed_bytes(const struct feature_source *source)
{
    const uint64_t converted = source->stripe.converted ? FEATURE_VISIT_MAX * row_bytes(source) : 0;
    return ((uint64_t)source->part_count + 1) * (sizeof(void *) + sizeof *source->book) + converted;
}

static uint64_t order_bytes(const struct feature_source *source)
{
    const struct row_order *order = &source->order;
    return order->capacity ? row_order_bytes(order->capacity, source->node_count) : 0;
}

static uint64_t kept_bytes(const struct feature_source *source)
{
    const struct kept_rows *kept = &source->kept;
    return kept->slot_of ? kept->mapped_bytes + (uint64_t)kept->count * sizeof *kept->node +
                               (uint64_t)source->node_count * sizeof *kept->slot_of
                         : 0;
}

static uint64_t fetch_bytes(const struct feature_source *source, size_t count)
{
    return (uint64_t)count * row_bytes(source);
}

/* Says what `count` rows want, `wanted` bytes altogether, when that is over the budget. */
static enum error_code check_budget(const struct feature_source *source, size_t count,
                                    uint64_t wanted, struct error *err)
{
    char wanted_text[32], budget_text[32];
    if (wanted <= source->budget_bytes)
        return ERROR_NONE;
    return error_set(err, ERROR_NO_MEMORY,
                     "tensor %s: %zu rows want %" PRIu64 " bytes (%s), the budget is %" PRIu64
                     " bytes (%s); give more --memory, or take fewer nodes at a time (batch sizes, "
                     "fan-outs)",
                     source->tensor, count, wanted, text_size(wanted, wanted_text),
                     source->budget_bytes, text_size(source->budget_bytes, budget_text));
}

static enum error_code open_shards(struct feature_source *source,
                                   const struct feature_source_config *config, struct error *err)
{
    const size_t parts = (size_t)source->part_count;
    /* An array of pointers. NOLINTNEXTLINE(bugprone-sizeof-expression) */
    enum error_code rc = memory_new(&source->shard, parts, "the shards of a tensor", err);
    if (rc == ERROR_NONE)
        rc = feature_stripe_init(&source->stripe, source, err);
    for (size_t p = 0; rc == ERROR_NONE && p < parts; p++)
        rc = open_part(source, config, (int)p, &source->shard[p], err);
    return rc == ERROR_NONE ? check_budget(source, 1,
                                           fixed_bytes(source) + fetch_bytes(source, 1) +
                                               row_order_bytes(1, source->node_count),
                                           err)
                            : rc;
}

static enum error_code open_source(struct feature_source *source,
                                   const struct feature_source_config *config, struct error *err)
{
    const size_t bounds = (size_t)config->part_count + 1;
    struct feature_shard *first = NULL;
    must(config->part_count > 0 && text_copy(source->tensor, TENSOR_NAME_SIZE, config->tensor));
    enum error_code rc = memory_new(&source->book, bounds, "a partition book", err);
    if (rc != ERROR_NONE)
        return rc;
    memcpy(source->book, config->book, bounds * sizeof *source->book);
    source->part_count = config->part_count;
    source->node_count = config->book[config->part_count];
    source->budget_bytes = config->budget_bytes;
    rc = open_part(source, config, 0, &first, err); /* for dim and type */
    feature_shard_close(first);
    if (rc != ERROR_NONE)
        return rc;
    source->precision = row_conversion_precision(source->type, config->precision);
    if (tensor_type_bytes(source->type) > sizeof(float))
        return error_set(err, ERROR_INVALID, "tensor %s: rows of %s cannot be gathered",
                         source->tensor, tensor_type_name(source->type));
    const uint64_t all = (uint64_t)source->node_count * row_bytes(source);
    if (all > config->budget_bytes || all > SIZE_MAX)
        return open_shards(source, config, err);
    source->resident_bytes = (size_t)all;
    return read_resident(source, config, err);
}

enum error_code feature_source_open(const struct feature_source_config *config,
                                    struct feature_source **out, struct error *err)
{
    struct feature_source *source = NULL;
    enum error_code rc = memory_new(&source, 1, "a feature source", err);
    if (rc != ERROR_NONE)
        return rc;
    rc = open_source(source, config, err);
    if (rc != ERROR_NONE) {
        feature_source_close(source);
        return rc;
    }
    *out = source;
    return ERROR_NONE;
}

static void release_rows(struct feature_source *source)
{
    memory_unmap(source->rows, source->row_capacity * row_bytes(source));
    source->rows = NULL;
    source->row_capacity = 0;
}

static void release_kept(struct feature_source *source)
{
    memory_unmap(source->kept.row, source->kept.mapped_bytes);
    memory_free(source->kept.slot_of);
    memory_free(source->kept.node);
    source->kept = (struct kept_rows){0};
}

void feature_source_close(struct feature_source *source)
{
    if (!source)
        return;
    for (int p = 0; source->shard && p < source->part_count; p++)
        feature_shard_close(source->shard[p]);
    memory_unmap(source->resident, source->resident_bytes);
    release_rows(source);
    release_kept(source);
    row_order_release(&source->order);
    feature_stripe_release(&source->stripe);
    memory_free(source->shard);
    memory_free(source->book);
    memory_free(source);
}

uint32_t feature_source_dim(const struct feature_source *source)
{
    return source->dim;
}

bool feature_source_is_resident(const struct feature_source *source)
{
    return source->resident != NULL;
}

uint64_t feature_source_bytes(const struct feature_source *source)
{
    if (source->resident)
        return source->resident_bytes;
    return fixed_bytes(source) + order_bytes(source) + kept_bytes(source) +
           fetch_bytes(source, source->row_capacity);
}

/* --- keep --- */

static uint64_t table_bytes(const struct feature_source *source)
{
    return (uint64_t)source->node_count * sizeof *source->kept.slot_of;
}

size_t feature_source_keep_count(const struct feature_source *source, uint64_t bytes)
{
    const uint64_t left = bytes > table_bytes(source) ? bytes - table_bytes(source) : 0;
    const uint64_t rows = left / (row_bytes(source) + sizeof *source->kept.node);
    return rows < source->node_count ? (size_t)rows : source->node_count;
}

uint32_t feature_source_kept(const struct feature_source *source)
{
    return source->kept.count;
}

bool feature_source_keeps(const struct feature_source *source, uint32_t node)
{
    return source->kept.slot_of && source->kept.slot_of[node];
}

/* Gives up the rows behind the first `count`. */
static void keep_only(struct feature_source *source, size_t count)
{
    struct kept_rows *kept = &source->kept;
    if (count >= kept->count)
        return;
    if (!count) {
        release_kept(source);
        return;
    }
    for (uint32_t slot = (uint32_t)count; slot < kept->count; slot++)
        kept->slot_of[kept->node[slot]] = 0;
    kept->count = (uint32_t)count;
    void *node = memory_resize(kept->node, count, sizeof *kept->node);
    kept->node = node ? node : kept->node;
    kept->mapped_bytes =
        memory_unmap_tail(kept->row, kept->mapped_bytes, count * row_bytes(source));
}

/* Makes room for `bytes` beside what cannot go. */
static void make_room(struct feature_source *source, uint64_t bytes)
{
    const uint64_t budget = source->budget_bytes;
    if (bytes + kept_bytes(source) <= budget)
        return;
    const uint64_t beside = bytes + PAGE_BYTES; /* rows go page by page */
    keep_only(source, feature_source_keep_count(source, budget > beside ? budget - beside : 0));
    if (bytes + kept_bytes(source) > budget) /* larger pages */
        keep_only(source, 0);
}

void feature_source_limit(struct feature_source *source, uint64_t budget_bytes)
{
    source->budget_bytes = budget_bytes;
    if (!source->resident)
        make_room(source, fixed_bytes(source) + order_bytes(source) +
                              fetch_bytes(source, source->row_capacity));
}

static void keep_rows(void *context, const struct feature_visit *visit)
{
    struct feature_source *source = context;
    for (uint32_t i = 0; i < visit->count; i++)
        memcpy(source->kept.row + visit->place[i] * row_bytes(source), visit->row[i],
               row_bytes(source));
}

enum error_code feature_source_keep(struct feature_source *source, const uint32_t *node,
                                    size_t count, uint64_t bytes, struct error *err)
{
    struct kept_rows kept = {0};
    const uint64_t beside = fixed_bytes(source) + fetch_bytes(source, source->row_capacity) +
                            row_order_bytes(count, source->node_count);
    const uint64_t left = source->budget_bytes > beside ? source->budget_bytes - beside : 0;
    const size_t most = feature_source_keep_count(source, bytes < left ? bytes : left);
    count = count < most ? count : most;
    release_kept(source);
    if (source->resident || count == 0)
        return ERROR_NONE;
    kept.mapped_bytes = count * row_bytes(source);
    kept.row = memory_map(kept.mapped_bytes);
    if (!kept.row)
        return error_set(err, ERROR_NO_MEMORY, "no memory for %zu rows of tensor %s", count,
                         source->tensor);
    source->kept = kept;
    enum error_code rc = memory_new(&source->kept.node, count, "the nodes of kept rows", err);
    if (rc == ERROR_NONE)
        rc = feature_source_visit(source, node, count, keep_rows, source, NULL, err);
    row_order_release(&source->order);
    if (rc == ERROR_NONE)
        rc = memory_new(&source->kept.slot_of, source->node_count, "the slots of kept rows", err);
    if (rc != ERROR_NONE) {
        release_kept(source);
        return rc;
    }
    for (size_t slot = 0; slot < count; slot++) {
        source->kept.node[slot] = node[slot];
        source->kept.slot_of[node[slot]] = (uint32_t)slot + 1;
    }
    source->kept.count = (uint32_t)count;
    return ERROR_NONE;
}

/* --- visit --- */

static enum error_code check_nodes(const struct feature_source *source, const uint32_t *node,
                                   size_t count, struct error *err)
{
    uint32_t last = 0;
    for (size_t i = 0; i < count; i++)
        last = node[i] > last ? node[i] : last;
    if (count == 0 || last < source->node_count)
        return ERROR_NONE;
    return error_set(err, ERROR_CORRUPT,
                     "tensor %s: expected node ids below %" PRIu32 ", found %" PRIu32,
                     source->tensor, source->node_count, last);
}

uint64_t feature_source_visit_bytes(const struct feature_source *source, size_t count)
{
    return row_order_bytes(count, source->node_count);
}

enum error_code feature_source_visit_begin(struct feature_source *source, const uint32_t *node,
                                           size_t count, struct error *err)
{
    must(!source->resident && count <= UINT32_MAX);
    enum error_code rc = check_nodes(source, node, count, err);
    if (rc != ERROR_NONE || count == 0)
        return rc;
    const size_t ordered = count > source->order.capacity ? count : source->order.capacity;
    const uint64_t wanted = fixed_bytes(source) + fetch_bytes(source, source->row_capacity) +
                            row_order_bytes(ordered, source->node_count);
    make_room(source, wanted);
    rc = check_budget(source, count, wanted, err);
    return rc == ERROR_NONE ? feature_walk_order(source, node, count, err) : rc;
}

enum error_code feature_source_visit(struct feature_source *source, const uint32_t *node,
                                     size_t count, feature_visitor visitor, void *context,
                                     const atomic_bool *stop, struct error *err)
{
    struct feature_walk walk = {.source = source, .node = node, .count = count};
    const enum error_code rc = feature_source_visit_begin(source, node, count, err);
    return rc == ERROR_NONE ? feature_walk_all(&walk, visitor, context, stop, err) : rc;
}

/* --- fetch --- */

/* Room for the rows and their order. */
static enum error_code reserve_rows(struct feature_source *source, size_t count, struct error *err)
{
    const size_t ordered = count > source->order.capacity ? count : source->order.capacity;
    const size_t capacity = count > source->row_capacity ? count : source->row_capacity;
    uint64_t wanted = fixed_bytes(source) + row_order_bytes(ordered, source->node_count) +
                      fetch_bytes(source, capacity);
    if (wanted > source->budget_bytes || count > source->row_capacity) {
        release_rows(source);
        row_order_release(&source->order);
        wanted = fixed_bytes(source) + row_order_bytes(count, source->node_count) +
                 fetch_bytes(source, count);
    }
    make_room(source, wanted);
    const enum error_code rc = check_budget(source, count, wanted, err);
    if (rc != ERROR_NONE || source->rows)
        return rc;
    source->rows = memory_map(count * row_bytes(source));
    if (!source->rows)
        return error_set(err, ERROR_NO_MEMORY, "no memory for %zu rows of tensor %s", count,
                         source->tensor);
    source->row_capacity = count;
    return ERROR_NONE;
}

static void copy_rows(void *context, const struct feature_visit *visit)
{
    const struct feature_source *source = context;
    for (uint32_t i = 0; i < visit->count; i++)
        memcpy(source->rows + visit->place[i] * row_bytes(source), visit->row[i],
               row_bytes(source));
}

enum error_code feature_source_fetch(struct feature_source *source, const uint32_t *node,
                                     size_t count, struct feature_rows *rows, struct error *err)
{
    *rows = (struct feature_rows){0};
    must(count <= UINT32_MAX);
    enum error_code rc = check_nodes(source, node, count, err);
    if (rc == ERROR_NONE && !source->resident && count)
        rc = reserve_rows(source, count, err);
    struct feature_walk walk = {.source = source, .node = node, .count = count};
    if (rc == ERROR_NONE && !source->resident && count)
        rc = feature_walk_order(source, node, count, err);
    if (rc == ERROR_NONE && !source->resident && count)
        rc = feature_walk_all(&walk, copy_rows, source, NULL, err);
    if (rc != ERROR_NONE)
        return rc;
    *rows = (struct feature_rows){.base = source->resident ? source->resident : source->rows,
                                  .precision = source->precision,
                                  .stride = precision_stride(source->precision, source->dim),
                                  .dim = source->dim,
                                  .row_index = source->resident ? node : NULL};
    return ERROR_NONE;
}
