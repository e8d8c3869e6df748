/*
 * Linear deterministic greedy (Stanton and Kliot, "Streaming graph partitioning for large distributed graphs", KDD 2012),
 * and with several passes ReLDG (Nishimura and Ugander, "Restreaming graph partitioning", KDD 2013):
 *
 *   |N(v) and P| (1 - |P| / C)
 *
 * with the capacity C of a part. Here |P| is the load relative to the mean, of the node's class (part_loads.h), and C a
 * little above the most that a part may hold, so that no part is worth nothing.
 */
#include "stages/partition/methods/node_stream.h"

static double worth(double neighbors, double load, double edges_per_node)
{
    static const double capacity = 1.03;
    (void)edges_per_node;
    return neighbors * (1 - load / capacity);
}

static enum error_code assign(const struct partition_request *request, uint32_t *part,
                              struct error *err)
{
    static const struct stream_rule rule = {.name = "ldg", .worth = worth};
    return node_stream_assign(request, &rule, part, err);
}

const struct partitioner ldg_partitioner = {.assign = assign};
