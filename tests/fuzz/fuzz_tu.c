/* fuzz_tu - whatever the files of a set of the TU Dortmund collection say (a byte 1 between them),
 * they are refused or become a dataset. */
#include "tests/fuzz/fuzz_format.h"

extern const struct input_format tu_format;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"X_A.txt",
                                        "X_graph_indicator.txt",
                                        "X_graph_labels.txt",
                                        "X_node_attributes.txt",
                                        "X_node_labels.txt",
                                        "train.csv"};
    return fuzz_format_folder(&tu_format, TASK_GRAPH_CLASSIFICATION, names,
                              sizeof names / sizeof *names, data, size);
}
