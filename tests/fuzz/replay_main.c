/* Feeds every file of a corpus folder to a fuzzer's entry, so that what fuzzing found once is a test. */
#include "common/base/memory.h"
#include "common/files/file.h"

#include <stdio.h>

/* The name is libFuzzer's. NOLINTNEXTLINE(readability-identifier-naming) */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum error_code replay(void *context, const char *name, struct error *err)
{
    char path[FILE_PATH_SIZE];
    char *data = NULL;
    size_t size = 0;
    enum error_code rc = file_path(path, err, "%s/%s", (const char *)context, name);
    if (rc == ERROR_NONE)
        rc = file_read(path, 0, &data, &size, err);
    if (rc == ERROR_NONE)
        (void)LLVMFuzzerTestOneInput((const uint8_t *)data, size);
    memory_free(data);
    return rc;
}

int main(int argc, char **argv)
{
    struct error err = {0};
    for (int i = 1; i < argc; i++)
        if (file_list(argv[i], replay, argv[i], &err) != ERROR_NONE) {
            (void)fprintf(stderr, "%s\n", err.message);
            return 1;
        }
    return argc > 1 ? 0 : 64;
}
