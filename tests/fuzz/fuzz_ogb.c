/* fuzz_ogb - whatever the raw folder of an OGB set says (a byte 1 between its files), it is refused
 * or becomes a dataset. */
#include "tests/fuzz/fuzz_format.h"

extern const struct input_format ogb_format;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {
        "raw/edge.csv",      "raw/num-node-list.csv", "raw/num-edge-list.csv",
        "raw/node-feat.csv", "raw/node-label.csv",    "raw/edge_weight.csv",
        "split/a/train.csv", "split/a/valid.csv",     "split/a/test.csv"};
    static const char *const folders[] = {"raw", "split/a"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char path[FILE_PATH_SIZE];
        struct error err = {0};
        must(file_path(path, &err, "%s/%s", fuzz_folder(), folders[i]) == ERROR_NONE);
        must(file_make_folders(path, &err) == ERROR_NONE);
    }
    return fuzz_format_folder(&ogb_format, TASK_UNKNOWN, names, sizeof names / sizeof *names, data,
                              size);
}
