/*
 * fuzz_edge_list - whatever the bytes (plain or gzip), an edge list is refused or every edge lies
 * between its nodes.
 *
 * The builder is replaced by one that only checks what it is given.
 */
#include "stages/ingest/formats/edge_list_reader.h"

#include "tests/fuzz/checking_builder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = {0};
    struct dataset_builder builder = {0};
    const struct edge_list_input input = {.name = "fuzz.tsv", .data = data, .size = size};
    if (edge_list_reader_run(&input, ID_TYPE_AUTO, 1 << 24, &builder, &err) != ERROR_NONE) {
        must(err.message[0]);
        return 0;
    }
    must(builder.edge_count > 0 && builder.node_count > 0);
    must(builder.id_count == 0 || builder.id_count == builder.node_count);
    return 0;
}
