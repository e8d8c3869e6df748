/*
 * delimited - splits a line of a text table into its fields.
 *
 * Fields are separated by a comma, a tab, a semicolon, a vertical bar, two colons, or a run of
 * blanks. Spaces around a field are not part of it. A field in double quotes may contain the
 * separator, and two quotes inside it are one (RFC 4180). Unless blanks separate, it may contain
 * line ends, too: delimited_read() reads such lines as one row.
 *
 * A field is a view into its line. A field with doubled quotes is a view into the line's spare
 * room, if the cursor was begun with a whole line (delimited_begin_line(), delimited_split_line());
 * otherwise its quotes stay doubled.
 */
#ifndef COMMON_FORMATS_TEXT_DELIMITED_H
#define COMMON_FORMATS_TEXT_DELIMITED_H

#include "common/formats/text/line_reader.h"

#include <stdbool.h>
#include <stddef.h>

enum delimiter {
    DELIMITER_BLANKS,
    DELIMITER_COMMA,
    DELIMITER_TAB,
    DELIMITER_SEMICOLON,
    DELIMITER_BAR,
    DELIMITER_COLONS, /* ::, as in the files of MovieLens */
    DELIMITER_COUNT
};

/* Return the separator, and its name for messages: ",", "commas". For blanks the separator is "
 * ". */
const char *delimiter_text(enum delimiter delimiter);
const char *delimiter_name(enum delimiter delimiter);

struct field {
    const char *text; /* [size], inside the line or its spare */
    size_t size;
};

struct delimited { /* a cursor over one line */
    const char *begin, *at, *end;
    /* [end - begin], room for fields whose quotes are doubled; NULL: there are none */
    char *spare;
    enum delimiter delimiter;
    bool is_done;
};

/* Returns whether the separator occurs outside of quotes. A quote that is not closed is an ordinary
 * character. */
bool delimited_has(const char *text, size_t size, enum delimiter delimiter);
/* Guesses from one line: the first of comma, tab, semicolon, bar and two colons that occurs outside
 * of quotes, or else runs of blanks. table_look_read() judges a whole table. */
enum delimiter delimited_guess(const char *text, size_t size);

/* Joins lines for delimited_read() when a line has quotes. */
MUST_CHECK enum error_code delimited_join(struct line_reader *reader,
                                          const enum delimiter *delimiter, struct text_line *line,
                                          struct error *err);

/* Reads the next row of a table: a line, and the lines after it as long as a field in quotes
 * continues, with the line ends between them unchanged. A comment (#, %) is a row, and so is each
 * line if blanks separate. If `delimiter` is NULL, it is not known yet, and fields begin after any
 * of the separators. A line without quotes costs no more than line_reader_next(). Fails:
 * ERROR_INPUT naming file, line and column of a quote that is not closed within LINE_SIZE_MAX
 * bytes; as line_reader_next(). */
MUST_CHECK static inline enum error_code delimited_read(struct line_reader *reader,
                                                        const enum delimiter *delimiter,
                                                        struct text_line *line, bool *found,
                                                        struct error *err)
{
    const enum error_code rc = line_reader_next(reader, line, found, err);
    return rc == ERROR_NONE && *found && line->has_quotes
               ? delimited_join(reader, delimiter, line, err)
               : rc;
}

/* Writes " in lines 3 to 5, which a field in quotes makes one row", for messages about its fields;
 * "" for a row of one line. Returns `buffer`. */
enum { DELIMITED_EXTENT_SIZE = 96 };
const char *delimited_extent(const struct text_line *line, char buffer[DELIMITED_EXTENT_SIZE]);

void delimited_begin(struct delimited *cursor, const char *text, size_t size,
                     enum delimiter delimiter);
void delimited_begin_line(struct delimited *cursor, const struct text_line *line,
                          enum delimiter delimiter);
/* Reads the next field; returns false after the last. An empty line has no field; "a," has two. */
bool delimited_next(struct delimited *cursor, struct field *field);
/* Reads up to `limit` fields into `field`. Returns the number of fields in the line, which may be
 * larger. */
size_t delimited_split(const char *text, size_t size, enum delimiter delimiter, struct field *field,
                       size_t limit);
size_t delimited_split_line(const struct text_line *line, enum delimiter delimiter,
                            struct field *field, size_t limit);
bool fields_are_equal(const struct field *a, const struct field *b);
/* Returns whether the field is this word, ignoring case. */
bool field_is(const struct field *field, const char *word);

#endif
