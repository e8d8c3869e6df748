#include "store/records/batch/batch_discovery.h"

#include "common/numbers/packed_integers.h"

#include <stdbool.h>
#include <string.h>

/* Consecutive edges of one relation. */
struct edge_run {
    uint32_t relation, first, end;
};

/* The position of the walk over a batch's edges. */
struct edge_walk {
    const struct mini_batch *batch;
    uint32_t hop, relation;
    /* the next row of each relation, counted within the relation */
    uint32_t row[RELATION_COUNT_MAX];
    /* the number that the next new node of each type gets */
    uint32_t next[RELATION_TYPE_COUNT_MAX];
};

static struct edge_walk walk_begin(const struct mini_batch *batch)
{
    struct edge_walk walk = {.batch = batch};
    for (uint32_t t = 0; t < mini_batch_types(batch); t++)
        walk.next[t] = mini_batch_known(batch, t, 0);
    return walk;
}

/* Returns the rows of the relation that were expanded before the next hop; in forms other than
 * NESTED, all rows. */
static uint32_t rows_until(const struct edge_walk *walk, uint32_t relation, uint32_t rows)
{
    const struct mini_batch *batch = walk->batch;
    const uint32_t target = mini_batch_target_type(batch, relation);
    const uint32_t *row = batch->row + mini_batch_row_begin(batch, relation);
    uint32_t at = walk->row[relation];
    if (batch->form != BATCH_NESTED)
        return rows;
    while (at < rows && row[at] < mini_batch_known(batch, target, (int)walk->hop))
        at++;
    return at;
}

/* Sets *run to the next edges in the order of discovery, which may be none. Returns false at the
 * end. */
static bool walk_next(struct edge_walk *walk, struct edge_run *run)
{
    const struct mini_batch *batch = walk->batch;
    if (walk->hop >= (uint32_t)batch->hop_count)
        return false;
    const uint32_t r = walk->relation, begin = mini_batch_edge_begin(batch, r);
    const uint32_t rows = mini_batch_row_begin(batch, r + 1) - mini_batch_row_begin(batch, r);
    const uint32_t *start = mini_batch_row_starts(batch, r);
    const uint32_t end = rows_until(walk, r, rows);
    *run = (struct edge_run){r, begin + start[walk->row[r]], begin + start[end]};
    walk->row[r] = end;
    if (++walk->relation == mini_batch_relations(batch)) {
        walk->relation = 0;
        walk->hop++;
    }
    return true;
}

struct edge_discovery batch_discovery_mark(const struct mini_batch *batch, uint64_t *is_new)
{
    if (!batch->row)
        return edge_discovery_mark(batch->neighbor, batch->edge_count, batch->seed_count, is_new);
    struct edge_walk walk = walk_begin(batch);
    struct edge_discovery found = {.rest_count = batch->edge_count};
    struct edge_run run;
    uint32_t rest = 0;
    memset(is_new, 0, packed_integers_words(batch->edge_count, 1) * sizeof *is_new);
    while (walk_next(&walk, &run)) {
        uint32_t *next = &walk.next[mini_batch_source_type(batch, run.relation)];
        for (uint32_t e = run.first; e < run.end; e++) {
            const bool is_next = batch->neighbor[e] == *next;
            is_new[e / 64] |= (uint64_t)is_next << (e % 64);
            rest |= is_next ? 0 : batch->neighbor[e];
            *next += is_next;
            found.rest_count -= is_next;
        }
    }
    found.rest_width = packed_integers_width_of(rest);
    return found;
}

static bool is_marked(const uint64_t *is_new, uint32_t edge)
{
    return is_new[edge / 64] >> (edge % 64) & 1;
}

void batch_discovery_restore(const struct mini_batch *batch, const uint64_t *is_new,
                             uint64_t rest_count, uint32_t *neighbor)
{
    if (!batch->row) {
        edge_discovery_restore(is_new, batch->edge_count, rest_count, batch->seed_count, neighbor);
        return;
    }
    struct edge_walk walk = walk_begin(batch);
    struct edge_run run;
    const uint32_t *rest = neighbor + (batch->edge_count - rest_count);
    for (uint32_t e = 0; e < batch->edge_count; e++) /* reading never overtakes writing */
        if (!is_marked(is_new, e))
            neighbor[e] = *rest++;
    while (walk_next(&walk, &run)) {
        uint32_t *next = &walk.next[mini_batch_source_type(batch, run.relation)];
        for (uint32_t e = run.first; e < run.end; e++)
            if (is_marked(is_new, e))
                neighbor[e] = (*next)++;
    }
}
