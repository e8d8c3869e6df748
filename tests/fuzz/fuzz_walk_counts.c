/* fuzz_walk_counts - counts of walks from arbitrary sections; what a reader lets through is read to its end. */
#include "store/records/batch/walk_counts.h"

#include "tests/fuzz/fuzz_record_view.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = {"drawn", "node", "edge"};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct record_view view;
    struct walk_counts counts;
    fuzz_record_view(data, size, RECORD_WALK_COUNTS, names, sizeof names / sizeof *names, &view);
    if (walk_counts_decode(&view, &counts, NULL) == ERROR_NONE) {
        for (uint64_t i = 0; i < counts.node_count; i++)
            must(counts.node[i] <= counts.drawn);
        for (uint64_t i = 0; i < counts.edge_count; i++)
            must(counts.edge[i] <= counts.drawn);
    }
    fuzz_record_view_release(&view);
    return 0;
}
