/* fuzz_ogb_types - whatever the tables of types and one relation of an OGB data set say (a byte 1 between them), they are refused, or
 * every edge and row is of a node of its type. */
#include "stages/ingest/formats/collections/ogb_types.h"

#include "tests/fuzz/checking_builder.h"
#include "tests/fuzz/fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"num-node-dict.csv", "triplet-type-list.csv",
                                        "relations/a___r___b/edge.csv",
                                        "node-label/a/node-label.csv"};
    static struct pipeline_settings settings;
    char path[FILE_PATH_SIZE];
    struct error err = {0};
    struct dataset_builder builder = {0};
    pipeline_settings_defaults(&settings);
    for (size_t i = 2; i < sizeof names / sizeof *names; i++) {
        must(file_path(path, &err, "%s/%s", fuzz_folder(), names[i]) == ERROR_NONE);
        *strrchr(path, '/') = '\0';
        must(file_make_folders(path, &err) == ERROR_NONE);
    }
    const char *raw = fuzz_files_write(data, size, names, sizeof names / sizeof *names);
    (void)snprintf(settings.ingest.path, sizeof settings.ingest.path, "%s", raw);
    if (ogb_types_run(&settings, raw, &builder, &err) != ERROR_NONE)
        must(err.message[0]);
    else
        must(builder.label_count == 0 || builder.label_count == builder.node_count);
    fuzz_folder_remove();
    return 0;
}
