#include "stages/sample/unit_fanouts.h"

#include "common/base/memory.h"
#include "stages/plan/settings/relation_fanouts.h"

enum error_code unit_fanouts_open(const struct stage_context *context, struct unit_fanouts *out,
                                  struct error *err)
{
    const struct pipeline_settings *settings = context->settings;
    const uint32_t relations =
        context->book->relation ? partition_book_relations(context->book) : 1;
    const size_t count = relations * (size_t)settings->sample.fanouts.count;
    *out = (struct unit_fanouts){.hop_count = settings->sample.fanouts.count};
    enum error_code rc = memory_new(&out->training, count, "fan-outs of relations", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&out->evaluation, count, "fan-outs of relations", err);
    if (rc != ERROR_NONE)
        return rc;
    relation_fanouts_of_evaluation(settings, relations, out->evaluation);
    return relation_fanouts_of(settings, context->book->relation, relations, out->training, err);
}

void unit_fanouts_release(struct unit_fanouts *fanouts)
{
    memory_free(fanouts->training);
    memory_free(fanouts->evaluation);
    *fanouts = (struct unit_fanouts){0};
}
