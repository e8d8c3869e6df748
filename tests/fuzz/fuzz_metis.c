/* fuzz_metis - whatever the bytes (plain or gzip), a file is refused or every edge lies between its nodes. */
#include "stages/ingest/formats/shared/input_format.h"

#include "tests/fuzz/checking_builder.h"
#include "tests/fuzz/fuzz_file.h"

extern const struct input_format metis_format;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct pipeline_settings settings;
    struct error err = {0};
    struct dataset_builder builder = {0};
    pipeline_settings_defaults(&settings);
    (void)snprintf(settings.ingest.path, sizeof settings.ingest.path, "%s",
                   fuzz_file_write(data, size));
    if (metis_format.run(&settings, 1 << 20, &builder, &err) != ERROR_NONE)
        must(err.message[0]);
    else
        must(builder.node_count > 0 && builder.id_count == builder.node_count);
    fuzz_folder_remove();
    return 0;
}
