#include "stages/ingest/build/edges/scratch_file.h"

#include "common/base/memory.h"
#include "common/base/stop_signal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum error_code scratch_file_open(struct scratch_file *file, const char *path, struct error *err)
{
    *file = (struct scratch_file){0};
    enum error_code rc = file_path(file->path, err, "%s", path);
    if (rc == ERROR_NONE)
        rc = memory_new(&file->buffer, SCRATCH_FILE_BUFFER_BYTES, "a scratch file's buffer", err);
    if (rc != ERROR_NONE)
        return rc;
    file->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file->fd < 0) {
        rc = error_set_errno(err, ERROR_IO, "%s", path);
        memory_free(file->buffer);
        file->buffer = NULL;
        return rc;
    }
    file->is_open = true;
    return ERROR_NONE;
}

void scratch_file_close(struct scratch_file *file)
{
    if (file->is_open) {
        /* the content is not needed any more, so an error in closing loses nothing */
        (void)close(file->fd);
        (void)unlink(file->path);
    }
    memory_free(file->buffer);
    *file = (struct scratch_file){0};
}

/* Returns the error after a stop signal. All large data in ingest goes through scratch files piece
 * by piece, so this is where the signal is noticed. */
static enum error_code asked_to_stop(struct error *err)
{
    return error_set(err, ERROR_UNAVAILABLE, "asked to stop");
}

static enum error_code flush(struct scratch_file *file, struct error *err)
{
    const size_t size = file->buffered;
    file->buffered = 0;
    if (stop_signal_seen())
        return asked_to_stop(err);
    return size ? file_write_all(file->fd, file->buffer, size, file->path, err) : ERROR_NONE;
}

enum error_code scratch_file_append(struct scratch_file *file, const void *data, size_t size,
                                    struct error *err)
{
    if (size > SCRATCH_FILE_BUFFER_BYTES - file->buffered) {
        const enum error_code rc = flush(file, err);
        if (rc != ERROR_NONE)
            return rc;
    }
    file->size += size;
    if (size > SCRATCH_FILE_BUFFER_BYTES)
        return file_write_all(file->fd, data, size, file->path, err);
    memcpy(file->buffer + file->buffered, data, size);
    file->buffered += size;
    return ERROR_NONE;
}

enum error_code scratch_file_write_at(struct scratch_file *file, uint64_t offset, const void *data,
                                      size_t size, struct error *err)
{
    must(file->buffered == 0); /* a file is either appended to or written at offsets */
    if (stop_signal_seen())
        return asked_to_stop(err);
    for (size_t done = 0; done < size;) {
        const ssize_t wrote =
            pwrite(file->fd, (const uint8_t *)data + done, size - done, (off_t)(offset + done));
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return error_set_errno(err, ERROR_IO, "%s", file->path);
        done += (size_t)wrote;
    }
    if (offset + size > file->size)
        file->size = offset + size;
    return ERROR_NONE;
}

enum error_code scratch_file_rewind(struct scratch_file *file, struct error *err)
{
    file->position = 0;
    return flush(file, err);
}

enum error_code scratch_file_read_at(const struct scratch_file *file, uint64_t offset, void *data,
                                     size_t size, struct error *err)
{
    if (stop_signal_seen())
        return asked_to_stop(err);
    for (size_t have = 0; have < size;) {
        const ssize_t got =
            pread(file->fd, (uint8_t *)data + have, size - have, (off_t)(offset + have));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_set_errno(err, ERROR_IO, "%s", file->path);
        if (got == 0)
            return error_set(err, ERROR_IO,
                             "%s: ends at byte %" PRIu64 ", expected %" PRIu64 " bytes", file->path,
                             offset + have, file->size);
        have += (size_t)got;
    }
    return ERROR_NONE;
}

enum error_code scratch_file_read(struct scratch_file *file, void *data, size_t size,
                                  struct error *err)
{
    const enum error_code rc = scratch_file_read_at(file, file->position, data, size, err);
    if (rc == ERROR_NONE)
        file->position += size;
    return rc;
}
