#include "stages/plan/update_request.h"

#include "common/nn/tasks/task.h"

uint32_t update_relation_count(const struct dataset_schema *schema,
                               const struct pipeline_settings *settings)
{
    const bool has_reverses = schema->has_relations && settings->ingest.add_reverse;
    return has_reverses ? schema->edge_type_count / 2 : schema->edge_type_count;
}

enum error_code update_check_dataset(const struct dataset_schema *schema, struct error *err)
{
    for (uint32_t t = 0; schema->has_relations && t < schema->node_type_count; t++)
        if (!schema->type_origin[t][0])
            return error_set(err, ERROR_INVALID,
                             "dataset %s was made by an earlier release, which did not keep where "
                             "the features of each type come from: expected one that is made anew, "
                             "in another folder",
                             schema->id);
    if (task_learns_graphs(schema->task))
        return error_set(
            err, ERROR_INVALID,
            "dataset %s is for ingest.task %s: expected a task of nodes, of links or of "
            "labelled edges, of which alone there are updates",
            schema->id, task_name(schema->task));
    return ERROR_NONE;
}
