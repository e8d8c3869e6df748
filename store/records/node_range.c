#include "store/records/node_range.h"

#include <inttypes.h>

enum error_code node_range_get(const struct record_view *view, uint32_t nodes_max,
                               uint32_t *first_node, uint32_t *node_count, uint64_t *third,
                               struct error *err)
{
    const void *data = NULL;
    uint64_t found = 0;
    const enum error_code rc =
        record_section_get(view, "range", ELEMENT_U64, NODE_RANGE_SIZE, &data, &found, err);
    if (rc != ERROR_NONE)
        return rc;
    const uint64_t *range = data;
    if (range[1] < 1 || range[1] > nodes_max)
        return error_set(err, ERROR_CORRUPT,
                         "%s: \"range\": expected 1 to %u nodes, found %" PRIu64, view->key,
                         nodes_max, range[1]);
    if (range[0] > UINT32_MAX - range[1])
        return error_set(err, ERROR_CORRUPT,
                         "%s: \"range\": expected a first node up to %" PRIu64 ", found %" PRIu64,
                         view->key, UINT32_MAX - range[1], range[0]);
    *first_node = (uint32_t)range[0];
    *node_count = (uint32_t)range[1];
    *third = range[2];
    return ERROR_NONE;
}
