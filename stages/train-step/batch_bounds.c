#include "stages/train-step/batch_bounds.h"

#include "common/base/memory.h"
#include "stages/plan/settings/relation_fanouts.h"
#include "stages/sampling/samplers/sampler.h"
#include "store/topology/topology.h"

#include <math.h>

enum error_code batch_bounds_edges(const struct stage_context *context, uint64_t *out,
                                   struct error *err)
{
    struct topology topology;
    const uint32_t relations = partition_book_relations(context->book);
    *out = context->book->edge_count;
    if (relations == 1) /* it has all edges */
        return ERROR_NONE;
    const enum error_code rc = topology_open(context->store, context->book, &topology, err);
    if (rc != ERROR_NONE)
        return rc;
    for (uint32_t r = 0; r < relations; r++) {
        out[r] = 0;
        for (int p = 0; p < topology.part_count; p++)
            out[r] += topology_rows(&topology, p, r)->edge_count;
    }
    topology_close(&topology);
    return ERROR_NONE;
}

/* The limits that bound a batch. */
struct limits {
    const struct stage_context *context;
    const uint64_t *edges;                 /* [relations]: edges in the whole graph */
    const int64_t *fanout;                 /* [relations, hops] */
    double nodes[RELATION_TYPE_COUNT_MAX]; /* [types]: nodes in the whole graph */
    enum batch_form form;
    double graphs; /* whole graphs in a batch, in a task of graphs; otherwise 0 */
};

static const struct relation *relation_of(const struct limits *limits, uint32_t relation)
{
    return partition_book_relation(limits->context->book, relation);
}

static int64_t fanout_of(const struct limits *limits, const struct batch_bounds *out,
                         uint32_t relation, int hop)
{
    return limits->fanout[(size_t)relation * (size_t)out->hop_count + (size_t)hop];
}

static double *edge_of(struct batch_bounds *out, int hop, uint32_t relation)
{
    return &out->edge[(size_t)hop * out->relation_count + relation];
}

static void copy_types(const double *from, uint32_t type_count, double *to)
{
    for (uint32_t t = 0; t < type_count; t++)
        to[t] = from[t];
}

/* Bounds one neighbourhood of out->seeds seeds. Like the sampler, it expands each node once, at
 * the hop after the one that found it, in all relations that end in its type. */
static void bound_neighborhood(const struct limits *limits, struct batch_bounds *out)
{
    const struct partition_book *book = limits->context->book;
    double added[RELATION_TYPE_COUNT_MAX] = {0};
    double most = 0; /* nodes of all types that may be seeds; any type in a task of pairs */
    for (uint32_t t = 0; t < out->type_count; t++)
        if (task_has(book->task, TASK_SEEDS_ALL_TYPES) || t == book->target_type) {
            out->node[0][t] = added[t] = fmin(out->seeds, limits->nodes[t]);
            most += out->node[0][t];
        }
    out->seeds = fmin(out->seeds, most);
    for (int h = 0; h < out->hop_count; h++) {
        double *before = out->node[h], *known = out->node[h + 1];
        copy_types(before, out->type_count, known);
        for (uint32_t r = 0; r < out->relation_count; r++) {
            const struct relation *relation = relation_of(limits, r);
            const int64_t kept = fanout_of(limits, out, r, h);
            const double from = added[relation->target_type], edges = (double)limits->edges[r];
            const double read = from > 0 && kept < 0 ? edges : fmin(from * (double)kept, edges);
            *edge_of(out, h + 1, r) = fmin(batch_bounds_edges_at(out, h, r) + fmax(read, 0), edges);
            known[relation->source_type] = fmin(known[relation->source_type] + fmax(read, 0),
                                                limits->nodes[relation->source_type]);
        }
        for (uint32_t t = 0; t < out->type_count; t++)
            added[t] = known[t] - before[t];
    }
}

/* Bounds whole graphs. All their nodes are seeds, so the hops find no other nodes, and the first
 * hop expands all. */
static void bound_graphs(const struct limits *limits, struct batch_bounds *out)
{
    const double most = limits->graphs * (double)limits->context->book->graph_edges_most;
    for (int h = 0; h <= out->hop_count; h++)
        for (uint32_t t = 0; t < out->type_count; t++)
            out->node[h][t] = fmin(out->seeds, limits->nodes[t]);
    for (int h = 0; h < out->hop_count; h++)
        for (uint32_t r = 0; r < out->relation_count; r++) {
            const int64_t kept = fanout_of(limits, out, r, 0);
            *edge_of(out, h + 1, r) =
                kept < 0 ? fmin(most, (double)limits->edges[r]) : out->seeds * (double)kept;
        }
}

static double largest_part(const struct partition_book *book)
{
    double largest = 0;
    for (int p = 0; p < book->part_count; p++)
        largest = fmax(largest, (double)book->book[p + 1] - (double)book->book[p]);
    return largest;
}

/* Returns the most nodes that a subgraph has; in a disjoint batch, the subgraph of one seed. */
static double subgraph_nodes(const struct stage_context *context)
{
    const struct subgraph_limits limits = {.options = &context->settings->sample.option,
                                           .draws = (double)context->settings->sample.batch_size,
                                           .seeds = (double)context->schedule->batch_size,
                                           .largest_part = largest_part(context->book),
                                           .node_count = context->book->node_count,
                                           .relations = partition_book_relations(context->book)};
    return pipeline_sampler(context->settings)->most_nodes(&limits);
}

/* Bounds one subgraph, which has the same nodes and edges in all layers. */
static void bound_subgraph(const struct limits *limits, struct batch_bounds *out)
{
    const double nodes = subgraph_nodes(limits->context);
    out->seeds = fmin(out->seeds, nodes);
    out->node[0][limits->context->book->target_type] = out->seeds;
    for (int h = 1; h <= out->hop_count; h++) {
        for (uint32_t t = 0; t < out->type_count; t++)
            out->node[h][t] = fmin(nodes, limits->nodes[t]);
        for (uint32_t r = 0; r < out->relation_count; r++)
            *edge_of(out, h, r) = fmin((double)limits->edges[r], nodes * nodes);
    }
}

/* Bounds layers that draw nodes for all nodes found so far. Each layer may contain any edge. */
static void bound_layers(const struct limits *limits, struct batch_bounds *out)
{
    const uint32_t target = limits->context->book->target_type;
    out->seeds = fmin(out->seeds, limits->nodes[target]);
    out->node[0][target] = out->seeds;
    for (int h = 0; h < out->hop_count; h++) {
        double *known = out->node[h + 1];
        copy_types(out->node[h], out->type_count, known);
        for (uint32_t r = 0; r < out->relation_count; r++) {
            const uint32_t source = relation_of(limits, r)->source_type;
            const int64_t drawn = fanout_of(limits, out, r, h);
            const double all = limits->nodes[source];
            known[source] = drawn < 0 ? all : fmin(known[source] + (double)drawn, all);
            *edge_of(out, h + 1, r) = (double)limits->edges[r];
        }
    }
}

/* Adds up the contents of the record: the rows and edges of every layer of a LAYERED batch,
 * otherwise those of the largest layer. */
static void add_up(const struct limits *limits, struct batch_bounds *out)
{
    const int hops = out->hop_count;
    for (int h = limits->form == BATCH_LAYERED || hops == 0 ? 0 : hops - 1; h < hops; h++)
        for (uint32_t r = 0; r < out->relation_count; r++) {
            const double *known = out->node[limits->form == BATCH_SUBGRAPH ? h + 1 : h];
            const double rows = known[relation_of(limits, r)->target_type];
            const double edges = batch_bounds_edges_at(out, h + 1, r);
            out->row_count += out->lists_rows ? fmin(rows, edges) : rows;
            out->edge_count += edges;
        }
    for (uint32_t t = 0; t < out->type_count; t++)
        out->node_count += out->node[hops][t];
}

/* Bounds a batch: one neighbourhood of all seeds, or one per seed if they are disjoint. */
static void bound(const struct limits *limits, struct batch_bounds *out)
{
    const double apart = out->is_disjoint ? out->seeds : 1;
    out->seeds /= apart;
    if (limits->graphs > 0)
        bound_graphs(limits, out);
    else if (limits->form == BATCH_SUBGRAPH)
        bound_subgraph(limits, out);
    else if (limits->form == BATCH_LAYERED)
        bound_layers(limits, out);
    else
        bound_neighborhood(limits, out);
    out->seeds *= apart;
    for (int h = 0; h <= out->hop_count; h++) {
        for (uint32_t t = 0; t < out->type_count; t++)
            out->node[h][t] *= apart;
        for (uint32_t r = 0; r < out->relation_count; r++)
            *edge_of(out, h, r) *= apart;
    }
    add_up(limits, out);
}

/* Returns the most seeds that a batch has. The seeds of a subgraph are its training nodes. */
static int64_t seeds_of(const struct stage_context *context, const struct sampler *sampler,
                        bool trains)
{
    const struct schedule *s = context->schedule;
    if (trains && sampler->form == BATCH_SUBGRAPH && !sampler->is_disjoint)
        return s->train_count;
    return trains ? s->seeds_most : s->evaluation_seeds_most;
}

static enum error_code find_fanouts(const struct stage_context *context, uint32_t relations,
                                    bool trains, int64_t *out, struct error *err)
{
    if (trains)
        return relation_fanouts_of(context->settings, partition_book_relation(context->book, 0),
                                   relations, out, err);
    relation_fanouts_of_evaluation(context->settings, relations, out);
    return ERROR_NONE;
}

enum error_code batch_bounds_find(const struct stage_context *context,
                                  const uint64_t *relation_edges, bool trains,
                                  struct batch_bounds *out, struct error *err)
{
    const struct partition_book *book = context->book;
    const struct type_ranges ranges = partition_book_ranges(book);
    const struct schedule *s = context->schedule;
    const struct sampler *sampler = pipeline_sampler(context->settings);
    const uint32_t relations = partition_book_relations(book);
    const size_t hops = (size_t)context->settings->sample.fanouts.count;
    const bool of_graphs = book->graph_count > 0;
    struct limits limits = {.context = context,
                            .edges = relation_edges,
                            .form = trains && !of_graphs ? sampler->form : BATCH_NESTED};
    int64_t *fanout = NULL;
    if (of_graphs)
        limits.graphs = (double)(trains ? s->batch_size : s->evaluation_batch_size);
    *out = (struct batch_bounds){.hop_count = (int)hops,
                                 .type_count = ranges.type_count,
                                 .relation_count = relations,
                                 .seeds = (double)seeds_of(context, sampler, trains),
                                 .is_nested = limits.form == BATCH_NESTED,
                                 .has_factors = trains && sampler->has_factors,
                                 .is_disjoint = sampler->is_disjoint && !of_graphs &&
                                                (trains || sampler->has_neighborhoods),
                                 .lists_rows = partition_book_lists_rows(book)};
    for (uint32_t t = 0; t < ranges.type_count; t++)
        limits.nodes[t] = type_ranges_before(&ranges, ranges.part_count, t);
    enum error_code rc =
        memory_new(&out->edge, (hops + 1) * relations, "the bounds of a mini-batch", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&fanout, hops * relations, "fan-outs of relations", err);
    if (rc == ERROR_NONE)
        rc = find_fanouts(context, relations, trains, fanout, err);
    limits.fanout = fanout;
    if (rc == ERROR_NONE)
        bound(&limits, out);
    memory_free(fanout);
    return rc;
}

void batch_bounds_release(struct batch_bounds *bounds)
{
    memory_free(bounds->edge);
    *bounds = (struct batch_bounds){0};
}
