/* fuzz_graphsaint - whatever a folder of GraphSAINT says, it is refused or becomes a dataset. The
 * first two bytes are the size of adj_full.npz, which follows; then come feats.npy, class_map.json
 * and role.json, a byte 1 between them. */
#include "tests/fuzz/fuzz_format.h"

extern const struct input_format graphsaint_format;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"feats.npy", "class_map.json", "role.json"};
    char path[FILE_PATH_SIZE];
    struct error err = {0};
    if (size < 2)
        return 0;
    const size_t asked = data[0] + 256U * data[1], rest = size - 2;
    const size_t archive = asked < rest ? asked : rest;
    must(file_path(path, &err, "%s/adj_full.npz", fuzz_folder()) == ERROR_NONE);
    must(file_replace(path, data + 2, archive, false, &err) == ERROR_NONE);
    return fuzz_format_folder(&graphsaint_format, TASK_UNKNOWN, names, sizeof names / sizeof *names,
                              data + 2 + archive, rest - archive);
}
