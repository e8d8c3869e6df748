/*
 * fuzz_edge_list - whatever the bytes (plain, gzip or zstd), an edge list is refused or every edge lies
 * between its nodes.
 *
 * The builder is replaced by one that only checks what it is given.
 */
#include "stages/ingest/formats/files/edge_list_reader.h"

#include "tests/fuzz/checking_builder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t before = UINT32_MAX; /* each choice takes no more edge features than the one before */
    for (int choice = EDGE_FEATURES_AUTO; choice <= EDGE_FEATURES_NONE; choice++) {
        struct error err = {0};
        struct dataset_builder builder = {0};
        const struct edge_list_input input = {.name = "fuzz.tsv",
                                              .data = data,
                                              .size = size,
                                              .edge_features = (enum edge_feature_choice)choice};
        if (edge_list_reader_run(&input, ID_TYPE_AUTO, 1 << 24, &builder, &err) != ERROR_NONE) {
            must(err.message[0]);
            continue;
        }
        must(builder.edge_count > 0 && builder.node_count > 0);
        must(builder.id_count == 0 || builder.id_count == builder.node_count);
        must(builder.edge_feature_width <= before);
        must(choice != EDGE_FEATURES_NONE || builder.edge_feature_width == 0);
        before = builder.edge_feature_width;
    }
    return 0;
}
