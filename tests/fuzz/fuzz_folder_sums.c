/* fuzz_folder_sums - the list of files of a sealed folder: as it is, and with the hash of its lines behind it. */
#include "common/files/checksum.h"
#include "common/files/file.h"
#include "store/features/folder_sums.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[FILE_PATH_SIZE];

static void remove_folder(void)
{
    (void)!file_remove_all(folder, NULL);
}

static void make_folder(void)
{
    char path[FILE_PATH_SIZE];
    const char *base = getenv("TMPDIR");
    must(file_path(folder, NULL, "%s/graphmill-fuzz-XXXXXX", base ? base : "/tmp") == ERROR_NONE);
    must(mkdtemp(folder) != NULL);
    must(atexit(remove_folder) == 0);
    must(file_path(path, NULL, "%s/a", folder) == ERROR_NONE);
    must(file_replace(path, "a", 1, false, NULL) == ERROR_NONE);
}

static void check(const char *text, size_t size)
{
    struct error err = {0};
    char path[FILE_PATH_SIZE];
    must(file_path(path, NULL, "%s/SUMS", folder) == ERROR_NONE);
    must(file_replace(path, text, size, false, &err) == ERROR_NONE);
    const enum error_code rc = folder_sums_check(folder, "fuzz", true, &err);
    must(rc == ERROR_NONE || rc == ERROR_CORRUPT);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!*folder)
        make_folder();
    check((const char *)data, size);
    char *text = malloc(size + CHECKSUM_TEXT_SIZE + 1);
    must(text != NULL);
    memcpy(text, data, size);
    const struct checksum sum = checksum_of(data, size);
    checksum_text(&sum, text + size);
    text[size + CHECKSUM_TEXT_SIZE - 1] = '\n';
    check(text, size + CHECKSUM_TEXT_SIZE);
    free(text);
    return 0;
}
