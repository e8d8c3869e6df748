/* fuzz_file - the bytes of an input as a file, for what reads files alone. */
#ifndef TESTS_FUZZ_FUZZ_FILE_H
#define TESTS_FUZZ_FUZZ_FILE_H

#include "common/base/memory.h"
#include "common/files/file.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A folder of this process, made once and left empty by each input. */
static inline const char *fuzz_folder(void)
{
    static char folder[FILE_PATH_SIZE];
    const char *temporary = getenv("TMPDIR");
    if (!folder[0]) {
        (void)snprintf(folder, sizeof folder, "%s/graphmill-fuzz-XXXXXX",
                       temporary ? temporary : "/tmp");
        must(mkdtemp(folder));
    }
    return folder;
}

/* <folder>/input with these bytes. */
static inline const char *fuzz_file_write(const uint8_t *data, size_t size)
{
    static char path[FILE_PATH_SIZE];
    struct error err = {0};
    must(file_path(path, &err, "%s/input", fuzz_folder()) == ERROR_NONE);
    must(file_replace(path, data, size, false, &err) == ERROR_NONE);
    return path;
}

/* <folder>/<name> for each of names [count]: the bytes up to the next byte 1, the last has the rest. Returns the folder. */
static inline const char *fuzz_files_write(const uint8_t *data, size_t size,
                                           const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint8_t *end = i + 1 < count && size ? memchr(data, 1, size) : NULL;
        const size_t part = end ? (size_t)(end - data) : size;
        char path[FILE_PATH_SIZE];
        struct error err = {0};
        must(file_path(path, &err, "%s/%s", fuzz_folder(), names[i]) == ERROR_NONE);
        must(file_replace(path, data, part, false, &err) == ERROR_NONE);
        data += end ? part + 1 : part;
        size -= end ? part + 1 : part;
    }
    return fuzz_folder();
}

static inline void fuzz_folder_remove(void)
{
    struct error err = {0};
    must(file_remove_all(fuzz_folder(), &err) == ERROR_NONE);
    must(file_make_folders(fuzz_folder(), &err) == ERROR_NONE);
}

#endif
