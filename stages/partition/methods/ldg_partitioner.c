/* Streams by greedy_rule.h; with several passes ReLDG (Nishimura and Ugander, "Restreaming graph
 * partitioning", KDD 2013). */
#include "stages/partition/rules/greedy_rule.h"

static enum error_code assign(const struct partition_request *request, uint32_t *part,
                              struct error *err)
{
    const struct stream_rule rule = greedy_rule("ldg");
    return node_stream_assign(request, &rule, part, err);
}

const struct partitioner ldg_partitioner = {.assign = assign};
