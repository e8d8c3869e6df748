#include "stages/ingest/update/update_paths.h"

#include "common/base/memory.h"

#include <string.h>

enum error_code update_paths_add(struct update_paths *paths, const char *path, int64_t *first,
                                 struct error *err)
{
    static const char what[] = "the names of an update's files";
    const size_t size = strlen(path) + 1;
    char *copy = NULL;
    if (paths->count == UPDATE_PATHS_MAX)
        return error_set(err, ERROR_INVALID, "%s: expected at most %d files", path,
                         UPDATE_PATHS_MAX);
    enum error_code rc = memory_grow(&paths->path, &paths->room, paths->count + 1, what, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&copy, size, what, err);
    if (rc != ERROR_NONE)
        return rc;
    memcpy(copy, path, size);
    *first = (int64_t)paths->count << PLACE_LINE_BITS;
    paths->path[paths->count++] = copy;
    return ERROR_NONE;
}

void update_paths_release(struct update_paths *paths)
{
    for (size_t i = 0; i < paths->count; i++)
        memory_free(paths->path[i]);
    memory_free(paths->path);
    *paths = (struct update_paths){0};
}
