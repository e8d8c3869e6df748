#include "stages/partition/rules/node_stream.h"

#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/numbers/random.h"
#include "stages/partition/layout/neighbor_walk.h"

#include <inttypes.h>
#include <string.h>

#define IN_NO_PART UINT32_MAX
enum { STILL_ONE_IN = 1000 };

/* The least loaded part of a class. In a pass that begins with empty parts loads only grow, so the
 * search goes on from here. */
struct least_part {
    uint32_t part, held;
};

struct node_stream {
    const struct partition_request *request;
    const struct stream_rule *rule;
    struct part_loads *loads;
    uint32_t *part; /* [node_count] */
    double edges_per_node;
    struct least_part least[NODE_CLASS_COUNT_MAX];
    const uint32_t *edge_cost; /* measured_loads.h; NULL: every edge is LOAD_ONE */
    /* [part_count] by LOAD_ONE, for the present node; owned, and so are the next. */
    uint64_t *neighbors;
    uint32_t *met; /* [part_count] parts with neighbours */
    uint32_t met_count;
    uint32_t *order; /* of a block's nodes; NULL: natural order */
    size_t order_capacity;
    uint32_t *bucket; /* nodes of a block by degree */
    size_t bucket_capacity;
    uint64_t moved;
};

/* --- the order of a block --- */

static uint64_t degree_of(const struct neighbor_block *block, uint32_t row)
{
    uint64_t degree = block->source_start[row + 1] - block->source_start[row];
    if (block->target_start)
        degree += block->target_start[row + 1] - block->target_start[row];
    return degree;
}

static void order_randomly(const struct node_stream *s, const struct neighbor_block *block)
{
    const struct random_stream stream =
        random_stream_of((uint64_t)s->request->settings->seed, RANDOM_STREAM_ORDER, 0, 0, 0);
    for (uint32_t i = 0; i < block->node_count; i++)
        s->order[i] = i;
    for (uint32_t i = block->node_count; i > 1; i--) {
        const uint32_t j = random_below(random_word(&stream, block->first_node + i - 1, 0), i);
        const uint32_t row = s->order[i - 1];
        s->order[i - 1] = s->order[j];
        s->order[j] = row;
    }
}

/* Orders by falling degree; nodes of equal degree keep their order. Degrees of 2^16 - 1 and more
 * count as equal. */
static enum error_code order_by_degree(struct node_stream *s, const struct neighbor_block *block,
                                       struct error *err)
{
    enum { BUCKETS = 1 << 16 };
    const enum error_code rc =
        memory_grow(&s->bucket, &s->bucket_capacity, BUCKETS + 1, "the degrees of a block", err);
    if (rc != ERROR_NONE)
        return rc;
    memset(s->bucket, 0, (BUCKETS + 1) * sizeof *s->bucket);
    for (uint32_t row = 0; row < block->node_count; row++) {
        const uint64_t degree = degree_of(block, row);
        s->bucket[degree < BUCKETS ? BUCKETS - degree : 1]++;
    }
    for (int b = 0; b < BUCKETS; b++)
        s->bucket[b + 1] += s->bucket[b];
    for (uint32_t row = 0; row < block->node_count; row++) {
        const uint64_t degree = degree_of(block, row);
        s->order[s->bucket[degree < BUCKETS ? BUCKETS - 1 - degree : 0]++] = row;
    }
    return ERROR_NONE;
}

static enum error_code order_block(struct node_stream *s, const struct neighbor_block *block,
                                   struct error *err)
{
    const int64_t order = s->request->settings->partition.order;
    if (order == STREAM_NATURAL)
        return ERROR_NONE;
    const enum error_code rc =
        memory_grow(&s->order, &s->order_capacity, block->node_count, "the order of a block", err);
    if (rc == ERROR_NONE && order == STREAM_DEGREE)
        return order_by_degree(s, block, err);
    if (rc == ERROR_NONE)
        order_randomly(s, block);
    return rc;
}

/* --- the part of a node --- */

/* Returns the cost of an edge to `target`, or of the edges in both directions. Half of the mean is
 * added: otherwise the loads of parts alone would place a node whose edges cost next to nothing,
 * and in later passes nodes that are read often would follow it. */
static uint64_t cost_of(const struct node_stream *s, uint32_t target, uint32_t other,
                        bool both_ways)
{
    if (!s->edge_cost)
        return LOAD_ONE;
    return LOAD_ONE / 2 + (uint64_t)s->edge_cost[target] + (both_ways ? s->edge_cost[other] : 0);
}

static void add_neighbor(struct node_stream *s, uint32_t neighbor, uint64_t cost)
{
    const uint32_t part = s->part[neighbor];
    if (part == IN_NO_PART)
        return;
    if (s->neighbors[part] == 0)
        s->met[s->met_count++] = part;
    s->neighbors[part] += cost;
}

static void meet_neighbors(struct node_stream *s, const struct neighbor_block *block, uint32_t row)
{
    const uint32_t node = block->first_node + row;
    for (uint32_t i = 0; i < s->met_count; i++)
        s->neighbors[s->met[i]] = 0;
    s->met_count = 0;
    const bool both_ways = !block->target_start;
    for (uint64_t e = block->source_start[row]; e < block->source_start[row + 1]; e++)
        if (block->source[e] != node)
            add_neighbor(s, block->source[e], cost_of(s, node, block->source[e], both_ways));
    if (both_ways)
        return;
    for (uint64_t e = block->target_start[row]; e < block->target_start[row + 1]; e++) {
        const uint32_t target = block->target[e - block->target_start[0]];
        if (target != node)
            add_neighbor(s, target, cost_of(s, target, node, false));
    }
}

struct candidate {
    uint32_t part;
    bool is_heavy, is_own;
    double worth;
    uint32_t held;
};

static bool is_better(const struct candidate *a, const struct candidate *b)
{
    if (a->is_heavy != b->is_heavy)
        return b->is_heavy;
    if (a->worth != b->worth)
        return a->worth > b->worth;
    if (a->is_own != b->is_own)
        return a->is_own;
    return a->held != b->held ? a->held < b->held : a->part < b->part;
}

static void consider(const struct node_stream *s, uint32_t node, uint32_t part,
                     struct candidate *best)
{
    const struct part_loads *loads = s->loads;
    if (!part_loads_may_take(loads, node, part))
        return;
    const uint32_t held = part_loads_of(loads, node, part);
    const struct candidate candidate = {
        .part = part,
        .is_heavy = part_loads_is_heavy(loads, node, part),
        .is_own = part == s->part[node],
        .worth = s->rule->worth((double)s->neighbors[part] / LOAD_ONE,
                                held / loads->class[loads->class_of[node]].mean, s->edges_per_node),
        .held = held,
    };
    if (best->part == IN_NO_PART || is_better(&candidate, best))
        *best = candidate;
}

/* Returns the part with the fewest nodes of the node's class, of several the lowest: the part that
 * is worth most among those without neighbours. */
static uint32_t least_loaded(struct node_stream *s, uint32_t node)
{
    struct least_part *least = &s->least[s->loads->class_of[node]];
    while (part_loads_of(s->loads, node, least->part) > least->held)
        if (++least->part == s->loads->part_count)
            *least = (struct least_part){.held = least->held + 1};
    return least->part;
}

static uint32_t best_part(struct node_stream *s, uint32_t node)
{
    struct candidate best = {.part = IN_NO_PART};
    for (uint32_t i = 0; i < s->met_count; i++)
        consider(s, node, s->met[i], &best);
    if (s->rule->in_place)
        consider(s, node, s->part[node], &best);
    else
        consider(s, node, least_loaded(s, node), &best);
    must(best.part != IN_NO_PART); /* part_loads.h: some part may always take it */
    return best.part;
}

static void place(struct node_stream *s, uint32_t node)
{
    const uint32_t old = s->part[node];
    if (s->rule->only_new && old != IN_NO_PART)
        return;
    if (s->rule->in_place) {
        if (!part_loads_may_give(s->loads, node, old))
            return;
        part_loads_give(s->loads, node, old);
    }
    const uint32_t part = best_part(s, node);
    part_loads_take(s->loads, node, part);
    s->moved += part != old;
    s->part[node] = part;
}

static enum error_code stream_block(void *context, const struct neighbor_block *block,
                                    struct error *err)
{
    struct node_stream *s = context;
    const enum error_code rc = order_block(s, block, err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < block->node_count; i++) {
        const uint32_t row = s->order ? s->order[i] : i;
        meet_neighbors(s, block, row);
        place(s, block->first_node + row);
    }
    return rc;
}

/* --- passes --- */

static enum error_code run_passes(struct node_stream *s, struct neighbor_walk *walk, int64_t passes,
                                  struct error *err)
{
    const uint32_t node_count = s->loads->node_count;
    enum error_code rc = ERROR_NONE;
    for (int64_t pass = 1; rc == ERROR_NONE && pass <= passes; pass++) {
        s->moved = 0;
        if (!s->rule->in_place && !s->rule->only_new)
            part_loads_reset(s->loads);
        memset(s->least, 0, sizeof s->least);
        rc = neighbor_walk_pass(walk, stream_block, s, err);
        if (rc == ERROR_NONE)
            log_info("%s pass=%" PRId64 " moved=%.4f", s->rule->name, pass,
                     (double)s->moved / node_count);
        if (s->moved * STILL_ONE_IN < node_count)
            break;
    }
    return rc;
}

enum error_code node_stream_run(const struct partition_request *request,
                                const struct stream_rule *rule, int64_t passes,
                                struct part_loads *loads,
                                uint32_t *part, // NOLINT(readability-non-const-parameter): filled
                                struct error *err)
{
    const struct dataset_schema *schema = request->schema;
    struct node_stream s = {
        .request = request,
        .rule = rule,
        .loads = loads,
        .part = part,
        .edge_cost = request->loads ? request->loads->edge_cost : NULL,
        .edges_per_node =
            (double)schema->edge_count / (schema->undirected ? 2 : 1) / schema->node_count,
    };
    struct neighbor_walk walk = {0};
    enum error_code rc =
        memory_new(&s.neighbors, loads->part_count, "the parts of neighbours", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&s.met, loads->part_count, "the parts of neighbours", err);
    if (rc == ERROR_NONE)
        rc = neighbor_walk_open(&walk, request->store, schema, request->budget_bytes, err);
    if (rc == ERROR_NONE) {
        rc = run_passes(&s, &walk, passes, err);
        neighbor_walk_close(&walk);
    }
    memory_free(s.neighbors);
    memory_free(s.met);
    memory_free(s.order);
    memory_free(s.bucket);
    return rc;
}

enum error_code node_stream_assign(const struct partition_request *request,
                                   const struct stream_rule *rule, uint32_t *part,
                                   struct error *err)
{
    struct part_loads loads = {0};
    enum error_code rc = part_loads_init(&loads, request, err);
    if (rc == ERROR_NONE && rule->in_place)
        part_loads_scatter(&loads, request->settings->seed, part);
    else if (rc == ERROR_NONE)
        memset(part, 0xff, loads.node_count * sizeof *part);
    if (rc == ERROR_NONE)
        rc = node_stream_run(request, rule, request->settings->partition.passes, &loads, part, err);
    part_loads_release(&loads);
    return rc;
}
