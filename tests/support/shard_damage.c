#include "tests/support/shard_damage.h"

#include "common/files/file.h"

#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static enum error_code empty_table(void *context, const char *name, struct error *err)
{
    char path[FILE_PATH_SIZE];
    const enum error_code rc = file_path(path, err, "%s/%s", (const char *)context, name);
    if (strstr(name, ".sst"))
        assert_int_equal(truncate(path, 0), 0);
    return rc;
}

void shard_damage_empty_tables(struct store *store, struct key key)
{
    char folder[FILE_PATH_SIZE];
    struct error err = {0};
    assert_ok(store_artifact(store, key.text, folder, &err), &err);
    assert_ok(file_list(folder, empty_table, folder, &err), &err);
}

struct largest {
    const char *folder;
    char path[FILE_PATH_SIZE];
    uint64_t size;
};

static enum error_code find_largest(void *context, const char *name, struct error *err)
{
    struct largest *largest = context;
    char path[FILE_PATH_SIZE];
    uint64_t size = 0;
    enum error_code rc = file_path(path, err, "%s/%s", largest->folder, name);
    if (rc == ERROR_NONE)
        rc = file_size(path, &size, err);
    if (rc != ERROR_NONE || !strstr(name, ".sst") || size <= largest->size)
        return rc;
    largest->size = size;
    return file_path(largest->path, err, "%s", path);
}

void shard_damage_largest_table(struct store *store, struct key key)
{
    char folder[FILE_PATH_SIZE];
    struct largest largest = {.folder = folder};
    struct error err = {0};
    assert_ok(store_artifact(store, key.text, folder, &err), &err);
    assert_ok(file_list(folder, find_largest, &largest, &err), &err);
    FILE *file = fopen(largest.path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, (long)(largest.size / 2), SEEK_SET), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(fputc(0x55, file), 0x55);
    assert_int_equal(fclose(file), 0);
}
