#include "store/feature_walk.h"

#include "common/base/memory.h"
#include "common/math/bf16_rows.h"
#include "store/feature_source_state.h"

_Static_assert((int)FEATURE_VISIT_MAX >= (int)FEATURE_BLOCK_ROWS, "a block is one visit");

/* What a walk over the ordered batch is about. */
struct walk {
    struct feature_source *source;
    const uint32_t *node;  /* of the batch */
    const uint32_t *place; /* [count], ascending by node */
    size_t count;
    feature_visitor visitor;
    void *context;
    const atomic_bool *stop;
    struct feature_share share;
    uint64_t stripe;           /* of the rows at hand */
    size_t stripe_rows;        /* in it so far */
    struct feature_scan *scan; /* of the part at hand */
    char *rounded;             /* [FEATURE_BLOCK_ROWS] rows: bf16 alone */
    const void *row[FEATURE_VISIT_MAX];
};

static const char *kept_row(const struct feature_source *source, uint32_t node)
{
    const struct kept_rows *kept = &source->kept;
    const uint32_t slot = kept->slot_of ? kept->slot_of[node] : 0;
    return slot ? kept->row + (slot - 1) * feature_source_row_bytes(source) : NULL;
}

/* The rows from `first` on that lie in one block and fit a visit. */
static size_t same_block(const struct walk *walk, uint32_t part_start, size_t first, size_t end)
{
    const uint32_t block = (walk->node[walk->place[first]] - part_start) / FEATURE_BLOCK_ROWS;
    size_t i = first + 1;
    while (i < end && i - first < FEATURE_VISIT_MAX &&
           (walk->node[walk->place[i]] - part_start) / FEATURE_BLOCK_ROWS == block)
        i++;
    return i;
}

/* The block read last, for repeats that fill more than one visit. */
struct block_at_hand {
    uint64_t number; /* + 1; 0: none */
    const char *rows;
};

/* Reads a block, in the precision of the source. */
static enum error_code read_block(const struct walk *walk, uint64_t number,
                                  struct block_at_hand *block, struct error *err)
{
    const void *rows = NULL;
    uint32_t row_count = 0;
    const enum error_code rc = feature_scan_block(walk->scan, number, &rows, &row_count, err);
    if (rc != ERROR_NONE)
        return rc;
    *block = (struct block_at_hand){number + 1, rows};
    return ERROR_NONE;
}

/* The one place where wanted rows of a block become rows in the precision of the source. Floats stay where
 * they are. `at`: among those of a visit. */
static const void *enter_row(const struct walk *walk, const struct block_at_hand *block,
                             uint32_t row, size_t at)
{
    const struct feature_source *source = walk->source;
    must(block->rows);
    const char *from = block->rows + row * (size_t)source->dim * sizeof(float);
    if (source->precision != PRECISION_BF16)
        return from;
    char *to = walk->rounded + at * feature_source_row_bytes(source);
    bf16_rows_round((bf16 *)(void *)to, from, source->dim, 1);
    return to;
}

/* Finds the rows first .. end - 1, which lie in one block, and hands them over. */
static enum error_code visit_block(struct walk *walk, uint32_t part_start, size_t first, size_t end,
                                   struct block_at_hand *block, struct error *err)
{
    const struct feature_source *source = walk->source;
    const uint64_t number = (walk->node[walk->place[first]] - part_start) / FEATURE_BLOCK_ROWS;
    bool all_kept = true;
    for (size_t i = first; i < end; i++) {
        walk->row[i - first] = kept_row(source, walk->node[walk->place[i]]);
        all_kept = all_kept && walk->row[i - first];
    }
    if (!all_kept && block->number != number + 1) {
        const enum error_code rc = read_block(walk, number, block, err);
        if (rc != ERROR_NONE)
            return rc;
    }
    for (size_t i = first; i < end; i++) {
        const uint32_t local = walk->node[walk->place[i]] - part_start;
        if (!walk->row[i - first])
            walk->row[i - first] = enter_row(walk, block, local % FEATURE_BLOCK_ROWS, i - first);
    }
    const struct feature_visit visit = {.stripe = walk->stripe,
                                        .count = (uint32_t)(end - first),
                                        .place = walk->place + first,
                                        .row = walk->row};
    walk->visitor(walk->context, &visit);
    return ERROR_NONE;
}

/* Counts `rows` more; whether they are in a stripe of this share. Every share counts all rows, and so alike. */
static bool is_shared(struct walk *walk, size_t rows)
{
    if (walk->stripe_rows + rows > FEATURE_STRIPE_ROWS) {
        walk->stripe++;
        walk->stripe_rows = 0;
    }
    walk->stripe_rows += rows;
    return walk->stripe % walk->share.share_count == walk->share.share;
}

/* The rows first .. end - 1, all of one part. */
static enum error_code visit_part(struct walk *walk, int part, size_t first, size_t end,
                                  struct error *err)
{
    const uint32_t part_start = walk->source->book[part];
    struct block_at_hand block = {0};
    enum error_code rc =
        feature_scan_begin(walk->source->shard[part], walk->source->tensor, &walk->scan, err);
    for (size_t next = 0; rc == ERROR_NONE && first < end; first = next) {
        if (walk->stop && atomic_load_explicit(walk->stop, memory_order_relaxed))
            rc = error_set(err, ERROR_BUSY, "tensor %s: told to stop", walk->source->tensor);
        next = same_block(walk, part_start, first, end);
        if (rc == ERROR_NONE && is_shared(walk, next - first))
            rc = visit_block(walk, part_start, first, next, &block, err);
    }
    feature_scan_end(walk->scan);
    walk->scan = NULL;
    return rc;
}

static enum error_code walk_parts(struct walk *walk, struct error *err)
{
    const struct feature_source *source = walk->source;
    enum error_code rc = ERROR_NONE;
    size_t first = 0;
    for (int part = 0; rc == ERROR_NONE && first < walk->count; part++) {
        size_t low = first, high = walk->count;
        while (low < high) { /* where the next part begins */
            const size_t middle = low + (high - low) / 2;
            if (walk->node[walk->place[middle]] < source->book[part + 1])
                low = middle + 1;
            else
                high = middle;
        }
        if (low > first)
            rc = visit_part(walk, part, first, low, err);
        first = low;
    }
    return rc;
}

enum error_code feature_walk_order(struct feature_source *source, const uint32_t *node,
                                   size_t count, struct error *err)
{
    const enum error_code rc = row_order_reserve(&source->order, count, source->node_count, err);
    if (rc == ERROR_NONE)
        row_order_sort(&source->order, node, count);
    return rc;
}

enum error_code feature_walk(struct feature_source *source, const uint32_t *node, size_t count,
                             struct feature_share share, feature_visitor visitor, void *context,
                             const atomic_bool *stop, struct error *err)
{
    struct walk walk = {.source = source,
                        .node = node,
                        .place = source->order.place,
                        .count = count,
                        .visitor = visitor,
                        .context = context,
                        .stop = stop,
                        .share = share,
                        .rounded = source->block};
    char *own = NULL;
    enum error_code rc = ERROR_NONE;
    if (share.share && source->precision == PRECISION_BF16) {
        rc =
            memory_new(&own, FEATURE_BLOCK_ROWS * feature_source_row_bytes(source), "a block", err);
        walk.rounded = own;
    }
    if (rc == ERROR_NONE)
        rc = walk_parts(&walk, err);
    memory_free(own);
    return rc;
}
