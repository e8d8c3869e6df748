#include "stages/train-step/batch_bounds.h"

#include "stages/sampling/sampler.h"

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* `fanouts` with no items: all neighbours. */
static struct batch_bounds bound_nested(double seeds, const struct int_list *fanouts, int hop_count,
                                        const struct partition_book *book)
{
    const double node_count = book->node_count, edge_count = (double)book->edge_count;
    struct batch_bounds bounds = {.node = {smaller(seeds, node_count)}, .is_nested = true};
    double added = bounds.node[0];
    for (int h = 0; h < hop_count; h++) {
        const int64_t fanout = h < fanouts->count ? fanouts->value[h] : -1;
        const double read = fanout < 0 ? edge_count : smaller(added * (double)fanout, edge_count);
        bounds.edge[h + 1] = smaller(bounds.edge[h] + read, edge_count);
        bounds.node[h + 1] = smaller(bounds.node[h] + read, node_count);
        added = bounds.node[h + 1] - bounds.node[h];
    }
    bounds.row_count = hop_count ? bounds.node[hop_count - 1] : 0;
    bounds.edge_count = bounds.edge[hop_count];
    return bounds;
}

/* Of whole graphs, whose nodes are all seeds: hops find no others. */
static struct batch_bounds bound_graphs(double graphs, double seeds, const struct int_list *fanouts,
                                        int hop_count, const struct partition_book *book)
{
    const double all = smaller(graphs * (double)book->graph_edges_most, (double)book->edge_count);
    struct batch_bounds bounds = {.node = {seeds}, .is_nested = true};
    for (int h = 0; h < hop_count; h++) {
        const int64_t fanout = h < fanouts->count ? fanouts->value[h] : -1;
        const double read = fanout < 0 ? all : seeds * (double)fanout;
        bounds.node[h + 1] = seeds;
        bounds.edge[h + 1] = larger(bounds.edge[h], h ? 0 : read); /* the first hop expands all */
    }
    bounds.row_count = hop_count ? seeds : 0;
    bounds.edge_count = bounds.edge[hop_count];
    return bounds;
}

/* Each seed has a neighbourhood of its own. */
static struct batch_bounds bound_disjoint(double seeds, const struct int_list *fanouts,
                                          int hop_count, const struct partition_book *book)
{
    struct batch_bounds bounds = bound_nested(1, fanouts, hop_count, book);
    for (int h = 0; h <= hop_count; h++) {
        bounds.node[h] *= seeds;
        bounds.edge[h] *= seeds;
    }
    bounds.row_count *= seeds;
    bounds.edge_count *= seeds;
    return bounds;
}

static struct batch_bounds bound_layered(double seeds, const struct int_list *fanouts,
                                         int hop_count, const struct partition_book *book)
{
    const double node_count = book->node_count, edge_count = (double)book->edge_count;
    struct batch_bounds bounds = {.node = {smaller(seeds, node_count)}, .has_factors = true};
    for (int h = 0; h < hop_count; h++) {
        const double drawn = fanouts->value[h] < 0 ? node_count : (double)fanouts->value[h];
        bounds.node[h + 1] = smaller(bounds.node[h] + drawn, node_count);
        bounds.edge[h + 1] = edge_count;
        bounds.row_count += bounds.node[h];
        bounds.edge_count += edge_count;
    }
    return bounds;
}

static double largest_part(const struct partition_book *book)
{
    double largest = 0;
    for (int p = 0; p < book->part_count; p++)
        largest = larger(largest, (double)book->book[p + 1] - (double)book->book[p]);
    return largest;
}

double batch_bounds_subgraph(const struct stage_context *context)
{
    const struct subgraph_limits limits = {.options = &context->settings->sample.option,
                                           .draws = (double)context->settings->sample.batch_size,
                                           .seeds = (double)context->schedule->batch_size,
                                           .largest_part = largest_part(context->book),
                                           .node_count = context->book->node_count,
                                           .relations = partition_book_relations(context->book)};
    return pipeline_sampler(context->settings)->most_nodes(&limits);
}

static struct batch_bounds bound_subgraphs(const struct stage_context *context, int hop_count)
{
    const struct partition_book *book = context->book;
    const struct sampler *sampler = pipeline_sampler(context->settings);
    const double nodes = smaller(batch_bounds_subgraph(context), book->node_count);
    const double edges = smaller((double)book->edge_count, nodes * nodes);
    const double apart = sampler->is_disjoint ? (double)context->schedule->batch_size : 1;
    struct batch_bounds bounds = {.has_factors = sampler->has_factors,
                                  .row_count = apart * nodes,
                                  .edge_count = apart * edges};
    bounds.node[0] =
        sampler->is_disjoint ? apart : smaller((double)context->schedule->train_count, nodes);
    for (int h = 0; h < hop_count; h++) {
        bounds.node[h + 1] = apart * nodes;
        bounds.edge[h + 1] = apart * edges;
    }
    return bounds;
}

struct batch_bounds batch_bounds_of_training(const struct stage_context *context, int hop_count)
{
    const struct sampler *sampler = pipeline_sampler(context->settings);
    const struct int_list *fanouts = &context->settings->sample.fanouts;
    const double seeds = (double)context->schedule->seeds_most;
    if (context->book->graph_count)
        return bound_graphs((double)context->schedule->batch_size, seeds, fanouts, hop_count,
                            context->book);
    if (sampler->form == BATCH_SUBGRAPH)
        return bound_subgraphs(context, hop_count);
    if (sampler->form == BATCH_LAYERED)
        return bound_layered(seeds, fanouts, hop_count, context->book);
    return sampler->is_disjoint ? bound_disjoint(seeds, fanouts, hop_count, context->book)
                                : bound_nested(seeds, fanouts, hop_count, context->book);
}

struct batch_bounds batch_bounds_of_validation(const struct stage_context *context, int hop_count)
{
    const struct sampler *sampler = pipeline_sampler(context->settings);
    const struct int_list *fanouts = &context->settings->sample.evaluation_fanouts;
    const double seeds = (double)context->schedule->evaluation_seeds_most;
    if (context->book->graph_count)
        return bound_graphs((double)context->schedule->evaluation_batch_size, seeds, fanouts,
                            hop_count, context->book);
    return sampler->has_neighborhoods && sampler->is_disjoint
               ? bound_disjoint(seeds, fanouts, hop_count, context->book)
               : bound_nested(seeds, fanouts, hop_count, context->book);
}
