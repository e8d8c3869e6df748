#include "store/features/feature_walk.h"

#include "common/base/memory.h"
#include "store/features/feature_block.h"
#include "store/features/feature_source_state.h"
#include "store/features/row_conversion.h"

/* Bytes of all blocks in a stripe. A few hundred rows at a time are still in the processor's cache
 * when they are used; of 256 KB to 2 MB this was the fastest. */
enum { STRIPE_BYTES = 1 << 20 };

_Static_assert((int)FEATURE_VISIT_MAX >= (int)FEATURE_BLOCK_ROWS, "a block fits a stripe");

/* --- stripes --- */

static size_t block_bytes(const struct feature_source *source)
{
    return FEATURE_BLOCK_SUM_SIZE +
           FEATURE_BLOCK_ROWS * (size_t)source->dim * tensor_type_bytes(source->type);
}

static uint32_t block_limit(const struct feature_source *source)
{
    const size_t fit = STRIPE_BYTES / block_bytes(source);
    return fit < 1 ? 1 : fit > FEATURE_STRIPE_BLOCKS ? FEATURE_STRIPE_BLOCKS : (uint32_t)fit;
}

static size_t converted_bytes(const struct feature_source *source)
{
    return feature_source_converts(source) ? FEATURE_VISIT_MAX * feature_source_row_bytes(source)
                                           : 0;
}

uint64_t feature_stripe_bytes(const struct feature_source *source)
{
    const uint64_t blocks = feature_source_converts(source) ? 1 : block_limit(source);
    return sizeof(struct feature_stripe) + converted_bytes(source) + blocks * block_bytes(source);
}

enum error_code feature_stripe_init(struct feature_stripe *stripe, struct feature_source *source,
                                    struct error *err)
{
    const size_t converted = converted_bytes(source);
    stripe->source = source;
    stripe->block_limit = block_limit(source);
    return converted ? memory_new(&stripe->converted, converted, "converted rows", err)
                     : ERROR_NONE;
}

void feature_stripe_forget(struct feature_stripe *stripe)
{
    for (uint32_t b = 0; b < stripe->block_count; b++)
        feature_pin_release(&stripe->block[b].pin);
    stripe->block_count = stripe->count = 0;
}

void feature_stripe_release(struct feature_stripe *stripe)
{
    feature_stripe_forget(stripe);
    memory_free(stripe->converted);
    stripe->converted = NULL;
}

struct feature_visit feature_stripe_visit(const struct feature_stripe *stripe)
{
    return (struct feature_visit){
        .count = stripe->count, .place = stripe->place, .row = stripe->row};
}

/* --- taking stripes --- */

/* Returns the index after the last row, from `first` on, whose node is below `node_end`; at most
 * FEATURE_VISIT_MAX rows. */
static size_t rows_below(const struct feature_walk *walk, size_t first, uint32_t node_end)
{
    const uint32_t *place = walk->source->order.place;
    const size_t most =
        walk->count - first < FEATURE_VISIT_MAX ? walk->count - first : (size_t)FEATURE_VISIT_MAX;
    size_t i = first;
    while (i < first + most && walk->node[place[i]] < node_end)
        i++;
    return i;
}

/* Returns the block of the next row, with as many wanted rows of it as fit a stripe. */
static struct feature_stripe_block next_block(struct feature_walk *walk, size_t *end)
{
    const uint32_t *book = walk->source->book;
    const uint32_t node = walk->node[walk->source->order.place[walk->next]];
    while (node >= book[walk->part + 1])
        walk->part++;
    const uint32_t start = book[walk->part], number = (node - start) / FEATURE_BLOCK_ROWS;
    const uint32_t rows_left = book[walk->part + 1] - start - number * FEATURE_BLOCK_ROWS;
    const uint32_t rows = rows_left < FEATURE_BLOCK_ROWS ? rows_left : FEATURE_BLOCK_ROWS;
    *end = rows_below(walk, walk->next, start + number * FEATURE_BLOCK_ROWS + rows);
    return (struct feature_stripe_block){.part = walk->part, .number = number};
}

bool feature_walk_next(struct feature_walk *walk, struct feature_stripe *stripe)
{
    const size_t first = walk->next;
    stripe->block_count = 0;
    stripe->node = walk->node;
    stripe->place = walk->source->order.place + first;
    while (walk->next < walk->count && stripe->block_count < stripe->block_limit) {
        size_t end = 0;
        struct feature_stripe_block block = next_block(walk, &end);
        if (end - first > FEATURE_VISIT_MAX)
            break;
        block.end = (uint32_t)(end - first);
        stripe->block[stripe->block_count++] = block;
        walk->next = end;
    }
    stripe->count = (uint32_t)(walk->next - first);
    return stripe->count > 0;
}

/* --- reading stripes --- */

static const char *cached_row(const struct feature_source *source, uint32_t node)
{
    const struct feature_cache *cache = &source->cache;
    const uint32_t slot = cache->slot_of ? cache->slot_of[node] : 0;
    return slot ? cache->row + (slot - 1) * feature_source_row_bytes(source) : NULL;
}

/* Sets the pointers of cached rows, and NULL for the others. Returns whether there are others. */
static bool find_cached(struct feature_stripe *stripe, uint32_t first, uint32_t end)
{
    bool others = false;
    for (uint32_t i = first; i < end; i++) {
        stripe->row[i] = cached_row(stripe->source, stripe->node[stripe->place[i]]);
        others = others || !stripe->row[i];
    }
    return others;
}

/* Returns a wanted row in the precision of the source. Only here are rows of a visit converted. A
 * row that needs no conversion stays in its block. */
static const void *enter_row(const struct feature_stripe *stripe, const struct feature_pin *pin,
                             uint32_t row, uint32_t at)
{
    const struct feature_source *source = stripe->source;
    must(row < pin->row_count);
    const char *from =
        (const char *)pin->rows + (size_t)row * source->dim * tensor_type_bytes(source->type);
    if (!feature_source_converts(source))
        return from;
    char *to = stripe->converted + at * feature_source_row_bytes(source);
    row_conversion_enter(to, source->precision, from, source->type, source->dim, 1);
    return to;
}

static enum error_code read_block(struct feature_stripe *stripe, struct feature_stripe_block *block,
                                  uint32_t first, struct error *err)
{
    const struct feature_source *source = stripe->source;
    const uint32_t start = source->book[block->part] + block->number * FEATURE_BLOCK_ROWS;
    if (!find_cached(stripe, first, block->end))
        return ERROR_NONE;
    struct feature_shard *shard = NULL;
    enum error_code rc = feature_parts_shard(&stripe->source->parts, block->part, &shard, err);
    if (rc == ERROR_NONE)
        rc = feature_shard_pin(shard, source->tensor, block->number, &block->pin, err);
    if (rc != ERROR_NONE)
        return rc;
    for (uint32_t i = first; i < block->end; i++)
        if (!stripe->row[i])
            stripe->row[i] =
                enter_row(stripe, &block->pin, stripe->node[stripe->place[i]] - start, i);
    if (feature_source_converts(source))
        feature_pin_release(&block->pin);
    return ERROR_NONE;
}

enum error_code feature_stripe_read(struct feature_stripe *stripe, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    uint32_t first = 0;
    for (uint32_t b = 0; rc == ERROR_NONE && b < stripe->block_count; b++) {
        rc = read_block(stripe, &stripe->block[b], first, err);
        first = stripe->block[b].end;
    }
    return rc;
}

/* --- whole walks --- */

enum error_code feature_walk_order(struct feature_source *source, const uint32_t *node,
                                   size_t count, struct error *err)
{
    const enum error_code rc = row_order_reserve(&source->order, count, source->node_count, err);
    if (rc == ERROR_NONE)
        row_order_sort(&source->order, node, count);
    return rc;
}

enum error_code feature_walk_all(struct feature_walk *walk, feature_visitor visitor, void *context,
                                 const atomic_bool *stop, struct error *err)
{
    struct feature_source *source = walk->source;
    struct feature_stripe *stripe = &source->stripe;
    enum error_code rc = ERROR_NONE;
    while (rc == ERROR_NONE && feature_walk_next(walk, stripe)) {
        if (stop && atomic_load_explicit(stop, memory_order_relaxed))
            rc = error_set(err, ERROR_BUSY, "tensor %s: told to stop", source->tensor);
        else
            rc = feature_stripe_read(stripe, err);
        const struct feature_visit visit = feature_stripe_visit(stripe);
        if (rc == ERROR_NONE)
            visitor(context, &visit);
        feature_stripe_forget(stripe);
    }
    return rc;
}
