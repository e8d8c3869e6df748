#include "stages/partition/kept_assignment.h"

#include "common/base/log.h"
#include "common/base/memory.h"
#include "stages/partition/layout/assignment.h"
#include "stages/partition/layout/graph_ranges.h"
#include "stages/partition/methods/node_assigner.h"
#include "stages/partition/version_assignment.h"
#include "store/records/partition/partition_book.h"
#include "store/versions/merged_parts.h"

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

/* Takes the parts of edges from the record of a vertex cut. */
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

/* Takes the method's name from the record. */
static enum error_code take_method(const struct partition_input *input,
                                   const struct node_assignment *stored,
                                   struct kept_assignment *out, struct error *err)
{
    out->full_cut = stored->full_cut;
    if (!stored->method[0])
        return ERROR_NONE;
    out->method = version_assignment_name(stored->method);
    if (!out->method)
        out->method = partitioner_name(stored->method);
    return out->method ? ERROR_NONE
                       : error_set(err, ERROR_CORRUPT,
                                   "%s: was made by the method '%s', which does not exist",
                                   key_partition(input->id, "assignment").text, stored->method);
}

/* Takes the record of an attempt that was killed; in a replay only its method. */
static enum error_code take(const struct partition_input *input, struct kept_assignment *out,
                            struct error *err)
{
    struct node_assignment stored;
    enum error_code rc = merged_assignment_get(input->context->store, input->id, &stored, err);
    if (rc == ERROR_NOT_FOUND)
        return ERROR_NONE;
    if (rc == ERROR_NONE)
        rc = check(input, stored.part, stored.node_count, err);
    if (rc == ERROR_NONE)
        rc = take_method(input, &stored, out, err);
    if (rc == ERROR_NONE)
        rc = take_edges(input, &stored.view, &out->edge_part, err);
    if (rc == ERROR_NONE && !input->context->is_replay) {
        memcpy(out->part, stored.part, stored.node_count * sizeof *out->part);
        out->is_stored = true;
    }
    store_release_record(&stored.view);
    return rc;
}

/* Assigns graphs: parts are ranges of graphs, which cut no edge, whatever method the settings
 * name. */
static enum error_code assign_graphs(const struct partition_input *input, uint32_t *part,
                                     const char **chosen, struct error *err)
{
    const struct pipeline_settings *settings = input->context->settings;
    if (settings->partition.method != PARTITION_RANGE)
        *chosen = partitioner_name("range");
    return graph_ranges_assign(&input->graphs, (uint32_t)settings->partition.parts, part, err);
}

static enum error_code make(struct partition_input *input, struct kept_assignment *out,
                            struct error *err)
{
    const char *kept = NULL;
    enum error_code rc = ERROR_NONE;
    if (!input->graphs.graph_count)
        rc = version_assignment(input, out->part, &kept, &out->full_cut, err);
    if (rc != ERROR_NONE || kept) {
        out->method = kept;
        return rc == ERROR_NONE && !version_assignment_is_placed(kept)
                   ? kept_assignment_put(input, out, err)
                   : rc;
    }
    rc = partition_input_take_loads(input, err);
    if (rc != ERROR_NONE)
        return rc;
    const struct partition_request request = partition_input_request(input);
    rc = input->graphs.graph_count
             ? assign_graphs(input, out->part, &out->method, err)
             : node_assigner_run(&request, out->part, &out->edge_part, &out->method, err);
    if (rc == ERROR_NONE && out->method)
        log_info("partition.method is %s here", out->method);
    out->is_stored = rc == ERROR_NONE;
    if (rc == ERROR_NONE && out->edge_part)
        return assignment_put_edges(request.store, input->id, out->part, input->schema.node_count,
                                    out->edge_part, input->schema.edge_count, err);
    return rc == ERROR_NONE ? assignment_put(request.store, input->id, out->part,
                                             input->schema.node_count, out->method, err)
                            : rc;
}

enum error_code kept_assignment_find(struct partition_input *input, struct kept_assignment *out,
                                     struct error *err)
{
    *out = (struct kept_assignment){.part = NULL};
    enum error_code rc = memory_new(&out->part, input->schema.node_count, "the assignment", err);
    if (rc == ERROR_NONE)
        rc = take(input, out, err);
    return rc == ERROR_NONE && !out->is_stored ? make(input, out, err) : rc;
}

enum error_code kept_assignment_put(const struct partition_input *input,
                                    struct kept_assignment *kept, struct error *err)
{
    if (kept->is_stored)
        return ERROR_NONE;
    kept->is_stored = true;
    return assignment_put_kept(input->context->store, input->id, kept->part,
                               input->schema.node_count, kept->method, kept->full_cut, err);
}

void kept_assignment_release(struct kept_assignment *kept)
{
    memory_free(kept->part);
    memory_free(kept->edge_part);
    *kept = (struct kept_assignment){.part = NULL};
}
