/*
 * fuzz_edge_list - whatever the bytes (plain or gzip), an edge list is refused or every edge lies
 * between its nodes.
 *
 * The builder is replaced by one that only checks what it is given.
 */
#include "common/base/error.h"
#include "stages/ingest/edge_list_reader.h"
#include "store/records/node_ids.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>

struct dataset_builder {
    uint64_t node_count, edge_count, id_count;
};

enum error_code dataset_builder_set_nodes(struct dataset_builder *builder, uint64_t node_count,
                                          bool input_undirected, struct error *err)
{
    (void)input_undirected;
    (void)err;
    builder->node_count = node_count;
    return ERROR_NONE;
}

enum error_code dataset_builder_add_edges(struct dataset_builder *builder,
                                          const struct edge_piece *piece, struct error *err)
{
    (void)err;
    for (size_t i = 0; i < piece->count; i++) {
        must(piece->source[i] >= 0 && (uint64_t)piece->source[i] < builder->node_count);
        must(piece->target[i] >= 0 && (uint64_t)piece->target[i] < builder->node_count);
        must(!piece->weight || isfinite(piece->weight[i]));
        must(!piece->time || isfinite(piece->time[i]));
    }
    builder->edge_count += piece->count;
    return ERROR_NONE;
}

enum error_code dataset_builder_set_ids(struct dataset_builder *builder, const struct node_ids *ids,
                                        struct error *err)
{
    (void)err;
    builder->id_count = ids->node_count;
    return ERROR_NONE;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = {0};
    struct dataset_builder builder = {0};
    const struct edge_list_input input = {"fuzz.tsv", data, size};
    if (edge_list_reader_run(&input, ID_TYPE_AUTO, 1 << 24, &builder, &err) != ERROR_NONE) {
        must(err.message[0]);
        return 0;
    }
    must(builder.edge_count > 0 && builder.node_count > 0);
    must(builder.id_count == 0 || builder.id_count == builder.node_count);
    return 0;
}
