#include "tests/support/shard_damage.h"

#include "common/base/file.h"

#include "tests/support/test.h"

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
