/*
 * csv_field - writes a field of a table with commas. A field that contains a comma, a quote, a tab
 * or a line end, has blanks at its ends, or begins like a comment is put in quotes, and its quotes
 * are doubled (RFC 4180).
 */
#ifndef COMMON_FORMATS_TEXT_CSV_FIELD_H
#define COMMON_FORMATS_TEXT_CSV_FIELD_H

#include <stddef.h>

/* Returns the greatest size in bytes of a written field. */
static inline size_t csv_field_size(size_t size)
{
    return 2 * size + 2;
}

/* Writes into out [csv_field_size()]. Returns the number of bytes. */
size_t csv_field_put(char *out, const char *text, size_t size);

#endif
