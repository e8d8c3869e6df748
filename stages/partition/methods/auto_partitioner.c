/* METIS where the budget and its 32-bit numbers hold the graph, else what needs a few bytes a node: which one it was is noted in the report. */
#include "stages/partition/methods/partitioner.h"

static enum partition_method choose(const struct partition_request *request)
{
    return metis_partitioner.bytes(request) <= request->budget_bytes ? PARTITION_METIS
                                                                     : PARTITION_FENNEL;
}

const struct partitioner auto_partitioner = {.choose = choose};
