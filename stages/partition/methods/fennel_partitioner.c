/*
 * Fennel (Tsourakakis, Gkantsidis, Radunovic and Vojnovic, "Fennel: streaming graph partitioning
 * for massive scale graphs", WSDM 2014), and with several passes ReFENNEL (Nishimura and Ugander,
 * "Restreaming graph partitioning", KDD 2013). A part P is worth
 *
 *   |N(v) and P| - alpha gamma |P|^(gamma - 1)
 *   with gamma = 3/2, alpha = m k^(gamma - 1) / n^gamma
 *
 * for node v, with n nodes, m undirected edges and k parts. With the load x = |P| k / n the second
 * term is gamma (m / n) x^(gamma - 1). Here x is the load of the node's class (part_loads.h). alpha
 * is the same in all passes.
 */
#include "stages/partition/rules/node_stream.h"

#include <math.h>

static double worth(double neighbors, double load, double edges_per_node)
{
    return neighbors - 1.5 * edges_per_node * sqrt(load);
}

static enum error_code assign(const struct partition_request *request, uint32_t *part,
                              struct error *err)
{
    static const struct stream_rule rule = {.name = "fennel", .worth = worth};
    return node_stream_assign(request, &rule, part, err);
}

const struct partitioner fennel_partitioner = {.assign = assign};
