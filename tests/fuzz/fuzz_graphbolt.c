/* fuzz_graphbolt - whatever an OnDiskDataset says (metadata.yaml, edges.csv, feat.npy, seeds.npy
 * and labels.npy, a byte 1 between them), it is refused or becomes a dataset. */
#include "tests/fuzz/fuzz_format.h"

extern const struct input_format graphbolt_format;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"metadata.yaml", "edges.csv", "feat.npy", "seeds.npy",
                                        "labels.npy"};
    return fuzz_format_folder(&graphbolt_format, TASK_UNKNOWN, names, sizeof names / sizeof *names,
                              data, size);
}
