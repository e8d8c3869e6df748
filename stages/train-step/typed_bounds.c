#include "stages/train-step/typed_bounds.h"

#include "common/base/memory.h"
#include "stages/plan/relation_fanouts.h"
#include "stages/sampling/sampler.h"
#include "stages/train-step/batch_bounds.h"
#include "store/topology/topology.h"

#include <math.h>

enum error_code typed_bounds_edges(const struct stage_context *context, uint64_t *out,
                                   struct error *err)
{
    struct topology topology;
    const uint32_t relations = partition_book_relations(context->book);
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

static double nodes_of_type(const struct partition_book *book, uint32_t type)
{
    const struct type_ranges ranges = partition_book_ranges(book);
    double count = 0;
    for (int p = 0; p < ranges.part_count; p++)
        count += type_ranges_count(&ranges, p, type);
    return count;
}

/* Bounds one neighbourhood of out->seeds seeds, as the sampler goes: each node is expanded once, at
 * the hop behind the one that found it, in all relations that end in its type. */
static void bound_neighborhood(const struct partition_book *book, const uint64_t *relation_edges,
                               const int64_t *fanout, struct typed_bounds *out)
{
    const uint32_t relations = out->relation_count;
    double added[RELATION_TYPE_COUNT_MAX] = {0}, all[RELATION_TYPE_COUNT_MAX];
    for (uint32_t t = 0; t < out->type_count; t++)
        all[t] = nodes_of_type(book, t);
    const double seeds = out->seeds;
    double most = 0; /* of all types that may be seeds: of pairs any */
    for (uint32_t t = 0; t < out->type_count; t++)
        if (task_has(book->task, TASK_SEEDS_ALL_TYPES) || t == book->target_type) {
            out->node[0][t] = added[t] = fmin(seeds, all[t]);
            most += out->node[0][t];
        }
    out->seeds = fmin(seeds, most);
    for (int h = 0; h < out->hop_count; h++) {
        double *before = out->node[h], *known = out->node[h + 1];
        for (uint32_t t = 0; t < out->type_count; t++)
            known[t] = before[t];
        for (uint32_t r = 0; r < relations; r++) {
            const struct relation *relation = partition_book_relation(book, r);
            const int64_t kept = fanout[(size_t)r * (size_t)out->hop_count + (size_t)h];
            const double from = added[relation->target_type], edges = (double)relation_edges[r];
            const double read = from > 0 && kept < 0 ? edges : fmin(from * (double)kept, edges);
            const double read_before = typed_bounds_edges_at(out, h, r);
            out->edge[(size_t)(h + 1) * relations + r] = fmin(read_before + fmax(read, 0), edges);
            known[relation->source_type] =
                fmin(known[relation->source_type] + fmax(read, 0), all[relation->source_type]);
        }
        for (uint32_t t = 0; t < out->type_count; t++)
            added[t] = known[t] - before[t];
    }
}

/* Bounds one subgraph: the same nodes and edges for all layers. */
static void bound_subgraph(const struct stage_context *context, const uint64_t *relation_edges,
                           struct typed_bounds *out)
{
    const struct partition_book *book = context->book;
    const double nodes = batch_bounds_subgraph(context);
    out->seeds = fmin(out->seeds, nodes);
    out->node[0][book->target_type] = out->seeds;
    for (int h = 1; h <= out->hop_count; h++) {
        for (uint32_t t = 0; t < out->type_count; t++)
            out->node[h][t] = fmin(nodes, nodes_of_type(book, t));
        for (uint32_t r = 0; r < out->relation_count; r++)
            out->edge[(size_t)h * out->relation_count + r] =
                fmin((double)relation_edges[r], nodes * nodes);
    }
}

/* Bounds layers that draw for all nodes so far. An edge may be in each of them. */
static void bound_layers(const struct partition_book *book, const uint64_t *relation_edges,
                         const int64_t *fanout, struct typed_bounds *out)
{
    const uint32_t relations = out->relation_count;
    out->seeds = fmin(out->seeds, nodes_of_type(book, book->target_type));
    out->node[0][book->target_type] = out->seeds;
    for (int h = 0; h < out->hop_count; h++) {
        double *known = out->node[h + 1];
        for (uint32_t t = 0; t < out->type_count; t++)
            known[t] = out->node[h][t];
        for (uint32_t r = 0; r < relations; r++) {
            const uint32_t source = partition_book_relation(book, r)->source_type;
            const int64_t drawn = fanout[(size_t)r * (size_t)out->hop_count + (size_t)h];
            const double all = nodes_of_type(book, source);
            known[source] = drawn < 0 ? all : fmin(known[source] + (double)drawn, all);
            out->edge[(size_t)(h + 1) * relations + r] = (h + 1.0) * (double)relation_edges[r];
        }
    }
}

/* Bounds a batch: one of all seeds, or one for each of them where they are disjoint. */
static void bound(const struct stage_context *context, const uint64_t *relation_edges,
                  const int64_t *fanout, enum batch_form form, bool is_disjoint,
                  struct typed_bounds *out)
{
    const double apart = is_disjoint ? out->seeds : 1;
    out->seeds /= apart;
    if (form == BATCH_SUBGRAPH)
        bound_subgraph(context, relation_edges, out);
    else if (form == BATCH_LAYERED)
        bound_layers(context->book, relation_edges, fanout, out);
    else
        bound_neighborhood(context->book, relation_edges, fanout, out);
    out->seeds *= apart;
    for (int h = 0; h <= out->hop_count; h++) {
        for (uint32_t t = 0; t < out->type_count; t++)
            out->node[h][t] *= apart;
        for (uint32_t r = 0; r < out->relation_count; r++)
            out->edge[(size_t)h * out->relation_count + r] *= apart;
    }
}

static enum error_code begin(const struct stage_context *context, int64_t seeds,
                             struct typed_bounds *out, int64_t **fanout, struct error *err)
{
    const uint32_t relations = partition_book_relations(context->book);
    const size_t hops = (size_t)context->settings->sample.fanouts.count;
    *out = (struct typed_bounds){.hop_count = (int)hops,
                                 .type_count = partition_book_types(context->book),
                                 .relation_count = relations,
                                 .seeds = (double)seeds};
    *fanout = NULL;
    const enum error_code rc =
        memory_new(&out->edge, (hops + 1) * relations, "the bounds of a mini-batch", err);
    return rc == ERROR_NONE ? memory_new(fanout, hops * relations, "fan-outs of relations", err)
                            : rc;
}

enum error_code typed_bounds_of_training(const struct stage_context *context,
                                         const uint64_t *relation_edges, struct typed_bounds *out,
                                         struct error *err)
{
    const struct sampler *sampler = pipeline_sampler(context->settings);
    int64_t *fanout = NULL;
    int64_t seeds = context->schedule->seeds_most;
    if (sampler->form == BATCH_SUBGRAPH && !sampler->is_disjoint) /* its own training nodes */
        seeds = context->schedule->train_count;
    enum error_code rc = begin(context, seeds, out, &fanout, err);
    if (rc == ERROR_NONE)
        rc = relation_fanouts_of(context->settings, context->book->relation, out->relation_count,
                                 fanout, err);
    if (rc == ERROR_NONE)
        bound(context, relation_edges, fanout, sampler->form, sampler->is_disjoint, out);
    out->has_factors = sampler->has_factors;
    memory_free(fanout);
    return rc;
}

enum error_code typed_bounds_of_validation(const struct stage_context *context,
                                           const uint64_t *relation_edges, struct typed_bounds *out,
                                           struct error *err)
{
    const struct sampler *sampler = pipeline_sampler(context->settings);
    int64_t *fanout = NULL;
    const enum error_code rc =
        begin(context, context->schedule->evaluation_seeds_most, out, &fanout, err);
    if (rc == ERROR_NONE) {
        relation_fanouts_of_evaluation(context->settings, out->relation_count, fanout);
        bound(context, relation_edges, fanout, BATCH_NESTED,
              sampler->has_neighborhoods && sampler->is_disjoint, out);
    }
    memory_free(fanout);
    return rc;
}

void typed_bounds_release(struct typed_bounds *bounds)
{
    memory_free(bounds->edge);
    *bounds = (struct typed_bounds){0};
}

double typed_bounds_nodes(const struct typed_bounds *bounds)
{
    double count = 0;
    for (uint32_t t = 0; t < bounds->type_count; t++)
        count += bounds->node[bounds->hop_count][t];
    return count;
}

double typed_bounds_all_edges(const struct typed_bounds *bounds)
{
    double count = 0;
    for (uint32_t r = 0; r < bounds->relation_count; r++)
        count += typed_bounds_edges_at(bounds, bounds->hop_count, r);
    return count;
}
