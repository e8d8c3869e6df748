/* The file is read and written in pieces, because the text of 100 million nodes has some 300 MB and
 * the array itself 400 MB. */
#include "common/formats/text/assignment_file.h"

#include "common/base/text.h"
#include "common/files/file.h"
#include "common/files/text_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LINE_SIZE = 32 };

struct reading {
    const char *path;
    uint32_t part_count;
    uint32_t *part;
    uint32_t node_count;
    uint64_t line; /* number of complete lines so far */
    char text[LINE_SIZE];
    size_t size; /* of the current line; LINE_SIZE: too long to be a number */
};

static enum error_code take_line(struct reading *r, struct error *err)
{
    int64_t value = 0;
    if (r->size && r->size < LINE_SIZE && r->text[r->size - 1] == '\r')
        r->size--;
    const uint64_t line = ++r->line;
    if (line > r->node_count)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRIu64 ": expected %" PRIu32
                         " lines, one for each node, found more",
                         r->path, line, r->node_count);
    const int shown = (int)(r->size < LINE_SIZE ? r->size : LINE_SIZE);
    if (r->size == LINE_SIZE || !text_int64(r->text, r->size, &value))
        return error_set(err, ERROR_INPUT, "%s:%" PRIu64 ": expected a part number, found '%.*s'",
                         r->path, line, shown, r->text);
    if (value < 0 || value >= (int64_t)r->part_count)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRIu64 ": expected a part from 0 to %" PRIu32 ", found %" PRId64,
                         r->path, line, r->part_count - 1, value);
    r->part[line - 1] = (uint32_t)value;
    r->size = 0;
    return ERROR_NONE;
}

static enum error_code take_bytes(struct reading *r, const char *bytes, size_t count,
                                  struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] == '\n') {
            const enum error_code rc = take_line(r, err);
            if (rc != ERROR_NONE)
                return rc;
        } else if (r->size < LINE_SIZE) {
            r->text[r->size++] = bytes[i];
        }
    }
    return ERROR_NONE;
}

static enum error_code read_lines(struct reading *r, FILE *file, struct error *err)
{
    char bytes[1 << 14];
    enum error_code rc = ERROR_NONE;
    size_t count = 0;
    while (rc == ERROR_NONE && (count = fread(bytes, 1, sizeof bytes, file)) > 0)
        rc = take_bytes(r, bytes, count, err);
    if (rc == ERROR_NONE && ferror(file))
        rc = error_set_errno(err, ERROR_IO, "%s: cannot be read", r->path);
    if (rc == ERROR_NONE && r->size)
        rc = take_line(r, err);
    if (rc == ERROR_NONE && r->line != r->node_count)
        rc = error_set(err, ERROR_INPUT,
                       "%s:%" PRIu64 ": expected %" PRIu32
                       " lines, one for each node, found %" PRIu64,
                       r->path, r->line, r->node_count, r->line);
    return rc;
}

enum error_code assignment_file_read(const char *path, uint32_t part_count, uint32_t *part,
                                     uint32_t node_count, struct error *err)
{
    struct reading reading = {.path = path, .part_count = part_count, .node_count = node_count};
    reading.part = part;
    int fd = -1;
    enum error_code rc = file_open(path, &fd, err);
    if (rc != ERROR_NONE)
        return rc;
    FILE *file = fdopen(fd, "rb");
    if (!file) {
        (void)close(fd);
        return error_set_errno(err, ERROR_IO, "%s", path);
    }
    rc = read_lines(&reading, file, err);
    (void)fclose(file); /* it was only read, so a failed close loses nothing */
    return rc;
}

struct writing {
    const uint32_t *part;
    uint32_t node_count;
};

static enum error_code write_lines(void *context, FILE *file, struct error *err)
{
    const struct writing *w = context;
    int written = 0;
    (void)err;
    for (uint32_t node = 0; node < w->node_count && written >= 0; node++)
        written = fprintf(file, "%" PRIu32 "\n", w->part[node]);
    return ERROR_NONE;
}

enum error_code assignment_file_write(const char *path, const uint32_t *part, uint32_t node_count,
                                      struct error *err)
{
    struct writing writing = {part, node_count};
    return text_file_write(path, write_lines, &writing, err);
}
