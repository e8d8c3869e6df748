/* fuzz_triples - whatever a file of N-Triples or SIF says (the first byte decides), it is refused,
 * or every edge is between its nodes. */
#include "stages/ingest/formats/shared/input_format.h"

#include "tests/fuzz/checking_builder.h"
#include "tests/fuzz/fuzz_file.h"

extern const struct input_format ntriples_format, sif_format;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct pipeline_settings settings;
    struct error err = {0};
    struct dataset_builder builder = {0};
    if (size == 0)
        return 0;
    pipeline_settings_defaults(&settings);
    (void)snprintf(settings.ingest.path, sizeof settings.ingest.path, "%s",
                   fuzz_file_write(data + 1, size - 1));
    const enum error_code rc =
        (data[0] == 's' ? sif_format : ntriples_format).run(&settings, 1 << 24, &builder, &err);
    if (rc != ERROR_NONE)
        must(err.message[0]);
    else
        must(builder.node_count && builder.id_count == builder.node_count);
    return 0;
}
