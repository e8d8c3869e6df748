#include "stages/sample/relation_units.h"

#include "common/base/memory.h"
#include "stages/plan/relation_fanouts.h"
#include "stages/sample/drawn_parts.h"
#include "stages/sampling/sampler.h"

static enum error_code fill(const struct stage_context *context, struct relation_fanouts *out,
                            struct error *err)
{
    const uint32_t relations = partition_book_relations(context->book);
    relation_fanouts_of_evaluation(context->settings, relations, out->evaluation);
    return relation_fanouts_of(context->settings, context->book->relation, relations, out->training,
                               err);
}

enum error_code relation_fanouts_open(const struct stage_context *context,
                                      struct relation_fanouts *out, struct error *err)
{
    const struct sampler *sampler = pipeline_sampler(context->settings);
    const size_t count = (size_t)partition_book_relations(context->book) *
                         (size_t)context->settings->sample.fanouts.count;
    *out = (struct relation_fanouts){.hop_count = context->settings->sample.fanouts.count};
    if (!context->book->relation)
        return ERROR_NONE;
    if (!sampler->takes_relations)
        return error_set(err, ERROR_INVALID,
                         "sample.sampler is %s, which draws from a graph without relations alone",
                         sampler->name);
    enum error_code rc = memory_new(&out->training, count, "fan-outs of relations", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&out->evaluation, count, "fan-outs of relations", err);
    return rc == ERROR_NONE ? fill(context, out, err) : rc;
}

void relation_fanouts_release(struct relation_fanouts *fanouts)
{
    memory_free(fanouts->training);
    memory_free(fanouts->evaluation);
    *fanouts = (struct relation_fanouts){0};
}

enum error_code relation_unit_draw(const struct stage_context *context,
                                   const struct relation_fanouts *fanouts,
                                   struct relation_sampler *sampler,
                                   const struct relation_unit *unit, struct arena *packed,
                                   struct error *err)
{
    struct mini_batch batch = {0};
    const struct relation_request request = {
        .seed = context->schedule->seed,
        .round = unit->round,
        .slot = unit->slot,
        .hop_count = fanouts->hop_count,
        .fanout = unit->is_evaluation ? fanouts->evaluation : fanouts->training,
        .seed_node = unit->seed_node,
        .seed_count = unit->seed_count,
        .wants_degree = context->schedule->needs_degree,
        .edge_columns = unit->edge_columns,
        .excluded =
            unit->pairs && unit->pairs->has_excluded ? &unit->pairs->relation_excluded : NULL,
    };
    const enum error_code rc = relation_sampler_draw(sampler, &request, &batch, err);
    if (unit->pairs)
        batch.pairs = unit->pairs->pairs;
    if (rc == ERROR_NONE && !unit->is_evaluation)
        drawn_parts_tell(context, &batch);
    stage_times_enter(context->times, TIME_WRITE);
    return rc == ERROR_NONE
               ? mini_batch_put(context->store, unit->key, context->run_id, &batch, packed, err)
               : rc;
}
