/* Uses METIS if the budget and METIS's 32-bit numbers hold the graph, and otherwise a method that
 * needs a few bytes a node. The report says which method was used. */
#include "stages/partition/rules/partitioner.h"

static enum partition_method choose(const struct partition_request *request)
{
    return metis_partitioner.bytes(request) <= request->budget_bytes ? PARTITION_METIS
                                                                     : PARTITION_FENNEL;
}

const struct partitioner auto_partitioner = {.choose = choose};
