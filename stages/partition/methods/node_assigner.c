#include "stages/partition/methods/node_assigner.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/formats/assignment_file.h"
#include "stages/partition/layout/assignment.h"
#include "stages/partition/methods/hash_partitioner.h"
#include "stages/partition/methods/metis_partitioner.h"
#include "store/records/dataset_types.h"
#include "store/records/node_splits.h"

#include <inttypes.h>

static enum error_code check_budget(const struct assigner_request *request, struct error *err)
{
    const struct dataset_schema *schema = request->schema;
    const uint64_t both_ways = schema->edge_count * (schema->undirected ? 1 : 2);
    const uint64_t wanted = metis_partition_bytes(schema->node_count, both_ways);
    char wanted_text[32], budget_text[32];
    if (wanted <= request->budget_bytes)
        return ERROR_NONE;
    return error_set(err, ERROR_NO_MEMORY,
                     "METIS takes about %s for %" PRIu32 " nodes and %" PRIu64
                     " edges, of the memory budget %s are left; give more --memory, or use "
                     "partition.method: hash or file",
                     text_size(wanted, wanted_text), schema->node_count, both_ways,
                     text_size(request->budget_bytes, budget_text));
}

static enum error_code run_metis(const struct assigner_request *request, uint32_t *part,
                                 struct error *err)
{
    const struct pipeline_settings *settings = request->settings;
    const uint32_t node_count = request->schema->node_count;
    struct undirected_graph graph = {0};
    uint8_t *train_load = NULL, *type = NULL;
    enum error_code rc = check_budget(request, err);
    if (rc == ERROR_NONE)
        rc = undirected_graph_build(request->store, request->schema, &graph, err);
    if (rc == ERROR_NONE && settings->partition.balance_train) {
        rc = memory_new(&train_load, node_count, "the training load", err);
        for (uint32_t i = 0; rc == ERROR_NONE && i < node_count; i++)
            train_load[i] = request->split_marks[i] == SPLIT_TRAIN + 1;
    }
    if (rc == ERROR_NONE && request->schema->has_relations) {
        rc = memory_new(&type, node_count, "the types of nodes", err);
        for (uint32_t i = 0; rc == ERROR_NONE && i < node_count; i++)
            type[i] = (uint8_t)dataset_type_of(request->schema, i);
    }
    if (rc == ERROR_NONE) {
        const struct metis_request metis = {
            .graph = &graph,
            .part_count = (uint32_t)settings->partition.parts,
            .seed = settings->seed,
            .edge_load = settings->partition.balance_edges ? request->in_degree : NULL,
            .train_load = train_load,
            .type = type,
        };
        rc = metis_partition(&metis, part, err);
    }
    memory_free(type);
    memory_free(train_load);
    undirected_graph_release(&graph);
    return rc;
}

static enum error_code read_assignment(const struct assigner_request *request, uint32_t *part,
                                       struct error *err)
{
    const char *path = request->settings->partition.assignment;
    const uint32_t node_count = request->schema->node_count;
    const uint32_t part_count = (uint32_t)request->settings->partition.parts;
    enum error_code rc = assignment_file_read(path, part_count, part, node_count, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = assignment_refuse_empty(part, node_count, part_count, err);
    return rc == ERROR_INPUT ? error_context(err, rc, "%s", path) : rc;
}

enum error_code node_assigner_run(const struct assigner_request *request, uint32_t *part,
                                  struct error *err)
{
    const struct pipeline_settings *settings = request->settings;
    const uint32_t node_count = request->schema->node_count;
    switch ((enum partition_method)settings->partition.method) {
    case PARTITION_METIS:
        return run_metis(request, part, err);
    case PARTITION_HASH:
        return hash_partition(part, node_count, (uint32_t)settings->partition.parts, settings->seed,
                              err);
    case PARTITION_FILE:
        return read_assignment(request, part, err);
    }
    return error_set(err, ERROR_INVALID, "partition.method is none of the known ones");
}
