/* fuzz_dataset_schema - a dataset schema whose JSON is the input. */
#include "store/records/dataset/dataset_schema.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dataset_schema schema;
    const struct record_view view = {
        .kind = RECORD_DATASET_SCHEMA,
        .version = 1,
        .key = "fuzz",
        .section_count = 1,
        .section = {{.name = "json", .type = ELEMENT_U8, .count = size, .data = data}},
    };
    if (dataset_schema_decode(&view, &schema, NULL) != ERROR_NONE)
        return 0;
    uint64_t nodes = 0, edges = 0;
    must(schema.node_type_count >= 1 && schema.node_type_count <= NODE_TYPE_COUNT_MAX);
    must(schema.edge_type_count >= 1 && schema.edge_type_count <= EDGE_TYPE_COUNT_MAX);
    for (uint32_t i = 0; i < schema.node_type_count; i++)
        nodes += schema.node_type[i].node_count;
    for (uint32_t i = 0; i < schema.edge_type_count; i++)
        edges += schema.edge_type[i].edge_count;
    must(nodes == schema.node_count && edges == schema.edge_count);
    must(memchr(schema.id, '\0', sizeof schema.id) &&
         memchr(schema.name, '\0', sizeof schema.name));
    return 0;
}
