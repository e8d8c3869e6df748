#include "stages/ingest/formats/columns/numbered_nodes.h"

#include "common/base/text.h"
#include "stages/ingest/formats/columns/held_edge_files.h"
#include "stages/ingest/formats/columns/node_files.h"

enum error_code numbered_nodes_begin(struct named_nodes *nodes, uint64_t node_count,
                                     enum stated_direction stated, const char *where,
                                     uint64_t memory_bytes, struct dataset_builder *builder,
                                     struct error *err)
{
    enum error_code rc = dataset_builder_set_nodes(builder, node_count, stated, err);
    named_nodes_init(nodes, false, memory_bytes / 2);
    for (uint64_t i = 1; rc == ERROR_NONE && i <= node_count; i++) {
        char digits[TEXT_NUMBER_SIZE];
        const struct field field = {.text = digits, .size = text_put_number(digits, i)};
        rc = named_nodes_note(nodes, &field, "node", where, 1, err);
    }
    if (rc != ERROR_NONE)
        return rc;
    named_nodes_finish(nodes);
    nodes->are_fixed = true;
    const struct node_ids ids = node_id_assigner_view(&nodes->ids);
    return dataset_builder_set_ids(builder, &ids, err);
}

enum error_code numbered_nodes_push_files(const struct named_nodes *nodes,
                                          const struct pipeline_settings *settings,
                                          struct dataset_builder *builder, struct error *err)
{
    struct node_files files;
    enum error_code rc = node_files_open(&files, settings, err);
    if (rc == ERROR_NONE)
        rc = node_files_push(&files, nodes, builder, err);
    node_files_release(&files);
    return rc == ERROR_NONE ? held_edge_files_push(settings, nodes, builder, err) : rc;
}
