/*
 * A resident source finds a row by its node id: nothing is copied or allocated.
 *
 * Otherwise a visit sorts the wanted nodes (row_order.h) and walks over them (feature_walk.h).
 * Cached rows are a compact array, with a table from node to slot. They are dropped from the end,
 * so the best ones should come first.
 */
#include "store/features/feature_source.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "store/features/feature_source_state.h"
#include "store/features/feature_walk.h"
#include "store/features/row_conversion.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { PAGE_BYTES = 4096 };

const char layer_tensor[] = "output";

void layer_tensor_of_type(uint32_t type, char name[TENSOR_NAME_SIZE])
{
    (void)snprintf(name, TENSOR_NAME_SIZE, type ? "%s.%" PRIu32 : "%s", layer_tensor, type);
}

void feature_rows_copy(const struct feature_rows *rows, size_t count, float *out)
{
    for (size_t i = 0; i < count; i++)
        memcpy(out + i * rows->dim, feature_row(rows, i), rows->dim * sizeof *out);
}

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

/* --- resident rows --- */

/* Reads all blocks of a part and converts each. */
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

/* Reads the rows of a part. Each block is compared with its hash. */
static enum error_code read_part(void *context, int64_t part, char *to, struct error *err)
{
    const struct feature_source *source = context;
    struct feature_shard *shard = NULL;
    enum error_code rc = feature_parts_open_shard(&source->parts, (int)part, &shard, err);
    if (rc == ERROR_NONE && feature_source_converts(source))
        rc = read_converted(source, shard, source->book[part + 1] - source->book[part], to, err);
    else if (rc == ERROR_NONE)
        rc = feature_shard_read_all(shard, source->tensor, to, source->dim, err);
    feature_shard_close(shard);
    return rc;
}

/* Returns a hash of everything that the bytes of the array depend on, as its name. */
static struct checksum resident_name(const struct feature_source *source)
{
    static const char kind[] = "resident rows, version 1";
    const uint32_t form[] = {source->node_count, source->dim, (uint32_t)source->type,
                             (uint32_t)source->precision};
    const struct checksum_part part[] = {{kind, sizeof kind},
                                         {source->tensor, strlen(source->tensor) + 1},
                                         {form, sizeof form},
                                         {&source->parts.content, sizeof source->parts.content}};
    return checksum_of_parts(part, sizeof part / sizeof *part);
}

/* Opens the array of `bytes`. Fails: ERROR_NO_MEMORY when the memory or the budget is too small. */
static enum error_code open_resident(struct feature_source *source, uint64_t bytes,
                                     struct thread_pool *pool, struct error *err)
{
    char what[TENSOR_NAME_SIZE + KEY_SIZE + 16];
    uint64_t *start = NULL;
    enum error_code rc =
        memory_new(&start, (size_t)source->part_count + 1, "the places of parts", err);
    if (rc != ERROR_NONE)
        return rc;
    for (int p = 0; p <= source->part_count; p++)
        start[p] = source->book[p] * (uint64_t)row_bytes(source);
    (void)snprintf(what, sizeof what, "tensor %s of %s", source->tensor, source->parts.id);
    const struct shared_area_content content = {.what = what,
                                                .name = resident_name(source),
                                                .size = (size_t)bytes,
                                                .only_shared = bytes > source->budget_bytes,
                                                .piece_count = source->part_count,
                                                .piece_start = start,
                                                .fill = read_part,
                                                .context = source,
                                                .pool = pool};
    rc = shared_area_open(&content, &source->resident, err);
    memory_free(start);
    return rc;
}

static bool is_resident(const struct feature_source *source)
{
    return source->resident.bytes != NULL;
}

/* Returns the bytes that are held whatever is fetched. */
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

uint64_t feature_source_cache_bytes(const struct feature_source *source)
{
    const struct feature_cache *cache = &source->cache;
    return cache->slot_of ? cache->mapped_bytes + (uint64_t)cache->count * sizeof *cache->node +
                                (uint64_t)source->node_count * sizeof *cache->slot_of
                          : 0;
}

static uint64_t fetch_bytes(const struct feature_source *source, size_t count)
{
    return (uint64_t)count * row_bytes(source);
}

/* Checks that the `wanted` bytes for `count` rows fit the budget. */
static enum error_code check_budget(const struct feature_source *source, size_t count,
                                    uint64_t wanted, struct error *err)
{
    char wanted_text[32], budget_text[32];
    if (wanted <= source->budget_bytes)
        return ERROR_NONE;
    return error_set(err, ERROR_NO_MEMORY,
                     "tensor %s: %zu rows want %" PRIu64 " bytes (%s), the budget is %" PRIu64
                     " bytes (%s); " ADVICE
                     "give more --memory, or take fewer nodes at a time (batch sizes, "
                     "fan-outs)",
                     source->tensor, count, wanted, text_size(wanted, wanted_text),
                     source->budget_bytes, text_size(source->budget_bytes, budget_text));
}

static enum error_code open_out_of_budget(struct feature_source *source, struct error *err)
{
    const enum error_code rc = feature_stripe_init(&source->stripe, source, err);
    return rc == ERROR_NONE ? check_budget(source, 1,
                                           fixed_bytes(source) + fetch_bytes(source, 1) +
                                               row_order_bytes(1, source->node_count),
                                           err)
                            : rc;
}

uint64_t feature_source_portion(uint64_t bytes, int sharers)
{
    const uint64_t parts = sharers > 1 && bytes >= SHARED_AREA_BYTES_MIN ? (uint64_t)sharers : 1;
    return bytes / parts;
}

static enum error_code open_source(struct feature_source *source,
                                   const struct feature_source_config *config, struct error *err)
{
    const size_t bounds = (size_t)config->part_count + 1;
    must(config->part_count > 0 && text_copy(source->tensor, TENSOR_NAME_SIZE, config->tensor));
    enum error_code rc = memory_new(&source->book, bounds, "a partition book", err);
    if (rc != ERROR_NONE)
        return rc;
    memcpy(source->book, config->book, bounds * sizeof *source->book);
    source->part_count = config->part_count;
    source->node_count = config->book[config->part_count];
    source->budget_bytes = config->budget_bytes;
    source->sharers = config->sharers > 1 ? config->sharers : 1;
    rc = feature_parts_open(config, &source->parts, err);
    if (rc != ERROR_NONE)
        return rc;
    source->dim = source->parts.dim;
    source->type = source->parts.type;
    source->precision = row_conversion_precision(source->type, config->precision);
    if (tensor_type_bytes(source->type) > sizeof(float))
        return error_set(err, ERROR_INVALID, "tensor %s: rows of %s cannot be gathered",
                         source->tensor, tensor_type_name(source->type));
    const uint64_t all = (uint64_t)source->node_count * row_bytes(source);
    const bool fits = feature_source_portion(all, source->sharers) <= config->budget_bytes &&
                      all < SIZE_MAX / 2 && !config->only_read;
    if (fits) {
        rc = open_resident(source, all, config->pool, err);
        if (rc != ERROR_NO_MEMORY || all <= config->budget_bytes)
            return rc;
    }
    return config->only_read ? ERROR_NONE : open_out_of_budget(source, err);
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

void feature_source_rest(struct feature_source *source)
{
    release_rows(source);
    row_order_release(&source->order);
}

static void release_cache(struct feature_source *source)
{
    memory_unmap(source->cache.row, source->cache.mapped_bytes);
    memory_free(source->cache.slot_of);
    memory_free(source->cache.node);
    source->cache = (struct feature_cache){0};
}

void feature_source_close(struct feature_source *source)
{
    if (!source)
        return;
    feature_parts_close(&source->parts);
    shared_area_close(&source->resident);
    release_rows(source);
    release_cache(source);
    row_order_release(&source->order);
    feature_stripe_release(&source->stripe);
    memory_free(source->book);
    memory_free(source);
}

uint32_t feature_source_dim(const struct feature_source *source)
{
    return source->dim;
}

bool feature_source_is_resident(const struct feature_source *source)
{
    return is_resident(source);
}

bool feature_source_holds(struct feature_source *source, int part)
{
    return is_resident(source) || source->book[part] == source->book[part + 1] ||
           feature_parts_is_open(&source->parts, part);
}

uint64_t feature_source_bytes(const struct feature_source *source)
{
    if (is_resident(source))
        return source->resident.size /
               (source->resident.is_shared ? (uint64_t)source->sharers : UINT64_C(1));
    return fixed_bytes(source) + order_bytes(source) + feature_source_cache_bytes(source) +
           fetch_bytes(source, source->row_capacity);
}

/* --- the feature cache --- */

static uint64_t table_bytes(const struct feature_source *source)
{
    return (uint64_t)source->node_count * sizeof *source->cache.slot_of;
}

size_t feature_source_cache_capacity(const struct feature_source *source, uint64_t bytes)
{
    const uint64_t left = bytes > table_bytes(source) ? bytes - table_bytes(source) : 0;
    const uint64_t rows = left / (row_bytes(source) + sizeof *source->cache.node);
    return rows < source->node_count ? (size_t)rows : source->node_count;
}

uint32_t feature_source_cached(const struct feature_source *source)
{
    return source->cache.count;
}

bool feature_source_has_cached(const struct feature_source *source, uint32_t node)
{
    return source->cache.slot_of && source->cache.slot_of[node];
}

/* Drops the cached rows after the first `count`. */
static void shrink_cache(struct feature_source *source, size_t count)
{
    struct feature_cache *cache = &source->cache;
    if (count >= cache->count)
        return;
    if (!count) {
        release_cache(source);
        return;
    }
    for (uint32_t slot = (uint32_t)count; slot < cache->count; slot++)
        cache->slot_of[cache->node[slot]] = 0;
    cache->count = (uint32_t)count;
    void *node = memory_resize(cache->node, count, sizeof *cache->node);
    cache->node = node ? node : cache->node;
    cache->mapped_bytes =
        memory_unmap_tail(cache->row, cache->mapped_bytes, count * row_bytes(source));
}

/* Drops cached rows until `bytes` more fit the budget. */
static void make_room(struct feature_source *source, uint64_t bytes)
{
    const uint64_t budget = source->budget_bytes;
    if (bytes + feature_source_cache_bytes(source) <= budget)
        return;
    const uint64_t beside = bytes + PAGE_BYTES; /* rows are freed page by page */
    shrink_cache(source,
                 feature_source_cache_capacity(source, budget > beside ? budget - beside : 0));
    if (bytes + feature_source_cache_bytes(source) > budget) /* the pages are larger than that */
        shrink_cache(source, 0);
}

void feature_source_limit(struct feature_source *source, uint64_t budget_bytes)
{
    source->budget_bytes = budget_bytes;
    if (!is_resident(source))
        make_room(source, fixed_bytes(source) + order_bytes(source) +
                              fetch_bytes(source, source->row_capacity));
}

static void cache_rows(void *context, const struct feature_visit *visit)
{
    struct feature_source *source = context;
    for (uint32_t i = 0; i < visit->count; i++)
        memcpy(source->cache.row + visit->place[i] * row_bytes(source), visit->row[i],
               row_bytes(source));
}

enum error_code feature_source_cache(struct feature_source *source, const uint32_t *node,
                                     size_t count, uint64_t bytes, struct error *err)
{
    struct feature_cache cache = {0};
    const uint64_t beside = fixed_bytes(source) + fetch_bytes(source, source->row_capacity) +
                            row_order_bytes(count, source->node_count);
    const uint64_t left = source->budget_bytes > beside ? source->budget_bytes - beside : 0;
    const size_t most = feature_source_cache_capacity(source, bytes < left ? bytes : left);
    count = count < most ? count : most;
    release_cache(source);
    if (is_resident(source) || count == 0)
        return ERROR_NONE;
    cache.mapped_bytes = count * row_bytes(source);
    cache.row = memory_map(cache.mapped_bytes);
    if (!cache.row)
        return error_set(err, ERROR_NO_MEMORY, "no memory for %zu rows of tensor %s", count,
                         source->tensor);
    source->cache = cache;
    enum error_code rc = memory_new(&source->cache.node, count, "the nodes of cached rows", err);
    if (rc == ERROR_NONE)
        rc = feature_source_visit(source, node, count, cache_rows, source, NULL, err);
    row_order_release(&source->order);
    if (rc == ERROR_NONE)
        rc =
            memory_new(&source->cache.slot_of, source->node_count, "the slots of cached rows", err);
    if (rc != ERROR_NONE) {
        release_cache(source);
        return rc;
    }
    for (size_t slot = 0; slot < count; slot++) {
        source->cache.node[slot] = node[slot];
        source->cache.slot_of[node[slot]] = (uint32_t)slot + 1;
    }
    source->cache.count = (uint32_t)count;
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
    must(!is_resident(source) && count <= UINT32_MAX);
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

/* --- read --- */

static int part_of(const struct feature_source *source, uint32_t node)
{
    int low = 0, high = source->part_count;
    must(node < source->node_count);
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (source->book[middle] <= node)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static uint32_t end_of_block(const struct feature_source *source, int part, uint32_t node)
{
    const uint32_t start = source->book[part];
    const uint32_t first = node - (node - start) % FEATURE_BLOCK_ROWS;
    const uint32_t left = source->book[part + 1] - first;
    return first + (left < FEATURE_BLOCK_ROWS ? left : FEATURE_BLOCK_ROWS);
}

uint32_t feature_source_block_end(const struct feature_source *source, uint32_t node)
{
    return end_of_block(source, part_of(source, node), node);
}

/* Reads the rows of nodes first .. end - 1, which are in one block of `part`. */
static enum error_code read_rows_of_block(struct feature_source *source, int part, uint32_t first,
                                          uint32_t end, char *out, struct error *err)
{
    const uint32_t row = first - source->book[part];
    const size_t stored_bytes = source->dim * tensor_type_bytes(source->type);
    struct feature_shard *shard = NULL;
    struct feature_pin pin = {0};
    enum error_code rc = feature_parts_shard(&source->parts, part, &shard, err);
    if (rc == ERROR_NONE)
        rc = feature_shard_pin(shard, source->tensor, row / FEATURE_BLOCK_ROWS, &pin, err);
    if (rc == ERROR_NONE)
        row_conversion_enter(out, source->precision,
                             (const char *)pin.rows + row % FEATURE_BLOCK_ROWS * stored_bytes,
                             source->type, source->dim, end - first);
    feature_pin_release(&pin);
    return rc;
}

enum error_code feature_source_read(struct feature_source *source, uint32_t first, uint32_t end,
                                    void *out, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    char *to = out;
    must(first <= end && end <= source->node_count);
    if (is_resident(source)) {
        memcpy(to, (const char *)source->resident.bytes + first * row_bytes(source),
               (end - first) * row_bytes(source));
        return ERROR_NONE;
    }
    for (uint32_t next = 0; rc == ERROR_NONE && first < end; first = next) {
        const int part = part_of(source, first);
        next = end_of_block(source, part, first);
        next = next < end ? next : end;
        rc = read_rows_of_block(source, part, first, next, to, err);
        to += (next - first) * row_bytes(source);
    }
    return rc;
}

/* --- fetch --- */

/* Reserves memory for the rows and their order. */
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
    if (rc == ERROR_NONE && !is_resident(source) && count)
        rc = reserve_rows(source, count, err);
    struct feature_walk walk = {.source = source, .node = node, .count = count};
    if (rc == ERROR_NONE && !is_resident(source) && count)
        rc = feature_walk_order(source, node, count, err);
    if (rc == ERROR_NONE && !is_resident(source) && count)
        rc = feature_walk_all(&walk, copy_rows, source, NULL, err);
    if (rc != ERROR_NONE)
        return rc;
    *rows =
        (struct feature_rows){.base = is_resident(source) ? source->resident.bytes : source->rows,
                              .precision = source->precision,
                              .stride = precision_stride(source->precision, source->dim),
                              .dim = source->dim,
                              .row_index = is_resident(source) ? node : NULL};
    return ERROR_NONE;
}
