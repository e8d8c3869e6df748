#include "stages/train-step/cache_policy.h"

#include "common/base/log.h"
#include "common/base/memory.h"
#include "store/features/feature_shard.h"
#include "store/features/feature_shares.h"

#include <math.h>

enum { UNITS_BETWEEN_LOOKS = 16, ROOM_SHARE = 4 };

/* The share of a batch's reads that a new choice must save before its rows are read. The first
 * choice has no such limit: its reads are paid once, and every later batch saves some. */
static const double worthwhile = 1.0 / 16;

struct used_block {
    uint32_t first, row_count;
    double read; /* probability that a batch wants some row of the block */
    bool is_kept;
};

/* Cached blocks follow each other in pieces of this many blocks, so that the other blocks lie in
 * long stretches on the disk. */
enum { PIECE_BLOCKS = 4 };

static uint32_t node_count_of(const struct use_counts *use)
{
    return use->book[use->part_count];
}

/* Fills logs[c] with the logarithm of the probability that a batch does not use a node that was
 * used c times. Nodes that no batch has used yet are expected at the rate at which nodes used
 * once appeared (Good and Turing). */
static void miss_logs(const struct use_counts *use, double *logs)
{
    uint64_t seen[2] = {0};
    for (uint32_t v = 0; v < node_count_of(use); v++)
        if (use->count[v] < 2)
            seen[use->count[v]]++;
    const double batches = use->batch_count;
    const double unseen = seen[0] ? (double)seen[1] / (batches * (double)seen[0]) : 0;
    logs[0] = log1p(-fmin(unseen, 0.99));
    for (int c = 1; c <= use->batch_count; c++)
        logs[c] = log1p(-fmin(c / batches, 0.99));
}

static size_t list_blocks(const struct use_counts *use, const double *logs,
                          struct used_block *block)
{
    size_t count = 0;
    for (int p = 0; p < use->part_count; p++)
        for (uint32_t first = use->book[p], end = use->book[p + 1], rows = 0; first < end;
             first += rows, count++) {
            double miss = 0;
            rows = end - first < FEATURE_BLOCK_ROWS ? end - first : FEATURE_BLOCK_ROWS;
            for (uint32_t v = first; block && v < first + rows; v++)
                miss += logs[use->count[v]];
            if (block)
                block[count] =
                    (struct used_block){.first = first, .row_count = rows, .read = -expm1(miss)};
        }
    return count;
}

static size_t count_read(const struct used_block *block, size_t block_count, double often)
{
    size_t count = 0;
    for (size_t b = 0; b < block_count; b++)
        count += block[b].read >= often;
    return count;
}

/* Returns the highest of a few fixed probabilities of being read that at least `wanted` blocks
 * reach, and the number of these blocks in *count, which may exceed `wanted`. */
static double read_most(const struct used_block *block, size_t block_count, size_t wanted,
                        size_t *count)
{
    static const double often[] = {0.99, 0.9, 0.5, 0};
    for (size_t i = 0;; i++) {
        *count = count_read(block, block_count, often[i]);
        if (*count >= wanted || often[i] <= 0)
            return often[i];
    }
}

/* Keeps the block if there is room for its rows. Returns the room that is left. */
static size_t keep_block(struct used_block *block, size_t room)
{
    block->is_kept = block->row_count <= room;
    return block->is_kept ? room - block->row_count : room;
}

/* Keeps whole blocks of at most `capacity` rows: those that are read most often. Among blocks
 * that are read equally often, it keeps pieces at even distances. One thread then reads blocks
 * while another visits cached rows during the whole pass, instead of all threads reading first. */
static void spread_blocks(struct used_block *block, size_t block_count, size_t capacity)
{
    size_t room = capacity, seen = 0, count = 0;
    const double least = read_most(block, block_count, capacity / FEATURE_BLOCK_ROWS, &count);
    const size_t pieces = count / PIECE_BLOCKS + 1;
    const size_t fit = capacity / ((size_t)PIECE_BLOCKS * FEATURE_BLOCK_ROWS);
    const size_t kept = fit < pieces ? fit : pieces;
    for (size_t b = 0; b < block_count; b++) {
        if (block[b].read < least)
            continue;
        const size_t piece = seen++ / PIECE_BLOCKS;
        if ((piece + 1) * kept / pieces > piece * kept / pieces)
            room = keep_block(&block[b], room);
    }
    for (size_t b = 0; b < block_count; b++)
        if (!block[b].is_kept && block[b].read >= least)
            room = keep_block(&block[b], room);
    for (size_t b = 0; b < block_count; b++)
        if (!block[b].is_kept)
            room = keep_block(&block[b], room);
}

/* The rows that are kept: those used more than `limit` times, and the first `at_limit` of those
 * used exactly `limit` times. */
struct row_limit {
    int limit;
    uint64_t at_limit;
};

static struct row_limit limit_rows(const struct use_counts *use, size_t capacity)
{
    uint64_t with[UINT8_MAX + 1] = {0}, left = capacity;
    int c = use->batch_count;
    for (uint32_t v = 0; v < node_count_of(use); v++)
        with[use->count[v]]++;
    for (; c > 1 && with[c] <= left; c--)
        left -= with[c];
    return (struct row_limit){c, left < with[c] ? left : with[c]};
}

/* Returns the number of blocks that a batch is expected to read if rows are kept. */
static double reads_with_rows(const struct use_counts *use, const struct used_block *block,
                              size_t block_count, struct row_limit limit, const double *logs)
{
    double reads = 0;
    for (size_t b = 0; b < block_count; b++) {
        double miss = 0;
        for (uint32_t v = block[b].first; v < block[b].first + block[b].row_count; v++) {
            const int c = use->count[v];
            const bool kept = c > limit.limit || (c == limit.limit && limit.at_limit > 0);
            limit.at_limit -= kept && c == limit.limit;
            miss += kept ? 0 : logs[c];
        }
        reads += -expm1(miss);
    }
    return reads;
}

static double reads_with_blocks(const struct used_block *block, size_t block_count)
{
    double reads = 0;
    for (size_t b = 0; b < block_count; b++)
        reads += block[b].is_kept ? 0 : block[b].read;
    return reads;
}

static size_t take_rows(const struct use_counts *use, struct row_limit limit, uint32_t *node)
{
    size_t count = 0;
    for (int c = use->batch_count; c > limit.limit; c--)
        for (uint32_t v = 0; v < node_count_of(use); v++)
            if (use->count[v] == c)
                node[count++] = v;
    for (uint32_t v = 0; limit.at_limit > 0; v++)
        if (use->count[v] == limit.limit) {
            node[count++] = v;
            limit.at_limit--;
        }
    return count;
}

static size_t take_blocks(const struct used_block *block, size_t block_count, uint32_t *node)
{
    size_t count = 0;
    for (size_t b = 0; b < block_count; b++)
        for (uint32_t i = 0; block[b].is_kept && i < block[b].row_count; i++)
            node[count++] = block[b].first + i;
    return count;
}

enum error_code cache_policy_make(const struct use_counts *use, size_t capacity, uint32_t *node,
                                  size_t *count, double *reads, struct error *err)
{
    struct used_block *block = NULL;
    double logs[UINT8_MAX + 1];
    *count = 0;
    *reads = 0;
    must(use->batch_count > 0 && use->batch_count <= UINT8_MAX);
    const size_t block_count = list_blocks(use, NULL, NULL);
    const enum error_code rc = memory_new(&block, block_count, "the use of blocks", err);
    if (rc != ERROR_NONE)
        return rc;
    miss_logs(use, logs);
    (void)list_blocks(use, logs, block);
    spread_blocks(block, block_count, capacity);
    const struct row_limit limit = limit_rows(use, capacity);
    const double with_rows = reads_with_rows(use, block, block_count, limit, logs);
    const double with_blocks = reads_with_blocks(block, block_count);
    *count = with_rows <= with_blocks ? take_rows(use, limit, node)
                                      : take_blocks(block, block_count, node);
    *reads = fmin(with_rows, with_blocks);
    memory_free(block);
    return ERROR_NONE;
}

double cache_policy_reads(const struct use_counts *use, const struct feature_source *features)
{
    double reads = 0, logs[UINT8_MAX + 1];
    miss_logs(use, logs);
    for (int p = 0; p < use->part_count; p++)
        for (uint32_t v = use->book[p], end = 0; v < use->book[p + 1];) {
            const uint32_t left = use->book[p + 1] - v;
            double miss = 0;
            for (end = v + (left < FEATURE_BLOCK_ROWS ? left : FEATURE_BLOCK_ROWS); v < end; v++)
                miss += feature_source_has_cached(features, v) ? 0 : logs[use->count[v]];
            reads += -expm1(miss);
        }
    return reads;
}

/* --- sources --- */

/* A source whose rows may be cached. There is one for each node type that is not resident. */
struct looked_at {
    struct feature_source *source;
    const uint32_t *book; /* [part_count + 1] */
    uint8_t *count;       /* [nodes] */
    uint32_t most;        /* most rows that a batch wants */
    uint64_t used;        /* rows that all batches want together */
    uint64_t bytes;       /* room for its cached rows */
};

struct look {
    const struct batch_preparer *preparer;
    int part_count;
    uint32_t source_count;
    struct looked_at of[RELATION_TYPE_COUNT_MAX];
    uint32_t number[RELATION_TYPE_COUNT_MAX]; /* for each node type, its place in `of` + 1, or 0 */
};

static void begin_look(struct look *look, const struct batch_preparer *preparer)
{
    const struct node_features *features = preparer->features;
    *look = (struct look){.preparer = preparer, .part_count = preparer->context->book->part_count};
    for (uint32_t t = 0; t < features->type_count; t++) {
        if (!node_features_are_brought(features, t))
            continue;
        look->number[t] = look->source_count + 1;
        look->of[look->source_count++] =
            (struct looked_at){.source = features->source[t], .book = features->book[t]};
    }
}

static enum error_code new_counts(struct look *look, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint32_t i = 0; rc == ERROR_NONE && i < look->source_count; i++)
        rc = memory_new(&look->of[i].count, look->of[i].book[look->part_count], "the use of rows",
                        err);
    return rc;
}

static void release_counts(struct look *look)
{
    for (uint32_t i = 0; i < look->source_count; i++)
        memory_free(look->of[i].count);
}

static void count_nodes(struct looked_at *of, const uint32_t *node, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        of->count[node[i]]++;
    of->most = count > of->most ? count : of->most;
    of->used += count;
}

static void count_batch(struct look *look, const struct prepared_batch *batch)
{
    for (uint32_t t = 0; t < look->preparer->features->type_count; t++)
        if (look->number[t])
            count_nodes(&look->of[look->number[t] - 1], batch->number[t],
                        prepared_batch_count(batch, t));
}

/* Counts the nodes of the stored batches from `round` on. Returns the number of batches, at most
 * CACHE_POLICY_WINDOW. `batch` is scratch for their records. */
static int count_stored(struct look *look, int64_t round, struct prepared_batch *batch)
{
    const struct stage_context *context = look->preparer->context;
    const struct schedule *schedule = context->schedule;
    int seen = 0;
    for (; round < schedule->round_count; round++)
        for (int32_t slot = 0; slot < schedule_slot_count(schedule, round); slot++) {
            int64_t source_round = 0;
            int32_t source_slot = 0;
            schedule_batch_source(schedule, round, slot, &source_round, &source_slot);
            const struct key key = key_mini_batch(context->run_id, source_round, source_slot);
            if (seen == CACHE_POLICY_WINDOW ||
                prepared_batch_read(look->preparer, batch, &key, NULL) != ERROR_NONE)
                return seen;
            count_batch(look, batch);
            seen++;
        }
    return seen;
}

/* --- room --- */

/* Returns the bytes of a cache with all rows of a source. */
static uint64_t all_bytes(const struct look *look, const struct looked_at *of)
{
    return of->book[look->part_count] *
           (uint64_t)(feature_source_row_bytes(of->source) + 2 * sizeof(uint32_t));
}

static double weight_of(const struct looked_at *of)
{
    return (double)of->used * (double)feature_source_row_bytes(of->source);
}

/* Shares the room in proportion to the bytes that batches use of each type. No type gets more
 * than all of its rows take; the surplus goes to the others, so the loop repeats until no type
 * becomes full. */
static void share_room(struct look *look, uint64_t bytes)
{
    bool full[RELATION_TYPE_COUNT_MAX] = {false};
    for (uint32_t filled = 1; filled > 0;) {
        double weights = 0;
        filled = 0;
        for (uint32_t i = 0; i < look->source_count; i++)
            weights += full[i] ? 0 : weight_of(&look->of[i]);
        const uint64_t left = bytes;
        for (uint32_t i = 0; i < look->source_count && weights > 0; i++) {
            struct looked_at *of = &look->of[i];
            if (full[i])
                continue;
            of->bytes = (uint64_t)((double)left * (weight_of(of) / weights));
            if (of->bytes < all_bytes(look, of))
                continue;
            of->bytes = all_bytes(look, of);
            bytes -= of->bytes;
            full[i] = true;
            filled++;
        }
    }
}

/* Gives each source the bytes that its batches need, and shares the rest among the caches. */
static void give_room(struct look *look, uint64_t bytes)
{
    uint64_t needed = 0;
    for (uint32_t i = 0; i < look->source_count; i++) {
        feature_source_rest(look->of[i].source);
        needed += feature_shares_need(look->of[i].source, look->of[i].most, false);
    }
    share_room(look, bytes > needed ? bytes - needed : 0);
    for (uint32_t i = 0; i < look->source_count; i++) {
        struct looked_at *of = &look->of[i];
        feature_source_limit(of->source,
                             feature_shares_need(of->source, of->most, false) + of->bytes);
    }
}

/* --- the choice --- */

static enum error_code choose_rows(const struct look *look, const struct looked_at *of, int seen,
                                   struct error *err)
{
    const struct use_counts use = {of->count, seen, of->book, look->part_count};
    const size_t most = feature_source_cache_capacity(of->source, of->bytes);
    const uint64_t beside = /* `node`, and the memory that sorts it for reading */
        most * sizeof(uint32_t) + feature_source_visit_bytes(of->source, most);
    const uint64_t bytes = of->bytes - (beside < of->bytes ? beside : of->bytes);
    const size_t capacity = feature_source_cache_capacity(of->source, bytes);
    uint32_t *node = NULL;
    size_t count = 0;
    double reads = 0;
    enum error_code rc = memory_new(&node, capacity, "rows to keep", err);
    if (rc == ERROR_NONE)
        rc = cache_policy_make(&use, capacity, node, &count, &reads, err);
    if (rc == ERROR_NONE && (feature_source_cached(of->source) == 0 ||
                             reads < cache_policy_reads(&use, of->source) * (1 - worthwhile)))
        rc = feature_source_cache(of->source, node, count, bytes, err);
    memory_free(node);
    return rc;
}

static enum error_code choose(struct look *look, int64_t round, uint64_t bytes, int *seen,
                              struct error *err)
{
    struct prepared_batch batch = {0};
    enum error_code rc = new_counts(look, err);
    if (rc == ERROR_NONE)
        *seen = count_stored(look, round, &batch);
    mini_batch_release(&batch.batch);
    if (rc == ERROR_NONE && *seen)
        give_room(look, bytes);
    for (uint32_t i = 0; rc == ERROR_NONE && *seen && i < look->source_count; i++)
        rc = choose_rows(look, &look->of[i], *seen, err);
    return rc;
}

static unsigned count_kept(const struct look *look)
{
    unsigned count = 0;
    for (uint32_t i = 0; i < look->source_count; i++)
        count += feature_source_cached(look->of[i].source);
    return count;
}

/* Returns the room for cached rows: the budget minus areas, scratch and the counts of the
 * choice. */
static uint64_t room_to_keep(const struct batch_preparer *preparer, uint64_t area_bytes)
{
    const uint64_t areas = area_bytes > preparer->area_bytes ? area_bytes : preparer->area_bytes;
    const uint64_t beside = areas + preparer->scratch_bytes + preparer->context->book->node_count;
    return preparer->budget_bytes > beside ? preparer->budget_bytes - beside : 0;
}

/* Returns whether it is time to choose. Choosing again reads all cached rows again, so it is
 * only done if the last choice has seen few batches, or if there is much more room now. */
static bool is_time(struct cache_policy *policy, uint64_t bytes)
{
    const bool first = policy->units++ == 0;
    if (first || policy->units < UNITS_BETWEEN_LOOKS)
        return first;
    policy->units = 1;
    const bool saw_few = policy->seen < CACHE_POLICY_WINDOW && !policy->looked;
    policy->looked = true;
    return saw_few || bytes > policy->bytes + policy->bytes / ROOM_SHARE;
}

void cache_policy_refresh(struct cache_policy *policy, const struct batch_preparer *preparer,
                          uint64_t area_bytes, int64_t round)
{
    struct error err = {0};
    struct look look;
    int seen = 0;
    const uint64_t bytes = room_to_keep(preparer, area_bytes);
    if (!is_time(policy, bytes))
        return;
    begin_look(&look, preparer);
    const enum error_code rc = choose(&look, round, bytes, &seen, &err);
    release_counts(&look);
    policy->seen = seen;
    policy->bytes = bytes;
    if (rc == ERROR_NONE)
        log_info("%u rows of features are kept, chosen by %d mini-batches", count_kept(&look),
                 seen);
    else
        log_warn("no rows of features are kept: %s", err.message);
}
