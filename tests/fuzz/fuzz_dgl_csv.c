/* fuzz_dgl_csv - whatever a DGL CSVDataset (meta.yaml, nodes.csv, edges.csv, a byte 1 between them) say, they
 * are refused, or every edge, row and split is of a node that there is. */
#include "stages/ingest/formats/shared/input_format.h"

#include "tests/fuzz/checking_builder.h"
#include "tests/fuzz/fuzz_file.h"

extern const struct input_format dgl_csv_format;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"meta.yaml", "nodes.csv", "edges.csv"};
    static struct pipeline_settings settings;
    struct error err = {0};
    struct dataset_builder builder = {0};
    pipeline_settings_defaults(&settings);
    (void)snprintf(settings.ingest.path, sizeof settings.ingest.path, "%s",
                   fuzz_files_write(data, size, names, sizeof names / sizeof *names));
    if (dgl_csv_format.run(&settings, 1 << 20, &builder, &err) != ERROR_NONE)
        must(err.message[0]);
    else
        must(builder.label_count == 0 || builder.label_count == builder.node_count);
    fuzz_folder_remove();
    return 0;
}
