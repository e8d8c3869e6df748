/*
 * Gives each part an equal range of the nodes of each class (part_loads.h), in the order of the
 * input. It is for graphs in which nodes with close ids are neighbours, such as crawls and grids.
 */
#include "stages/partition/rules/part_loads.h"

static enum error_code assign(const struct partition_request *request, uint32_t *part,
                              struct error *err)
{
    struct part_loads loads = {0};
    const enum error_code rc = part_loads_init(&loads, request, err);
    if (rc == ERROR_NONE)
        part_loads_spread(&loads, part);
    part_loads_release(&loads);
    return rc;
}

const struct partitioner range_partitioner = {.assign = assign};
