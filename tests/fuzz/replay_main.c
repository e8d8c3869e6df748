/* replay_main - runs a fuzz target over a folder of stored inputs, so that every normal build repeats what
 * the fuzzer found. */
#include "common/base/file.h"
#include "common/base/memory.h"

#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct replay {
    const char *folder;
    int input_count;
};

static enum error_code replay_file(void *context, const char *name, struct error *err)
{
    struct replay *replay = context;
    char path[FILE_PATH_SIZE];
    char *data = NULL;
    size_t size = 0;
    enum error_code rc = file_path(path, err, "%s/%s", replay->folder, name);
    if (rc == ERROR_NONE)
        rc = file_read(path, 0, &data, &size, err);
    if (rc == ERROR_NONE)
        (void)LLVMFuzzerTestOneInput((const uint8_t *)data, size);
    memory_free(data);
    replay->input_count++;
    return rc;
}

int main(int argc, char **argv)
{
    struct error err = {0};
    struct replay replay = {0};
    for (int i = 1; i < argc; i++) {
        replay.folder = argv[i];
        if (file_list(argv[i], replay_file, &replay, &err) != ERROR_NONE) {
            (void)fprintf(stderr, "%s: %s\n", argv[i], err.message);
            return 1;
        }
    }
    (void)printf("inputs=%d\n", replay.input_count);
    return replay.input_count == 0; /* an empty corpus tests nothing */
}
