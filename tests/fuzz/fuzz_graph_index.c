/* fuzz_graph_index - nodes of graphs from arbitrary sections. The first byte says how many nodes there are. */
#include "store/records/dataset/graph_index.h"

#include "tests/fuzz/fuzz_record_view.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = {"facts", "graph_of", "first", "id"};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct record_view view;
    struct graph_index index;
    if (size == 0)
        return 0;
    const uint32_t node_count = data[0];
    fuzz_record_view(data + 1, size - 1, RECORD_GRAPH_INDEX, names, sizeof names / sizeof *names,
                     &view);
    if (record_has(&view, "id"))
        view.version = 2;
    if (graph_index_decode(&view, node_count, &index, NULL) == ERROR_NONE) {
        int64_t sum = 0;
        for (uint32_t node = 0; node < node_count; node++)
            must((index.first ? graph_index_find(&index, node) : index.graph_of[node]) <
                 index.graph_count);
        for (uint32_t graph = 0; graph < index.graph_count; graph++)
            sum ^= graph_index_id(&index, graph);
        must(sum >= INT64_MIN);
    }
    fuzz_record_view_release(&view);
    return 0;
}
