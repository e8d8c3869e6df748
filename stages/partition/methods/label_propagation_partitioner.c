/* Balanced label propagation, which begins with nodes at random (majority_rule.h). */
#include "stages/partition/rules/majority_rule.h"

static enum error_code assign(const struct partition_request *request, uint32_t *part,
                              struct error *err)
{
    const struct stream_rule rule = majority_rule("label_propagation");
    return node_stream_assign(request, &rule, part, err);
}

const struct partitioner label_propagation_partitioner = {.assign = assign};
