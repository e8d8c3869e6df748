/* fuzz_node_loads - a table of what was read of nodes. The first byte says how many nodes the dataset has, and what ids. */
#include "stages/plan/model/node_loads.h"

#include "tests/fuzz/fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { NODES_MAX = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint64_t offset[NODES_MAX + 1] = {0, 1, 2, 5, 6, 9, 10, 11, 12};
    static const struct node_ids words = {
        .node_count = NODES_MAX, .offset = offset, .text = "abc,dee\nfghi"};
    static const struct node_ids numbers = {.node_count = NODES_MAX};
    struct node_loads loads = {0}, again = {0};
    struct error err = {0};
    if (size < 1)
        return 0;
    const struct node_ids *ids = data[0] & 128 ? &words : &numbers;
    const uint32_t nodes = data[0] % NODES_MAX + 1;
    const char *path = fuzz_file_write(data + 1, size - 1);
    const enum error_code rc = node_loads_read(path, nodes, ids, &loads, &err);
    must(rc == ERROR_NONE || rc == ERROR_INPUT);
    if (rc == ERROR_NONE) { /* what was read is written so that it reads back */
        must(node_loads_write(path, &loads, ids, &err) == ERROR_NONE);
        must(node_loads_read(path, nodes, ids, &again, &err) == ERROR_NONE);
        must(memcmp(loads.reads, again.reads, nodes * sizeof *loads.reads) == 0);
        must(memcmp(loads.remote, again.remote, nodes * sizeof *loads.remote) == 0);
        must(memcmp(loads.edges, again.edges, nodes * sizeof *loads.edges) == 0);
        must(!loads.nanoseconds == !again.nanoseconds);
        if (loads.nanoseconds)
            must(memcmp(loads.nanoseconds, again.nanoseconds, nodes * sizeof *loads.nanoseconds) ==
                 0);
    }
    node_loads_release(&again);
    node_loads_release(&loads);
    fuzz_folder_remove();
    return 0;
}
