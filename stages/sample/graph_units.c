#include "stages/sample/graph_units.h"

#include "stages/plan/model/graph_targets.h"

enum error_code graph_units_open(struct graph_units *units, const struct stage_context *context,
                                 struct error *err)
{
    *units = (struct graph_units){.is_wanted = context->book->graph_count > 0};
    return units->is_wanted ? graph_targets_index(&units->index, context->store, context->book, err)
                            : ERROR_NONE;
}

void graph_units_close(struct graph_units *units)
{
    store_release_record(&units->index.view);
    *units = (struct graph_units){0};
}

static uint32_t add_nodes(const struct graph_index *index, uint32_t graph, uint32_t *node)
{
    const uint32_t first = index->first[graph], count = index->first[graph + 1] - first;
    for (uint32_t i = 0; i < count; i++)
        node[i] = first + i;
    return count;
}

uint32_t graph_units_seeds(const struct graph_units *units, const struct stage_context *context,
                           const struct node_splits *splits, const struct unit *unit,
                           uint32_t *node)
{
    const struct schedule *s = context->schedule;
    const bool trains = unit->kind == UNIT_SAMPLE;
    const uint32_t *graph = splits->node[trains ? SPLIT_TRAIN : SPLIT_VALID];
    const int64_t epoch = trains ? schedule_epoch(s, unit->round) : 0;
    int64_t first = 0, count = 0;
    uint32_t seeds = 0;
    if (trains)
        schedule_seed_range(s, unit->round, unit->slot, &first, &count);
    else
        schedule_evaluation_range(s, unit->slot, &first, &count);
    for (int64_t i = first; i < first + count; i++)
        seeds += add_nodes(&units->index, graph[trains ? schedule_shuffled(s, epoch, i) : i],
                           node + seeds);
    return seeds;
}
