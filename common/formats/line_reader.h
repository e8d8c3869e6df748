/*
 * line_reader - the lines of a text file, plain, gzip or zstd, with their numbers.
 *
 * LF and CRLF both end a line, and so does CR in a file without LF; the last line may lack its end;
 * a UTF-8 byte order mark is skipped. The memory is bounded: a line above LINE_SIZE_MAX bytes is an
 * error, and so is a NUL byte, which means that the file is no text. A file whose first bytes say
 * that it is something else (Parquet, JSON, UTF-16, ...) is refused by its name when it is opened
 * (file_kind.h).
 */
#ifndef COMMON_FORMATS_LINE_READER_H
#define COMMON_FORMATS_LINE_READER_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LINE_SIZE_MAX = 1 << 20 };

struct line_reader;

struct text_line {
    const char *text; /* [size], no line end, no NUL; valid until the next call */
    size_t size;
    int64_t number; /* from 1; of several that are one row (delimited_read()) the first */
    /* [size] to write into, valid as long as the text; NULL where the text has no two quotes in a
     * row */
    char *spare;
    int64_t last;    /* the last of several lines that are one row */
    bool has_quotes; /* there may be some */
};

/* Owns:  *out; free with line_reader_close().
 * Fails: ERROR_NOT_FOUND, ERROR_INPUT, ERROR_IO, ERROR_NO_MEMORY. */
MUST_CHECK enum error_code line_reader_open(const char *path, struct line_reader **out,
                                            struct error *err);
/* The same over `data` [size], borrowed until the reader is closed; `name` stands in messages. */
MUST_CHECK enum error_code line_reader_open_memory(const char *name, const void *data, size_t size,
                                                   struct line_reader **out, struct error *err);
/* Opens `data` [size], or the file at `path` when that is NULL. */
MUST_CHECK enum error_code line_reader_open_input(const char *path, const void *data, size_t size,
                                                  struct line_reader **out, struct error *err);
void line_reader_close(struct line_reader *reader); /* NULL is fine */

/* The next line; *found is false behind the last one.
 * Fails: ERROR_INPUT naming file and line or byte offset; ERROR_IO; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code line_reader_next(struct line_reader *reader, struct text_line *line,
                                            bool *found, struct error *err);
/* Makes `line`, the last that was read, longer by the line behind it, with the end between them;
 * its number stays, and it has no `spare` until line_reader_find_spare(). *found is false, and
 * nothing changes, at the end of the file and where it would become longer than LINE_SIZE_MAX.
 * Fails: as line_reader_next(). */
MUST_CHECK enum error_code line_reader_extend(struct line_reader *reader, struct text_line *line,
                                              bool *found, struct error *err);
MUST_CHECK enum error_code line_reader_find_spare(struct line_reader *reader,
                                                  struct text_line *line, struct error *err);
/* A line that says nothing: blank, or a comment (#, %). */
bool text_line_is_skipped(const struct text_line *line);
/* The path or name it was opened with. Borrowed. */
const char *line_reader_name(const struct line_reader *reader);

#endif
