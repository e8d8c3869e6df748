/*
 * line_reader - reads the lines of a text file, plain, gzip or zstd, with their numbers.
 *
 * LF and CRLF both end a line, and so does CR in a file without LF; the last line may lack its end;
 * a UTF-8 byte order mark is skipped. The memory is bounded: a line above LINE_SIZE_MAX bytes is an
 * error. So is a NUL byte, which means that the file is no text. A file whose first bytes show that
 * it is something else (Parquet, JSON, UTF-16, ...) is refused when it is opened, and the message
 * names its kind (file_kind.h).
 */
#ifndef COMMON_FORMATS_TEXT_LINE_READER_H
#define COMMON_FORMATS_TEXT_LINE_READER_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LINE_SIZE_MAX = 1 << 20 };

struct line_reader;

struct text_line {
    const char *text; /* [size], no line end, no NUL; valid until the next call */
    size_t size;
    int64_t number; /* from 1; the first line of a row of several lines (delimited_read()) */
    /* [size], writable, valid as long as the text; NULL if the text has no two quotes in a row */
    char *spare;
    int64_t last;    /* the last line of a row of several lines */
    bool has_quotes; /* the text may contain quotes */
};

/* Opens a file.
 * Owns:  *out; free with line_reader_close().
 * Fails: ERROR_NOT_FOUND, ERROR_INPUT, ERROR_IO, ERROR_NO_MEMORY. */
MUST_CHECK enum error_code line_reader_open(const char *path, struct line_reader **out,
                                            struct error *err);
/* Does the same for `data` [size], borrowed until the reader is closed; messages name it by
 * `name`. */
MUST_CHECK enum error_code line_reader_open_memory(const char *name, const void *data, size_t size,
                                                   struct line_reader **out, struct error *err);
/* Opens `data` [size], or if that is NULL the file at `path`. */
MUST_CHECK enum error_code line_reader_open_input(const char *path, const void *data, size_t size,
                                                  struct line_reader **out, struct error *err);
void line_reader_close(struct line_reader *reader); /* NULL is allowed */

/* Reads the next line; *found is false after the last one. Fails: ERROR_INPUT naming file and line
 * or byte offset; ERROR_IO; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code line_reader_next(struct line_reader *reader, struct text_line *line,
                                            bool *found, struct error *err);
/* Extends `line`, the last one that was read, by the next line and the line end between them. Its
 * number stays, and it has no `spare` until line_reader_find_spare(). At the end of the file, or if
 * the line would exceed LINE_SIZE_MAX, *found is false and nothing changes. Fails: as
 * line_reader_next(). */
MUST_CHECK enum error_code line_reader_extend(struct line_reader *reader, struct text_line *line,
                                              bool *found, struct error *err);
MUST_CHECK enum error_code line_reader_find_spare(struct line_reader *reader,
                                                  struct text_line *line, struct error *err);
/* Returns whether a line is blank or a comment (#, %). */
bool text_line_is_skipped(const struct text_line *line);
/* Returns the path or name it was opened with. Borrowed. */
const char *line_reader_name(const struct line_reader *reader);

#endif
