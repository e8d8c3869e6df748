#include "stages/sample/sampler_tables.h"

#include "common/base/memory.h"
#include "stages/sampling/graphsaint.h"
#include "stages/sampling/seed_times.h"

static const struct sampler *sampler_of_run(const struct stage_context *context)
{
    return sampler_of((enum sampler_kind)context->settings->sample.sampler);
}

uint64_t sampler_tables_bytes(const struct stage_context *context, const struct topology *topology)
{
    const struct sampler *sampler = sampler_of_run(context);
    uint64_t bytes = 0;
    if (sampler->form == BATCH_SUBGRAPH)
        bytes += topology->node_count / 8;
    if (sampler->chances)
        bytes += node_chances_bytes(topology->node_count);
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
                                     const struct sampler_tables *tables,
                                     struct neighbor_sampler *sampler, struct error *err)
{
    struct neighbor_request request = {.seed = context->schedule->seed};
    struct drawn_walks walks;
    sampler_tables_give(context, tables, &request);
    const struct walk_draw_config config = {
        .sampler = sampler,
        .request = &request,
        .train = splits->node[SPLIT_TRAIN],
        .train_count = splits->count[SPLIT_TRAIN],
        .roots = (uint32_t)context->schedule->batch_size,
        .coverage = (uint32_t)context->settings->sample.sample_coverage,
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
    const struct sampler *row = sampler_of_run(context);
    enum error_code rc = ERROR_NONE;
    if (row->form == BATCH_SUBGRAPH)
        rc = mark_training(topology, splits, &out->is_training, err);
    if (rc == ERROR_NONE && row->chances)
        rc = node_chances_init(&out->chances, row->chances, topology, err);
    if (rc == ERROR_NONE && row->chances)
        out->chances.mean =
            graphsaint_mean(&out->chances, (uint32_t)context->settings->sample.batch_size,
                            splits->node[SPLIT_TRAIN], splits->count[SPLIT_TRAIN]);
    return rc;
}

void sampler_tables_release(struct sampler_tables *tables)
{
    memory_free(tables->is_training);
    node_chances_release(&tables->chances);
    walk_norm_release(&tables->walk_norm);
    store_release_record(&tables->counts.view);
    *tables = (struct sampler_tables){0};
}

void sampler_tables_give(const struct stage_context *context, const struct sampler_tables *tables,
                         struct neighbor_request *request)
{
    const struct pipeline_settings *settings = context->settings;
    request->temporal_choice = (enum temporal_choice)settings->sample.temporal_strategy;
    request->is_training = tables->is_training;
    request->draw_count = (uint32_t)settings->sample.batch_size;
    request->walk_length = (uint32_t)settings->sample.walk_length;
    request->chances = tables->chances.chance ? &tables->chances : NULL;
    request->walk_norm = tables->walk_norm.node ? &tables->walk_norm : NULL;
    request->depth = (uint32_t)settings->sample.depth;
    request->num_neighbors = settings->sample.num_neighbors;
}

enum error_code sampler_tables_seed_times(const struct stage_context *context,
                                          const struct topology *topology,
                                          const uint32_t *seed_node, uint32_t count, int64_t *out,
                                          struct error *err)
{
    const bool first = context->settings->sample.seed_time == SEED_TIME_FIRST_EDGE;
    return seed_times_find(topology, first, seed_node, count, out, err);
}
