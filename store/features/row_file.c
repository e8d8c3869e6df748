#include "store/features/row_file.h"

#include "common/base/memory.h"
#include "common/files/file.h"

#include <fcntl.h>
#include <unistd.h>

enum { ROWS_AT_ONCE = 256 };

struct row_file {
    int fd;
    size_t row_bytes;
    uint64_t *is_stored; /* one bit for each row */
};

static bool is_stored(const struct row_file *file, uint32_t id)
{
    return file->is_stored[id / 64] >> (id % 64) & 1;
}

void row_file_close(struct row_file *file)
{
    if (!file)
        return;
    if (file->fd >= 0)
        (void)close(file->fd);
    memory_free(file->is_stored);
    memory_free(file);
}

enum error_code row_file_new(const char *path, size_t row_bytes, uint32_t row_count,
                             struct row_file **out, struct error *err)
{
    struct row_file *file = NULL;
    *out = NULL;
    enum error_code rc = memory_new(&file, 1, "the working copy of embeddings", err);
    if (rc != ERROR_NONE)
        return rc;
    file->row_bytes = row_bytes;
    file->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file->fd < 0)
        rc = error_set_errno(err, ERROR_IO, "cannot create %s", path);
    else /* rows are read one by one, so reading the pages around them is useless */
        (void)posix_fadvise(file->fd, 0, 0, POSIX_FADV_RANDOM);
    if (rc == ERROR_NONE)
        rc = memory_new(&file->is_stored, row_count / 64 + 1UL, "the working copy of embeddings",
                        err);
    if (rc != ERROR_NONE)
        row_file_close(file);
    else
        *out = file;
    return rc;
}

/* Returns how many of id [count] are consecutive in the file; with `only_stored` all of these must
 * be stored. */
static size_t run_length(const struct row_file *file, const uint32_t *id, size_t count,
                         bool only_stored)
{
    size_t n = 1;
    while (n < count && id[n] == id[n - 1] + 1 && (!only_stored || is_stored(file, id[n])))
        n++;
    return n;
}

enum error_code row_file_get(const struct row_file *file, const uint32_t *id, size_t count,
                             char *out, size_t stride, bool *found, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (size_t at = 0, n = 0; at < count && rc == ERROR_NONE; at += n) {
        n = 1;
        found[at] = is_stored(file, id[at]);
        if (!found[at])
            continue;
        if (stride == file->row_bytes)
            n = run_length(file, id + at, count - at, true);
        for (size_t i = at; i < at + n; i++)
            found[i] = true;
        rc =
            file_read_at(file->fd, out + at * stride, n * file->row_bytes,
                         (uint64_t)id[at] * file->row_bytes, "the working copy of embeddings", err);
    }
    return rc;
}

enum error_code row_file_put(const struct row_file *file, const uint32_t *id, size_t count,
                             const char *row, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (size_t at = 0, n = 0; at < count && rc == ERROR_NONE; at += n) {
        n = run_length(file, id + at, count - at, false);
        rc = file_write_at(file->fd, row + at * file->row_bytes, n * file->row_bytes,
                           (uint64_t)id[at] * file->row_bytes, "the working copy of embeddings",
                           err);
    }
    return rc;
}

void row_file_mark(struct row_file *file, const uint32_t *id, size_t count)
{
    for (size_t i = 0; i < count; i++)
        file->is_stored[id[i] / 64] |= (uint64_t)1 << (id[i] % 64);
}

/* Lists the next stored rows from *first on, at most ROWS_AT_ONCE. */
static size_t list_stored(const struct row_file *file, uint32_t *first, uint32_t end, uint32_t *id)
{
    size_t count = 0;
    while (*first < end && count < ROWS_AT_ONCE) {
        if (*first % 64 == 0 && end - *first >= 64 && file->is_stored[*first / 64] == 0) {
            *first += 64;
            continue;
        }
        if (is_stored(file, *first))
            id[count++] = *first;
        ++*first;
    }
    return count;
}

enum error_code row_file_scan(const struct row_file *file, uint32_t first, uint32_t end,
                              row_visitor visit, void *context, struct error *err)
{
    uint32_t id[ROWS_AT_ONCE];
    bool found[ROWS_AT_ONCE];
    size_t count = 0;
    char *row = NULL;
    enum error_code rc =
        memory_new(&row, ROWS_AT_ONCE * file->row_bytes, "rows of embeddings", err);
    while (rc == ERROR_NONE && (count = list_stored(file, &first, end, id)) > 0) {
        rc = row_file_get(file, id, count, row, file->row_bytes, found, err);
        for (size_t i = 0; i < count && rc == ERROR_NONE; i++)
            rc = visit(context, id[i], row + i * file->row_bytes, err);
    }
    memory_free(row);
    return rc;
}
