#include "store/records/dataset/node_range.h"

#include "store/records/section_checks.h"

enum error_code node_range_check(const struct record_view *view, uint32_t first_node,
                                 uint32_t node_count, struct error *err)
{
    const uint32_t most = UINT32_MAX - node_count;
    return first_node <= most
               ? ERROR_NONE
               : section_refuse_number(view, "range", "first node", 0, most, first_node, err);
}
