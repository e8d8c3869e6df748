#include "common/formats/arrays/npy_writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { WRITE_ALIGNMENT = 64, FLUSH_BYTES = 1 << 23 };

/* The types that can be written. */
static const struct {
    const char *descr;
    size_t bytes;
} written[] = {[NPY_F32] = {"<f4", 4},
               [NPY_F64] = {"<f8", 8},
               [NPY_I64] = {"<i8", 8},
               [NPY_BOOL] = {"|b1", 1}};

/* Writes the header, padded so that the elements start at a multiple of 64. Returns its size. */
static size_t write_header(char out[256], enum npy_type type, uint64_t rows, uint64_t cols)
{
    char shape[64];
    if (cols)
        (void)snprintf(shape, sizeof shape, "(%" PRIu64 ", %" PRIu64 ")", rows, cols);
    else
        (void)snprintf(shape, sizeof shape, "(%" PRIu64 ",)", rows);
    memset(out, ' ', 256);
    const int text =
        snprintf(out + 10, 246, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
                 written[type].descr, shape);
    const size_t used = 10 + (size_t)text;
    const size_t size = (used + 1 + WRITE_ALIGNMENT - 1) / WRITE_ALIGNMENT * WRITE_ALIGNMENT;
    memcpy(out, NPY_MAGIC, 6);
    out[6] = 1;
    out[7] = 0;
    out[8] = (char)((size - 10) & 0xff);
    out[9] = (char)((size - 10) >> 8);
    out[used] = ' '; /* overwrites the NUL of snprintf() */
    out[size - 1] = '\n';
    return size;
}

static size_t item_bytes(const struct npy_writer *writer)
{
    return written[writer->type].bytes;
}

enum error_code npy_writer_open(struct npy_writer *writer, const char *path, enum npy_type type,
                                uint64_t rows, uint64_t cols, struct error *err)
{
    char header[256];
    *writer = (struct npy_writer){.type = type};
    must((size_t)type < sizeof written / sizeof *written && written[type].bytes);
    if (__builtin_mul_overflow(rows, cols ? cols : 1, &writer->element_count))
        return error_set(err, ERROR_INVALID, "%s: %" PRIu64 " x %" PRIu64 " elements are too many",
                         path, rows, cols);
    enum error_code rc = file_path(writer->path, err, "%s", path);
    int fd = -1;
    if (rc == ERROR_NONE)
        rc = file_create_temporary(path, writer->temporary, &fd, err);
    if (rc != ERROR_NONE)
        return rc;
    writer->fd_plus_one = fd + 1;
    writer->data_offset = write_header(header, type, rows, cols);
    writer->elements_left = writer->element_count;
    rc = checksum_stream_new(&writer->sum, err);
    if (rc == ERROR_NONE)
        rc = file_write_at(fd, header, (size_t)writer->data_offset, 0, writer->temporary, err);
    if (rc == ERROR_NONE)
        checksum_stream_add(writer->sum, header, (size_t)writer->data_offset);
    else
        npy_writer_close(writer);
    return rc;
}

enum error_code npy_writer_add(struct npy_writer *writer, const void *elements, uint64_t count,
                               struct error *err)
{
    const int fd = writer->fd_plus_one - 1;
    const uint64_t first = writer->element_count - writer->elements_left;
    const uint64_t at = writer->data_offset + first * item_bytes(writer);
    const size_t size = (size_t)count * item_bytes(writer);
    must(count <= writer->elements_left);
    const enum error_code rc = file_write_at(fd, elements, size, at, writer->temporary, err);
    if (rc != ERROR_NONE)
        return rc;
    writer->elements_left -= count;
    checksum_stream_add(writer->sum, elements, size);
    if (at + size - writer->flushed >= FLUSH_BYTES) {
        file_flush_begin(fd, writer->flushed, at + size - writer->flushed);
        writer->flushed = at + size;
    }
    return ERROR_NONE;
}

struct checksum npy_writer_sum(const struct npy_writer *writer, uint64_t *size_bytes)
{
    must(writer->elements_left == 0);
    *size_bytes = writer->data_offset + writer->element_count * item_bytes(writer);
    return checksum_stream_sum(writer->sum);
}

enum error_code npy_writer_finish(struct npy_writer *writer, struct error *err)
{
    must(writer->elements_left == 0);
    enum error_code rc = ERROR_NONE;
    if (fsync(writer->fd_plus_one - 1) != 0)
        rc = error_set_errno(err, ERROR_IO, "%s cannot be flushed", writer->temporary);
    else
        rc = file_rename(writer->temporary, writer->path, err);
    if (rc == ERROR_NONE)
        writer->temporary[0] = '\0'; /* there is nothing left to remove */
    npy_writer_close(writer);
    return rc;
}

void npy_writer_close(struct npy_writer *writer)
{
    if (writer->fd_plus_one == 0)
        return;
    (void)close(writer->fd_plus_one - 1);
    checksum_stream_free(writer->sum);
    if (writer->temporary[0])
        (void)unlink(writer->temporary);
    *writer = (struct npy_writer){0};
}
