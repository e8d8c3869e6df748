#include "stages/partition/version_numbering.h"

#include "common/base/memory.h"
#include "stages/partition/version_assignment.h"
#include "stages/plan/model/identity.h"
#include "store/records/dataset/dataset_delta.h"
#include "store/versions/delta_numbers.h"
#include "store/versions/merged_parts.h"

#include <stdbool.h>

/* --- a placed version --- */

/* Fills `order` with the nodes of the version in the order of the partition before, new ones
 * last. */
static void fill_order(const struct delta_numbers *numbers, const struct node_permutation *before,
                       const uint32_t *number, uint32_t *order)
{
    const struct dataset_delta *delta = numbers->delta;
    uint32_t at = 0;
    for (uint32_t i = 0; i < before->node_count; i++)
        if (number[before->to_dataset[i]] != DELTA_GONE)
            order[at++] = number[before->to_dataset[i]];
    must(at == delta->base_nodes - delta->gone_nodes);
    for (uint32_t i = 0; i < delta->added_nodes; i++)
        order[at++] = delta_numbers_version(numbers, delta->base_nodes + i);
}

static enum error_code follow(const struct partition_input *input,
                              const struct delta_numbers *numbers, const uint32_t *part,
                              struct renumbering *out, struct error *err)
{
    const struct stage_context *context = input->context;
    const struct dataset_delta *delta = numbers->delta;
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
        delta_numbers_of_base(numbers, number);
        fill_order(numbers, &before, number, order);
        rc = renumbering_init_in_order(out, part, input->schema.node_count,
                                       (uint32_t)context->settings->partition.parts, order, err);
    }
    memory_free(order);
    memory_free(number);
    store_release_record(&before.view);
    return rc;
}

/* Takes the ids that a partition already has, or those of a build that was killed. */
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
    struct delta_numbers numbers;
    bool taken = false;
    enum error_code rc = take_own(input, part, out, &taken, err);
    if (rc != ERROR_NONE || taken)
        return rc;
    rc = dataset_delta_get(input->context->store, input->schema.id, &delta, err);
    if (rc != ERROR_NONE)
        return rc;
    delta_numbers_init(&numbers, &delta);
    rc = delta_numbers_check(&numbers, &input->schema, err);
    if (rc == ERROR_NONE)
        rc = follow(input, &numbers, part, out, err);
    store_release_record(&delta.view);
    return rc;
}

/* --- any other version --- */

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
