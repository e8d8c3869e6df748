#include "stages/ingest/formats/shared/relation_names.h"

#include "common/base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static enum error_code take_name(const struct node_ids *names, uint64_t number, const char *where,
                                 struct edge_type *type, struct error *err)
{
    if (!names) {
        (void)snprintf(type->name, sizeof type->name, "edge-%" PRIu64, number);
        return ERROR_NONE;
    }
    const uint64_t size = names->offset[number + 1] - names->offset[number];
    if (size == 0 || size >= TYPE_NAME_SIZE)
        return error_set(err, ERROR_INPUT,
                         "%s: relation '%.*s': expected a name of 1 to %d bytes, found %" PRIu64,
                         where, size < 80 ? (int)size : 80, names->text + names->offset[number],
                         TYPE_NAME_SIZE - 1, size);
    memcpy(type->name, names->text + names->offset[number], size);
    return ERROR_NONE;
}

enum error_code relation_names_set(const struct node_ids *names, uint64_t count,
                                   uint64_t node_count, const char *where,
                                   struct dataset_builder *builder, struct error *err)
{
    const struct node_type nodes = {.name = "node", .node_count = (uint32_t)node_count};
    struct edge_type *types = NULL;
    if (count < 2)
        return ERROR_NONE;
    if (count > EDGE_TYPE_COUNT_MAX)
        return error_set(err, ERROR_INPUT,
                         "%s: expected at most %d relations, found %" PRIu64 ": " ADVICE
                         "leave out the rare ones",
                         where, EDGE_TYPE_COUNT_MAX, count);
    enum error_code rc = memory_new(&types, count, "the relations of a graph", err);
    for (uint64_t i = 0; rc == ERROR_NONE && i < count; i++)
        rc = take_name(names, i, where, &types[i], err);
    if (rc == ERROR_NONE)
        rc = dataset_builder_set_types(builder, &nodes, 1, types, (uint32_t)count, err);
    memory_free(types);
    return rc;
}
