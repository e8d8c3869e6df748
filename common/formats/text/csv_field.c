#include "common/formats/text/csv_field.h"

#include <stdbool.h>
#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Returns whether it is read back without quotes. Blanks at its ends would be lost, and at the
 * beginning of a line it could be taken for a comment. */
static bool is_plain(const char *text, size_t size)
{
    if (size && (is_blank(text[0]) || is_blank(text[size - 1]) || text[0] == '#' || text[0] == '%'))
        return false;
    for (size_t i = 0; i < size; i++)
        if (strchr(",\"\t\n\r", text[i])) /* strchr() would find the NUL, but text has none */
            return false;
    return true;
}

size_t csv_field_put(char *out, const char *text, size_t size)
{
    size_t at = 0;
    if (is_plain(text, size)) {
        memcpy(out, text, size);
        return size;
    }
    out[at++] = '"';
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '"')
            out[at++] = '"';
        out[at++] = text[i];
    }
    out[at++] = '"';
    return at;
}
