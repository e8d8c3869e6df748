/*
 * csv_field - a field of a table with commas: in quotes, quotes doubled (RFC 4180), where it holds a comma, a quote, a tab or a
 * line end, has blanks at its ends, or begins as a comment does.
 */
#ifndef COMMON_FORMATS_CSV_FIELD_H
#define COMMON_FORMATS_CSV_FIELD_H

#include <stddef.h>

/* At most so many bytes. */
static inline size_t csv_field_size(size_t size)
{
    return 2 * size + 2;
}

/* Into out [csv_field_size()]; returns how many bytes. */
size_t csv_field_put(char *out, const char *text, size_t size);

#endif
