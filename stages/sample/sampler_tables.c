#include "stages/sample/sampler_tables.h"

#include "common/base/memory.h"
#include "stages/sampling/samplers/graphsaint.h"

uint64_t sampler_tables_bytes(const struct stage_context *context, const struct topology *topology)
{
    const struct sampler *sampler = pipeline_sampler(context->settings);
    uint64_t bytes = 0;
    if (sampler->knows_training)
        bytes += topology->node_count / 8;
    if (sampler->chances)
        bytes += node_chances_bytes(sampler->chances, topology);
    if (context->schedule->counts_walks)
        bytes += walk_norm_bytes(topology);
    return bytes;
}

static enum error_code mark_training(const struct topology *topology,
                                     const struct node_splits *splits, uint64_t **out,
                                     struct error *err)
{
    const enum error_code rc =
        memory_new(out, topology->node_count / 64 + (size_t)1, "the training nodes", err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < splits->count[SPLIT_TRAIN]; i++) {
        const uint32_t node = splits->node[SPLIT_TRAIN][i];
        (*out)[node / 64] |= UINT64_C(1) << (node % 64);
    }
    return rc;
}

enum error_code sampler_tables_count(const struct stage_context *context,
                                     const struct topology *topology,
                                     const struct node_splits *splits,
                                     struct neighbor_sampler *sampler, struct error *err)
{
    const struct neighbor_request request = {.seed = context->schedule->seed,
                                             .options = &context->settings->sample.option};
    struct drawn_walks walks;
    const struct walk_draw_config config = {
        .sampler = sampler,
        .request = &request,
        .train = splits->node[SPLIT_TRAIN],
        .train_count = splits->count[SPLIT_TRAIN],
        .roots = (uint32_t)context->schedule->batch_size,
    };
    enum error_code rc = drawn_walks_count(&walks, topology, &config, err);
    if (rc != ERROR_NONE)
        return rc;
    const struct walk_counts counts = {.drawn = walks.drawn,
                                       .node_count = topology->node_count,
                                       .node = walks.node,
                                       .edge_count = topology->edge_count,
                                       .edge = walks.edge};
    stage_times_enter(context->times, TIME_WRITE);
    rc = walk_counts_put(context->store, context->run_id, &counts, err);
    drawn_walks_release(&walks);
    return rc;
}

enum error_code sampler_tables_read_counts(const struct stage_context *context,
                                           const struct topology *topology,
                                           const struct node_splits *splits,
                                           struct sampler_tables *tables, struct error *err)
{
    if (!context->schedule->counts_walks || tables->walk_norm.node)
        return ERROR_NONE;
    enum error_code rc = walk_counts_get(context->store, context->run_id, &tables->counts, err);
    if (rc == ERROR_NONE)
        rc = walk_norm_init(&tables->walk_norm, &tables->counts, topology,
                            splits->node[SPLIT_TRAIN], splits->count[SPLIT_TRAIN], err);
    if (rc != ERROR_NONE) {
        walk_norm_release(&tables->walk_norm);
        store_release_record(&tables->counts.view);
    }
    return rc;
}

enum error_code sampler_tables_open(const struct stage_context *context,
                                    const struct topology *topology,
                                    const struct node_splits *splits, struct sampler_tables *out,
                                    struct error *err)
{
    const struct sampler *row = pipeline_sampler(context->settings);
    enum error_code rc = ERROR_NONE;
    if (row->knows_training)
        rc = mark_training(topology, splits, &out->is_training, err);
    if (rc == ERROR_NONE && row->chances)
        rc = node_chances_new(row->chances, topology, &out->chances, err);
    must(rc != ERROR_NONE || !row->chances == !out->chances);
    out->table_count = 0;
    if (out->chances && row->chances)
        out->table_count = node_chances_tables(row->chances, topology);
    if (rc == ERROR_NONE && out->chances && row->knows_training)
        out->chances->mean =
            graphsaint_mean(out->chances, (uint32_t)context->settings->sample.batch_size,
                            splits->node[SPLIT_TRAIN], splits->count[SPLIT_TRAIN]);
    if (rc == ERROR_NONE && out->chances && row->knows_training && !(out->chances->mean > 0))
        return error_set(err, ERROR_INPUT,
                         "no node that trains has a chance to be drawn by sample.sampler %s, which "
                         "goes by the edges that nodes are ends of: expected another sampler, or "
                         "edges that begin at such nodes, as reverses do (add_reverse)",
                         row->name);
    return rc;
}

void sampler_tables_release(struct sampler_tables *tables)
{
    memory_free(tables->is_training);
    node_chances_free(tables->chances, tables->table_count);
    walk_norm_release(&tables->walk_norm);
    store_release_record(&tables->counts.view);
    *tables = (struct sampler_tables){0};
}

struct graph_knowledge sampler_tables_knowledge(const struct sampler_tables *tables)
{
    return (struct graph_knowledge){
        .is_training = tables->is_training,
        .chances = tables->chances,
        .walk_norm = tables->walk_norm.node ? &tables->walk_norm : NULL,
    };
}
