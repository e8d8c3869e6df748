#include "store/topology/merged_rows.h"

#include "common/base/memory.h"
#include "common/files/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ARRAY_ALIGNMENT = 64 };

static void lay_out(const struct topology_part *part, struct merged_rows *rows)
{
    topology_arrays_describe(0, part->node_count, part->edge_count, &part->width, rows->array);
    rows->start[0] = 0;
    for (int a = 0; a < TOPOLOGY_ARRAY_COUNT; a++) {
        const size_t bytes = (size_t)rows->array[a].count * rows->array[a].element_size;
        rows->start[a + 1] =
            rows->start[a] + (bytes + ARRAY_ALIGNMENT - 1) / ARRAY_ALIGNMENT * ARRAY_ALIGNMENT;
    }
    rows->size = rows->start[TOPOLOGY_ARRAY_COUNT];
}

/* Makes and maps a file. Its space is reserved first: on a full disk a write through a map would
 * end with SIGBUS. */
static enum error_code map_file(const char *path, struct merged_rows *out, struct error *err)
{
    const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return error_set_errno(err, ERROR_IO, "%s cannot be made", path);
    const int code = posix_fallocate(fd, 0, (off_t)out->size);
    errno = code;
    enum error_code rc = ERROR_NONE;
    if (code)
        rc = error_set_errno(err, ERROR_IO, "%s: no room for %zu bytes", path, out->size);
    void *bytes = rc == ERROR_NONE
                      ? mmap(NULL, out->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                      : MAP_FAILED;
    if (rc == ERROR_NONE && bytes == MAP_FAILED)
        rc = error_set_errno(err, ERROR_IO, "%s cannot be mapped", path);
    out->bytes = bytes == MAP_FAILED ? NULL : bytes;
    (void)close(fd);
    return rc;
}

static enum error_code make_room(struct store *store, const struct topology_part *part,
                                 struct merged_rows *out, struct error *err)
{
    char scratch[FILE_PATH_SIZE], path[FILE_PATH_SIZE];
    enum error_code rc = store_scratch(store, scratch, err);
    lay_out(part, out);
    if (rc != ERROR_NONE)
        return rc;
    rc = file_path(path, err, "%s/rows", scratch);
    if (rc == ERROR_NONE)
        rc = map_file(path, out, err);
    const enum error_code removed = file_remove_all(scratch, rc == ERROR_NONE ? err : NULL);
    return rc == ERROR_NONE ? removed : rc;
}

void merged_rows_release(struct merged_rows *rows)
{
    if (rows->bytes)
        (void)munmap(rows->bytes, rows->size);
    *rows = (struct merged_rows){0};
}

static void sum_weights(const struct merged_rows *merged, const struct topology_part *part)
{
    const struct topology_arrays rows = {
        .first_node = part->first_node,
        .node_count = part->node_count,
        .edge_count = part->edge_count,
        .row_start = merged_rows_at(merged, TOPOLOGY_ROW_START),
        .neighbor = merged_rows_at(merged, TOPOLOGY_NEIGHBOR),
        .columns.data[EDGE_WEIGHT] = merged_rows_at(merged, TOPOLOGY_FIRST_COLUMN + EDGE_WEIGHT),
    };
    topology_arrays_sum_weights(&rows, merged_rows_at(merged, TOPOLOGY_WEIGHT_SUM));
}

/* Points a part's list of chunks to an array. `out` is the address of the pointer to that list. */
static enum error_code point_to(const struct merged_rows *rows, int number, void *out,
                                struct error *err)
{
    const struct topology_array *array = &rows->array[number];
    const uint64_t chunks = topology_array_chunks(array);
    const char **chunk = NULL;
    const enum error_code rc =
        memory_new(&chunk, chunks ? chunks : 1, "the chunks of an array", err);
    for (uint64_t i = 0; rc == ERROR_NONE && i < chunks; i++)
        chunk[i] =
            (const char *)merged_rows_at(rows, number) + (i << array->shift) * array->element_size;
    memcpy(out, &chunk, sizeof chunk);
    return rc;
}

static enum error_code finish(const struct merged_rows *rows, struct topology_part *part,
                              struct error *err)
{
    if (part->width.of[EDGE_WEIGHT])
        sum_weights(rows, part);
    enum error_code rc = point_to(rows, TOPOLOGY_ROW_START, &part->row_start_chunk, err);
    if (rc == ERROR_NONE)
        rc = point_to(rows, TOPOLOGY_NEIGHBOR, &part->neighbor_chunk, err);
    for (int c = 0; rc == ERROR_NONE && c < EDGE_COLUMN_COUNT; c++)
        if (part->width.of[c])
            rc = point_to(rows, TOPOLOGY_FIRST_COLUMN + c, &part->column_chunk[c], err);
    if (rc == ERROR_NONE && part->width.of[EDGE_WEIGHT])
        rc = point_to(rows, TOPOLOGY_WEIGHT_SUM, &part->weight_sum_chunk, err);
    return rc;
}

enum error_code merged_rows_build(struct store *store, struct topology_part *part,
                                  merged_rows_step count, merged_rows_step fill, void *merging,
                                  struct merged_rows *out, struct error *err)
{
    enum error_code rc = make_room(store, part, out, err);
    if (rc == ERROR_NONE)
        rc = count(merging, err);
    if (rc == ERROR_NONE)
        rc = fill(merging, err);
    if (rc == ERROR_NONE)
        rc = finish(out, part, err);
    if (rc != ERROR_NONE)
        merged_rows_release(out);
    return rc;
}
