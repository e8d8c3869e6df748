#include "common/formats/text/line_reader.h"

#include "common/base/memory.h"
#include "common/formats/bytes/byte_source.h"
#include "common/formats/bytes/file_kind.h"
#include "common/formats/bytes/read_ahead.h"

#include <inttypes.h>
#include <string.h>

/* Most files are small, so the buffer starts small, and doubles while the file fills it, up to a
 * line of the largest size, its CRLF, and room to read ahead. */
enum { FIRST_BUFFER_SIZE = 1 << 12, BUFFER_SIZE_MAX = LINE_SIZE_MAX + (1 << 17) };
/* This many bytes show the kind of a file; the magic of tar is at byte 257. */
enum { FIRST_BYTES = 1024 };
/* After this many bytes a thread reads ahead. A caller that needs only the first lines has stopped
 * by then. */
enum { READ_AHEAD_FROM = 1 << 17 };

struct line_reader {
    struct byte_source *source;
    struct read_ahead *ahead; /* reads the source in its own thread; NULL: not used */
    int64_t line_count;       /* number of lines returned */
    size_t begin, end;        /* unread bytes in `buffer` */
    size_t row_size;          /* size of the last line with its end, just before the unread bytes */
    bool at_end;              /* end of the source */
    char line_end;            /* the last byte of each line end: LF, or CR if the file has no LF */
    bool was_filled;          /* the last read filled its room, so there is more */
    uint64_t taken;           /* bytes read from the source */
    size_t capacity;
    bool has_quotes, has_nul; /* the buffer may contain some */
    char *buffer;             /* [capacity], owned */
    /* [spare_capacity], owned, as large as the longest line with two quotes in a row */
    char *spare;
    size_t spare_capacity;
};

static enum error_code grow(struct line_reader *reader, struct error *err)
{
    const size_t twice = reader->capacity ? 2 * reader->capacity : FIRST_BUFFER_SIZE;
    const size_t capacity = twice < BUFFER_SIZE_MAX ? twice : BUFFER_SIZE_MAX;
    char *grown = memory_resize(reader->buffer, capacity, 1);
    if (!grown)
        return error_set(err, ERROR_NO_MEMORY, "no memory for a line buffer of %zu bytes",
                         capacity);
    reader->buffer = grown;
    reader->capacity = capacity;
    return ERROR_NONE;
}

/* Reads some bytes. Small files, and the first lines of a large one, use no thread. */
static enum error_code read_some(struct line_reader *reader, char *out, size_t size, size_t *got,
                                 struct error *err)
{
    enum error_code rc = ERROR_NONE;
    if (!reader->ahead && reader->taken >= READ_AHEAD_FROM && read_ahead_is_worth(reader->source))
        rc = read_ahead_open(reader->source, &reader->ahead, err);
    if (rc != ERROR_NONE)
        return rc;
    return reader->ahead ? read_ahead_read(reader->ahead, out, size, got, err)
                         : byte_source_read(reader->source, out, size, got, err);
}

static enum error_code fill(struct line_reader *reader, struct error *err)
{
    size_t got = 0;
    enum error_code rc = ERROR_NONE;
    if (reader->begin > 0)
        memmove(reader->buffer, reader->buffer + reader->begin, reader->end - reader->begin);
    reader->end -= reader->begin;
    reader->begin = 0;
    if (reader->capacity < BUFFER_SIZE_MAX &&
        (reader->was_filled || reader->end == reader->capacity))
        rc = grow(reader, err);
    const size_t room = reader->capacity - reader->end;
    if (rc == ERROR_NONE)
        rc = read_some(reader, reader->buffer + reader->end, room, &got, err);
    if (reader->end == 0)
        reader->has_quotes = reader->has_nul = false;
    if (got && !reader->has_quotes)
        reader->has_quotes = memchr(reader->buffer + reader->end, '"', got) != NULL;
    if (got && !reader->has_nul)
        reader->has_nul = memchr(reader->buffer + reader->end, '\0', got) != NULL;
    reader->end += got;
    reader->taken += got;
    reader->was_filled = got == room;
    reader->at_end = rc == ERROR_NONE && got == 0;
    return rc;
}

/* Refuses a file that is not text, naming its kind, and skips a byte order mark. */
static enum error_code look_at_first_bytes(struct line_reader *reader, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    while (rc == ERROR_NONE && reader->end < FIRST_BYTES && !reader->at_end)
        rc = fill(reader, err);
    const struct kind_of_file *kind =
        rc == ERROR_NONE ? file_kind_find(reader->buffer, reader->end) : NULL;
    if (kind && !kind->has_lines)
        return file_kind_refuse(kind, line_reader_name(reader), "text", err);
    if (reader->end >= 3 && memcmp(reader->buffer, "\xef\xbb\xbf", 3) == 0)
        reader->begin = 3;
    return rc;
}

/* Finds out which character ends lines. If the first bytes have a CR and no LF, lines end in CR
 * alone, as old Macintosh programs write them. The first bytes are FIRST_BUFFER_SIZE or the whole
 * file. */
static void find_form(struct line_reader *reader)
{
    const char *from = reader->buffer + reader->begin;
    const size_t size = reader->end - reader->begin;
    const char *cr = size ? memchr(from, '\r', size) : NULL;
    const bool is_last = cr && cr + 1 == from + size && !reader->at_end; /* an LF may follow */
    reader->line_end = cr && !is_last && !memchr(from, '\n', size) ? '\r' : '\n';
}

/* Reads until the buffer holds the first bytes of the file. */
static enum error_code read_first(struct line_reader *reader, struct error *err)
{
    enum error_code rc = look_at_first_bytes(reader, err);
    while (rc == ERROR_NONE && reader->end < FIRST_BUFFER_SIZE && !reader->at_end)
        rc = fill(reader, err);
    if (rc == ERROR_NONE)
        find_form(reader);
    return rc;
}

static enum error_code reader_new(enum error_code opened, struct byte_source *source,
                                  struct line_reader **out, struct error *err)
{
    *out = NULL;
    if (opened != ERROR_NONE)
        return opened;
    enum error_code rc = memory_new(out, 1, "a line reader", err);
    if (rc != ERROR_NONE) {
        byte_source_close(source);
        return rc;
    }
    (*out)->source = source;
    rc = read_first(*out, err);
    if (rc != ERROR_NONE) {
        line_reader_close(*out);
        *out = NULL;
    }
    return rc;
}

enum error_code line_reader_open(const char *path, struct line_reader **out, struct error *err)
{
    struct byte_source *source = NULL;
    const enum error_code rc = byte_source_open(path, &source, err);
    return reader_new(rc, source, out, err);
}

enum error_code line_reader_open_memory(const char *name, const void *data, size_t size,
                                        struct line_reader **out, struct error *err)
{
    struct byte_source *source = NULL;
    const enum error_code rc = byte_source_open_memory(name, data, size, &source, err);
    return reader_new(rc, source, out, err);
}

enum error_code line_reader_open_input(const char *path, const void *data, size_t size,
                                       struct line_reader **out, struct error *err)
{
    return data ? line_reader_open_memory(path, data, size, out, err)
                : line_reader_open(path, out, err);
}

void line_reader_close(struct line_reader *reader)
{
    if (!reader)
        return;
    read_ahead_close(reader->ahead);
    byte_source_close(reader->source);
    memory_free(reader->buffer);
    memory_free(reader->spare);
    memory_free(reader);
}

const char *line_reader_name(const struct line_reader *reader)
{
    return byte_source_name(reader->source);
}

/* Reads until the buffer has a line feed after `searched` bytes. *end is NULL at the end of the
 * file, and if there are too many bytes without one (*is_long). */
static enum error_code find_line_end(struct line_reader *reader, size_t searched, const char **end,
                                     bool *is_long, struct error *err)
{
    for (;;) {
        const char *from = reader->buffer + reader->begin + searched;
        const size_t left = reader->end - reader->begin - searched;
        *end = left ? memchr(from, reader->line_end, left) : NULL;
        searched += left;
        *is_long = !*end && !reader->at_end && searched > LINE_SIZE_MAX;
        if (*end || reader->at_end || *is_long)
            return ERROR_NONE;
        const enum error_code rc = fill(reader, err);
        if (rc != ERROR_NONE)
            return rc;
    }
}

static enum error_code too_long(const struct line_reader *reader, int64_t line, struct error *err)
{
    return error_set(err, ERROR_INPUT, "%s:%" PRId64 ": line is longer than %d bytes",
                     line_reader_name(reader), line, LINE_SIZE_MAX);
}

/* Checks `text`, the part of the line that was added last. */
static enum error_code check_text(const struct line_reader *reader, const struct text_line *line,
                                  const char *text, struct error *err)
{
    const size_t size = line->size - (size_t)(text - line->text);
    const char *nul = reader->has_nul && size ? memchr(text, '\0', size) : NULL;
    if (nul)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": expected text, found a NUL byte in column %td"
                         ": " ADVICE "save the file as text in UTF-8",
                         line_reader_name(reader), line->last, nul - text + 1);
    if (reader->line_end == '\r' && size && memchr(text, '\n', size))
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64
                         ": expected lines that end in CR as the first ones do, found "
                         "an LF: " ADVICE "write the file with one kind of line ends",
                         line_reader_name(reader), line->last);
    return ERROR_NONE;
}

/* Provides room for fields with doubled quotes. */
enum error_code line_reader_find_spare(struct line_reader *reader, struct text_line *line,
                                       struct error *err)
{
    const char *end = line->text + line->size, *at = line->text;
    enum error_code rc = ERROR_NONE;
    line->spare = NULL;
    if (!reader->has_quotes)
        return rc;
    while (at + 1 < end && (at = memchr(at, '"', (size_t)(end - at - 1))) && at[1] != '"')
        at++;
    if (!at || at + 1 >= end)
        return rc;
    rc =
        memory_grow(&reader->spare, &reader->spare_capacity, line->size, "a line with quotes", err);
    line->spare = reader->spare;
    return rc;
}

/* Makes `line` the row from the first unread byte up to `end`. */
static void take_row(struct line_reader *reader, const char *end, struct text_line *line)
{
    line->text = reader->buffer + reader->begin;
    line->size = end ? (size_t)(end - line->text) : reader->end - reader->begin;
    line->last = ++reader->line_count;
    line->has_quotes = reader->has_quotes;
    line->spare = NULL;
    reader->row_size = line->size + (end ? 1 : 0);
    reader->begin += reader->row_size;
    if (line->size && line->text[line->size - 1] == '\r' && reader->line_end == '\n')
        line->size--;
}

enum error_code line_reader_next(struct line_reader *reader, struct text_line *line, bool *found,
                                 struct error *err)
{
    const char *end = NULL;
    bool is_long = false;
    *found = false;
    enum error_code rc = find_line_end(reader, 0, &end, &is_long, err);
    if (rc == ERROR_NONE && is_long)
        return too_long(reader, reader->line_count + 1, err);
    if (rc != ERROR_NONE)
        return rc;
    if (!end && reader->end == reader->begin)
        return ERROR_NONE;
    take_row(reader, end, line);
    line->number = line->last;
    *found = true;
    if (line->size > LINE_SIZE_MAX)
        return too_long(reader, line->number, err);
    rc = check_text(reader, line, line->text, err);
    return rc == ERROR_NONE ? line_reader_find_spare(reader, line, err) : rc;
}

enum error_code line_reader_extend(struct line_reader *reader, struct text_line *line, bool *found,
                                   struct error *err)
{
    const char *end = NULL;
    bool is_long = false;
    const size_t size = reader->row_size;
    *found = false;
    reader->begin -= size;
    const enum error_code rc = find_line_end(reader, size, &end, &is_long, err);
    line->text = reader->buffer + reader->begin; /* the buffer may have moved */
    const size_t whole = end ? (size_t)(end - line->text) : reader->end - reader->begin;
    if (rc != ERROR_NONE || is_long || whole > LINE_SIZE_MAX || (!end && whole == size)) {
        reader->begin += size;
        return rc;
    }
    take_row(reader, end, line);
    *found = true;
    return check_text(reader, line, line->text + size, err);
}

bool text_line_is_skipped(const struct text_line *line)
{
    size_t at = 0;
    while (at < line->size && (line->text[at] == ' ' || line->text[at] == '\t'))
        at++;
    return at == line->size || line->text[at] == '#' || line->text[at] == '%';
}
