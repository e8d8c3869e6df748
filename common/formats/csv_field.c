#include "common/formats/csv_field.h"

#include <stdbool.h>
#include <string.h>

size_t csv_field_put(char *out, const char *text, size_t size)
{
    bool is_plain = true;
    size_t at = 0;
    for (size_t i = 0; i < size; i++)
        is_plain =
            is_plain && text[i] != ',' && text[i] != '"' && text[i] != '\n' && text[i] != '\r';
    if (is_plain) {
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
