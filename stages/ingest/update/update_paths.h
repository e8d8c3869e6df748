/*
 * update_paths - the files that an update was read from, and places in them as numbers, for
 * messages about lines that were read long before.
 *
 *   place    | 23 bits which file | 40 bits which line |      ascending as they are read
 */
#ifndef STAGES_INGEST_UPDATE_UPDATE_PATHS_H
#define STAGES_INGEST_UPDATE_UPDATE_PATHS_H

#include "common/base/error.h"

#include <stddef.h>
#include <stdint.h>

enum { PLACE_LINE_BITS = 40, UPDATE_PATHS_MAX = 1 << 23 };

struct update_paths { /* {0} is empty */
    char **path;      /* [count] owned */
    size_t count, room;
};

/* Adds a file; its places begin at *first. Fails: ERROR_NO_MEMORY; ERROR_INVALID above
 * UPDATE_PATHS_MAX. */
MUST_CHECK enum error_code update_paths_add(struct update_paths *paths, const char *path,
                                            int64_t *first, struct error *err);
void update_paths_release(struct update_paths *paths);

static inline const char *update_place_path(const struct update_paths *paths, int64_t place)
{
    return paths->path[place >> PLACE_LINE_BITS];
}
static inline int64_t update_place_line(int64_t place)
{
    return place & ((INT64_C(1) << PLACE_LINE_BITS) - 1);
}

#endif
