/* fuzz_folder - whatever the files of a folder say (a byte 1 between them), they are refused or
 * become a dataset. */
#include "tests/fuzz/fuzz_format.h"

extern const struct input_format folder_format;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"meta.json",      "edges.csv",       "node-label.csv",
                                        "train.csv",      "valid.csv",       "node-ids.csv",
                                        "node-feat.npy",  "node-types.csv",  "edge-types.csv",
                                        "node-graph.csv", "graph-label.csv", "relations.csv"};
    return fuzz_format_folder(&folder_format, TASK_UNKNOWN, names, sizeof names / sizeof *names,
                              data, size);
}
