#include "stages/partition/kept_assignment.h"

#include "common/base/log.h"
#include "common/base/memory.h"
#include "stages/partition/layout/assignment.h"
#include "stages/partition/layout/graph_ranges.h"
#include "stages/partition/methods/node_assigner.h"
#include "stages/partition/version_assignment.h"
#include "store/records/partition_book.h"

#include <inttypes.h>
#include <string.h>

static enum error_code check(const struct partition_input *input, const uint32_t *stored,
                             uint32_t node_count, struct error *err)
{
    if (node_count != input->schema.node_count)
        return error_set(err, ERROR_CORRUPT, "%s: has %" PRIu32 " nodes, expected %" PRIu32,
                         key_partition(input->id, "assignment").text, node_count,
                         input->schema.node_count);
    return assignment_check(stored, node_count, (uint32_t)input->context->settings->partition.parts,
                            err);
}

/* The parts of edges that the record has, of a vertex cut. */
static enum error_code take_edges(const struct partition_input *input,
                                  const struct record_view *view, uint16_t **edge_part,
                                  struct error *err)
{
    const struct pipeline_settings *settings = input->context->settings;
    const uint64_t edge_count = input->schema.edge_count;
    const uint16_t *stored = NULL;
    if (!partitioner_cuts_vertices(settings->partition.method))
        return ERROR_NONE;
    enum error_code rc =
        assignment_edges(view, edge_count, (uint32_t)settings->partition.parts, &stored, err);
    if (rc == ERROR_NONE && !input->context->is_replay)
        rc = memory_new(edge_part, edge_count, "the parts of edges", err);
    if (*edge_part && edge_count)
        memcpy(*edge_part, stored, edge_count * sizeof **edge_part);
    return rc;
}

/* The record of an attempt that was killed. *chosen as kept_assignment(). In a replay only that. */
static enum error_code take(const struct partition_input *input, uint32_t *part,
                            uint16_t **edge_part, bool *taken, const char **chosen,
                            struct error *err)
{
    const uint32_t *stored = NULL;
    uint32_t node_count = 0;
    char method[SETTING_NAME_SIZE];
    struct record_view view = {0};
    *taken = false;
    enum error_code rc =
        assignment_get(input->context->store, input->id, &stored, &node_count, &view, err);
    if (rc == ERROR_NOT_FOUND)
        return ERROR_NONE;
    if (rc == ERROR_NONE)
        rc = check(input, stored, node_count, err);
    if (rc == ERROR_NONE)
        rc = assignment_method(&view, method, sizeof method, err);
    if (rc == ERROR_NONE && method[0] && !(*chosen = version_assignment_name(method)) &&
        !(*chosen = partitioner_name(method)))
        rc = error_set(err, ERROR_CORRUPT, "%s: is of the method '%s', which is none",
                       key_partition(input->id, "assignment").text, method);
    if (rc == ERROR_NONE)
        rc = take_edges(input, &view, edge_part, err);
    if (rc == ERROR_NONE && !input->context->is_replay) {
        memcpy(part, stored, node_count * sizeof *part);
        *taken = true;
    }
    store_release_record(&view);
    return rc;
}

/* Of a task of graphs: ranges of these, which cut no edge, whatever method looks for few cuts. */
static enum error_code assign_graphs(const struct partition_input *input, uint32_t *part,
                                     const char **chosen, struct error *err)
{
    const struct pipeline_settings *settings = input->context->settings;
    if (settings->partition.method != PARTITION_RANGE)
        *chosen = partitioner_name("range");
    return graph_ranges_assign(&input->graphs, (uint32_t)settings->partition.parts, part, err);
}

static enum error_code make(struct partition_input *input, uint32_t *part, uint16_t **edge_part,
                            const char **chosen, struct error *err)
{
    const char *kept = NULL;
    enum error_code rc = version_assignment(input, part, &kept, err);
    if (kept)
        *chosen = kept;
    if (rc != ERROR_NONE || kept)
        return rc;
    rc = partition_input_take_loads(input, err);
    if (rc != ERROR_NONE)
        return rc;
    const struct partition_request request = partition_input_request(input);
    rc = input->graphs.graph_count ? assign_graphs(input, part, chosen, err)
                                   : node_assigner_run(&request, part, edge_part, chosen, err);
    if (rc == ERROR_NONE && *chosen)
        log_info("partition.method is %s here", *chosen);
    if (rc == ERROR_NONE && *edge_part)
        return assignment_put_edges(request.store, input->id, part, input->schema.node_count,
                                    *edge_part, input->schema.edge_count, err);
    return rc == ERROR_NONE ? assignment_put(request.store, input->id, part,
                                             input->schema.node_count, *chosen, err)
                            : rc;
}

enum error_code kept_assignment(struct partition_input *input, uint32_t *part, uint16_t **edge_part,
                                const char **chosen, struct error *err)
{
    bool taken = false;
    *chosen = NULL;
    *edge_part = NULL;
    const enum error_code rc = take(input, part, edge_part, &taken, chosen, err);
    return rc == ERROR_NONE && !taken ? make(input, part, edge_part, chosen, err) : rc;
}
