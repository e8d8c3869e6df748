/* fuzz_openke - whatever a folder of OpenKE says (train2id.txt, entity2id.txt and relation2id.txt,
 * a byte 1 between them), it is refused, or every edge is between its nodes. */
#include "stages/ingest/formats/shared/input_format.h"

#include "tests/fuzz/checking_builder.h"
#include "tests/fuzz/fuzz_file.h"

extern const struct input_format openke_format;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"train2id.txt", "entity2id.txt", "relation2id.txt"};
    static struct pipeline_settings settings;
    struct error err = {0};
    struct dataset_builder builder = {0};
    pipeline_settings_defaults(&settings);
    (void)snprintf(settings.ingest.path, sizeof settings.ingest.path, "%s",
                   fuzz_files_write(data, size, names, sizeof names / sizeof *names));
    if (openke_format.run(&settings, 1 << 20, &builder, &err) != ERROR_NONE)
        must(err.message[0]);
    else
        must(builder.node_count && (!builder.id_count || builder.id_count == builder.node_count));
    fuzz_folder_remove();
    return 0;
}
