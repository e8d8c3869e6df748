#include "stages/partition/version_numbering.h"

#include "common/base/memory.h"
#include "stages/partition/version_assignment.h"
#include "stages/plan/identity.h"
#include "store/records/dataset_delta.h"
#include "store/versions/merged_parts.h"

#include <inttypes.h>

void version_step_down(const struct dataset_delta *delta, uint32_t *origin, uint32_t node_count)
{
    const uint32_t kept = (uint32_t)(delta->base_nodes - delta->gone_nodes);
    uint64_t gone = 0;
    for (uint32_t i = 0; i < node_count; i++) {
        if (origin[i] == NO_ORIGIN)
            continue;
        if (origin[i] >= kept) {
            origin[i] = NO_ORIGIN;
            continue;
        }
        while (gone < delta->gone_nodes && delta->gone_node[gone] - gone <= origin[i])
            gone++;
        origin[i] += (uint32_t)gone;
    }
}

/* ---- of a placed version ------------------------------------------------------------------------- */

/* The nodes of the version in the order of the partition before, new ones last. */
static void fill_order(const struct dataset_delta *delta, const struct node_permutation *before,
                       const uint32_t *number, uint32_t node_count, uint32_t *order)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < before->node_count; i++)
        if (number[before->to_dataset[i]] != NO_ORIGIN)
            order[at++] = number[before->to_dataset[i]];
    must(at == delta->base_nodes - delta->gone_nodes);
    while (at < node_count) {
        order[at] = at;
        at++;
    }
}

/* Numbers of the base's nodes in the version; NO_ORIGIN: they go. */
static void number_base(const struct dataset_delta *delta, uint32_t *number)
{
    uint64_t gone = 0;
    for (uint32_t node = 0; node < delta->base_nodes; node++) {
        const bool goes = gone < delta->gone_nodes && delta->gone_node[gone] == node;
        gone += goes;
        number[node] = goes ? NO_ORIGIN : (uint32_t)(node - gone);
    }
}

static enum error_code follow(const struct partition_input *input,
                              const struct dataset_delta *delta, const uint32_t *part,
                              struct renumbering *out, struct error *err)
{
    const struct stage_context *context = input->context;
    struct node_permutation before = {0};
    uint32_t *number = NULL, *order = NULL;
    char id[ID_SIZE];
    enum error_code rc =
        identity_partition(context->store, context->settings, delta->base, id, err);
    if (rc == ERROR_NONE)
        rc = merged_permutation_get(context->store, id, delta->base_nodes, &before, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&number, delta->base_nodes, "the numbers of nodes", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&order, input->schema.node_count, "the order of nodes", err);
    if (rc == ERROR_NONE) {
        number_base(delta, number);
        fill_order(delta, &before, number, input->schema.node_count, order);
        rc = renumbering_init_in_order(out, part, input->schema.node_count,
                                       (uint32_t)context->settings->partition.parts, order, err);
    }
    memory_free(order);
    memory_free(number);
    store_release_record(&before.view);
    return rc;
}

/* What a partition that was there before has, or that of the ids of a build that was killed. */
static enum error_code take_own(const struct partition_input *input, const uint32_t *part,
                                struct renumbering *out, bool *taken, struct error *err)
{
    const struct stage_context *context = input->context;
    struct node_permutation own = {0};
    *taken = false;
    if (context->is_replay)
        return ERROR_NONE;
    enum error_code rc =
        merged_permutation_get(context->store, input->id, input->schema.node_count, &own, err);
    if (rc == ERROR_NOT_FOUND)
        return ERROR_NONE;
    *taken = rc == ERROR_NONE;
    if (rc == ERROR_NONE)
        rc = renumbering_init_in_order(out, part, input->schema.node_count,
                                       (uint32_t)context->settings->partition.parts, own.to_dataset,
                                       err);
    store_release_record(&own.view);
    return rc;
}

static enum error_code follow_version(const struct partition_input *input, const uint32_t *part,
                                      struct renumbering *out, struct error *err)
{
    struct dataset_delta delta;
    bool taken = false;
    enum error_code rc = take_own(input, part, out, &taken, err);
    if (rc != ERROR_NONE || taken)
        return rc;
    rc = dataset_delta_get(input->context->store, input->schema.id, &delta, err);
    if (rc != ERROR_NONE)
        return rc;
    if (input->schema.node_count != delta.base_nodes - delta.gone_nodes + delta.added_nodes)
        rc = error_set(err, ERROR_CORRUPT,
                       "dataset %s has %" PRIu32 " nodes, expected %" PRIu64 " by its delta",
                       input->schema.id, input->schema.node_count,
                       delta.base_nodes - delta.gone_nodes + delta.added_nodes);
    if (rc == ERROR_NONE)
        rc = follow(input, &delta, part, out, err);
    store_release_record(&delta.view);
    return rc;
}

/* ---- of any other --------------------------------------------------------------------------------- */

static enum error_code search(const struct partition_input *input, const uint32_t *part,
                              struct renumbering *out, struct error *err)
{
    enum error_code rc = renumbering_init(out, part, input->schema.node_count,
                                          (uint32_t)input->context->settings->partition.parts, err);
    if (rc != ERROR_NONE)
        return rc;
    const struct numbering numbering = renumbering_view(out);
    const struct part_rows_source source = {
        .store = input->context->store,
        .schema = &input->schema,
        .numbering = &numbering,
        .in_degree = input->in_degree,
        .bare = true,
        .budget_bytes = input->budget_bytes,
    };
    return renumbering_order(out, &source, err);
}

enum error_code version_numbering(const struct partition_input *input, const uint32_t *part,
                                  const char *method, struct renumbering *out, struct error *err)
{
    const enum error_code rc = version_assignment_is_placed(method)
                                   ? follow_version(input, part, out, err)
                                   : search(input, part, out, err);
    return rc == ERROR_NONE ? renumbering_by_type(out, &input->schema, err) : rc;
}
