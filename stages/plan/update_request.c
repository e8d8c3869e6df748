#include "stages/plan/update_request.h"

#include "common/nn/tasks/task.h"

enum error_code update_check_dataset(const struct dataset_schema *schema, struct error *err)
{
    if (schema->has_relations || schema->node_type_count > 1 || schema->edge_type_count > 1)
        return error_set(err, ERROR_INVALID,
                         "dataset %s has types of nodes or edges: expected a graph of one type, of "
                         "which alone there are updates",
                         schema->id);
    if (task_learns_graphs(schema->task))
        return error_set(
            err, ERROR_INVALID,
            "dataset %s is for ingest.task %s: expected a task of nodes, of links or of "
            "labelled edges, of which alone there are updates",
            schema->id, task_name(schema->task));
    return ERROR_NONE;
}
