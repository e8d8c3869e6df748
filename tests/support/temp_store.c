#include "tests/support/temp_store.h"

#include "common/base/memory.h"

int temp_store_setup(void **state)
{
    static struct temp_store temp;
    temp = (struct temp_store){0};
    temp_dir_make(&temp.dir);
    *state = &temp;
    return store_open(temp.dir.path, 0, &temp.store, &temp.err) == ERROR_NONE ? 0 : -1;
}

int temp_store_teardown(void **state)
{
    struct temp_store *temp = *state;
    store_close(temp->store);
    temp_dir_remove(&temp->dir);
    return memory_live_blocks() == 0 ? 0 : -1;
}
