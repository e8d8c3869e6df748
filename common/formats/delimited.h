/*
 * delimited - the fields of one line: separated by commas, by tabs, or by runs of blanks.
 *
 * Spaces around a field are not part of it. A field in double quotes may contain the separator, and two quotes inside it are one
 * (RFC 4180). A field is a view into its line, or where it has such quotes and the line came with room for it
 * (delimited_begin_line(), delimited_split_line()), into that. Without such room they stay two.
 */
#ifndef COMMON_FORMATS_DELIMITED_H
#define COMMON_FORMATS_DELIMITED_H

#include "common/formats/line_reader.h"

#include <stdbool.h>
#include <stddef.h>

enum delimiter { DELIMITER_BLANKS, DELIMITER_COMMA, DELIMITER_TAB };

struct field {
    const char *text; /* [size], inside the line or its spare */
    size_t size;
};

struct delimited { /* a cursor over one line */
    const char *begin, *at, *end;
    char *
        spare; /* [end - begin], for fields that are not as they are written; NULL: there are none */
    enum delimiter delimiter;
    bool is_done;
};

/* Comma when the line has one outside of quotes, else tab, else runs of blanks. */
enum delimiter delimited_guess(const char *text, size_t size);

void delimited_begin(struct delimited *cursor, const char *text, size_t size,
                     enum delimiter delimiter);
void delimited_begin_line(struct delimited *cursor, const struct text_line *line,
                          enum delimiter delimiter);
/* The next field; false behind the last. An empty line has no field; "a," has two. */
bool delimited_next(struct delimited *cursor, struct field *field);
/* Up to `limit` fields into `field`; returns how many the line has, which may be more. */
size_t delimited_split(const char *text, size_t size, enum delimiter delimiter, struct field *field,
                       size_t limit);
size_t delimited_split_line(const struct text_line *line, enum delimiter delimiter,
                            struct field *field, size_t limit);
/* Whether the field is this word, upper and lower case alike. */
bool field_is(const struct field *field, const char *word);

#endif
