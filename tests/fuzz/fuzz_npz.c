/* fuzz_npz - whatever the bytes, an archive is refused, or each array that comes out of it has the
 * length of its header; and a graph in it is refused or becomes a dataset. */
#include "common/formats/arrays/npy_reader.h"
#include "common/formats/arrays/npz_members.h"

#include "tests/fuzz/fuzz_format.h"

#include <string.h>

extern const struct input_format npz_format;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum error_code check_array(void *context, const char *name, struct error *err)
{
    struct npy_reader reader = {0};
    char path[FILE_PATH_SIZE];
    (void)context;
    if (strcmp(name, "input") == 0)
        return ERROR_NONE;
    must(file_path(path, err, "%s/%s", fuzz_folder(), name) == ERROR_NONE);
    must(npy_reader_open(&reader, path, err) == ERROR_NONE);
    npy_reader_close(&reader);
    return ERROR_NONE;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct pipeline_settings settings;
    struct error err = {0};
    char text[16];
    const char *path = fuzz_file_write(data, size);
    if (npz_members_unpack(path, fuzz_folder(), NULL, NULL, &err) != ERROR_NONE)
        must(err.message[0]);
    else
        must(file_list(fuzz_folder(), check_array, NULL, &err) == ERROR_NONE);
    if (npz_members_text(path, "format", text, sizeof text, &err) == ERROR_NONE)
        must(memchr(text, '\0', sizeof text));
    pipeline_settings_defaults(&settings);
    (void)snprintf(settings.ingest.path, sizeof settings.ingest.path, "%s", path);
    fuzz_format_read(&npz_format, &settings);
    fuzz_folder_remove();
    return 0;
}
