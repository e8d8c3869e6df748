/* What a delta of a graph with several types says beyond others. */
#include "store/records/dataset/dataset_delta_types.h"

#include "store/records/dataset/dataset_schema.h"

#include <inttypes.h>
#include <string.h>

uint32_t dataset_delta_columns(const struct dataset_delta *delta, uint32_t node)
{
    const bool is_added = node >= delta->base_nodes;
    const uint32_t *count = is_added ? delta->added_of_type : delta->base_of_type;
    uint32_t left = is_added ? node - delta->base_nodes : node, type = 0;
    if (!delta->type_count)
        return delta->feature_dim;
    for (; type + 1 < delta->type_count && left >= count[type]; type++)
        left -= count[type];
    return delta->columns_of_type[type];
}

void delta_types_add(struct record *record, const struct dataset_delta *delta,
                     struct section_scratch *scratch)
{
    const uint32_t *part[] = {delta->base_of_type, delta->added_of_type, delta->columns_of_type};
    const size_t count = delta->type_count, size = count * sizeof **part;
    uint32_t *types = section_scratch_take(scratch, 3 * size);
    for (size_t i = 0; count && i < 3; i++)
        memcpy(types + i * count, part[i], size);
    if (count)
        record_add(record, "node_types", ELEMENT_U32, types, 3 * count);
    if (delta->relation_count)
        record_add(record, "gone_relation", ELEMENT_U16, delta->gone_relation, delta->gone_edges);
}

/* How many nodes there are of each type: they add up. */
enum error_code delta_types_get(const struct record_view *view, struct dataset_delta *out,
                                struct error *err)
{
    const void *data = NULL;
    uint64_t size = 0, base = 0, added = 0;
    if (!record_has(view, "node_types"))
        return ERROR_NONE;
    const enum error_code rc =
        record_section_get(view, "node_types", ELEMENT_U32, -1, &data, &size, err);
    if (rc != ERROR_NONE)
        return rc;
    const uint32_t *types = data;
    const uint64_t count = size / 3;
    if (size % 3 || count < 2 || count > NODE_TYPE_COUNT_MAX)
        return error_set(err, ERROR_CORRUPT,
                         "%s: \"node_types\": expected three numbers for each of 2 to %d types, "
                         "found %" PRIu64,
                         view->key, NODE_TYPE_COUNT_MAX, size);
    for (uint64_t t = 0; t < count; t++) {
        base += types[t];
        added += types[count + t];
    }
    if (base != out->base_nodes || added != out->added_nodes)
        return error_set(err, ERROR_CORRUPT,
                         "%s: \"node_types\": expected %" PRIu32 " nodes of the base and %" PRIu32
                         " added ones in all, found %" PRIu64 " and %" PRIu64,
                         view->key, out->base_nodes, out->added_nodes, base, added);
    out->type_count = (uint32_t)count;
    out->base_of_type = types;
    out->added_of_type = types + count;
    out->columns_of_type = types + 2 * count;
    return ERROR_NONE;
}

static enum error_code check_relations(const struct record_view *view, const char *section,
                                       const uint16_t *relation, uint64_t count, uint32_t limit,
                                       struct error *err)
{
    for (uint64_t i = 0; i < count; i++)
        if (relation[i] >= limit)
            return error_set(err, ERROR_CORRUPT,
                             "%s: \"%s\" entry %" PRIu64 ": expected a relation below %" PRIu32
                             ", found %u",
                             view->key, section, i, limit, relation[i]);
    return ERROR_NONE;
}

enum error_code delta_types_get_gone(const struct record_view *view, struct dataset_delta *out,
                                     struct error *err)
{
    const void *data = NULL;
    if (!out->relation_count)
        return ERROR_NONE;
    const enum error_code rc = record_section_get(view, "gone_relation", ELEMENT_U16,
                                                  (int64_t)out->gone_edges, &data, NULL, err);
    out->gone_relation = data;
    return rc == ERROR_NONE ? check_relations(view, "gone_relation", out->gone_relation,
                                              out->gone_edges, out->relation_count, err)
                            : rc;
}

/* Added edges say their relation where there are several. */
enum error_code delta_types_check_edges(const struct record_view *view,
                                        const struct dataset_delta *out, struct error *err)
{
    const char *name = edge_column[EDGE_TYPE].name;
    if (!out->added_edges || !out->relation_count)
        return ERROR_NONE;
    if (!out->columns.width.of[EDGE_TYPE])
        return error_set(err, ERROR_CORRUPT,
                         "%s: expected \"%s\", the relation of added edges, found none", view->key,
                         name);
    return check_relations(view, name, out->columns.data[EDGE_TYPE], out->added_edges,
                           out->relation_count, err);
}
