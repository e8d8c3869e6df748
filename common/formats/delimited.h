/*
 * delimited - the fields of one line: separated by commas, by tabs, or by runs of blanks.
 *
 * Spaces around a field are not part of it. A field in double quotes may contain the separator; quotes
 * inside quotes are not supported, so that every field is a view into its line.
 */
#ifndef COMMON_FORMATS_DELIMITED_H
#define COMMON_FORMATS_DELIMITED_H

#include <stdbool.h>
#include <stddef.h>

enum delimiter { DELIMITER_BLANKS, DELIMITER_COMMA, DELIMITER_TAB };

struct field {
    const char *text; /* [size], inside the line */
    size_t size;
};

struct delimited { /* a cursor over one line */
    const char *at, *end;
    enum delimiter delimiter;
    bool is_done;
};

/* Comma when the line has one outside of quotes, else tab, else runs of blanks. */
enum delimiter delimited_guess(const char *text, size_t size);

void delimited_begin(struct delimited *cursor, const char *text, size_t size,
                     enum delimiter delimiter);
/* The next field; false behind the last. An empty line has no field; "a," has two. */
bool delimited_next(struct delimited *cursor, struct field *field);
/* Up to `limit` fields into `field`; returns how many the line has, which may be more. */
size_t delimited_split(const char *text, size_t size, enum delimiter delimiter, struct field *field,
                       size_t limit);
/* Whether the field is this word, upper and lower case alike. */
bool field_is(const struct field *field, const char *word);

#endif
