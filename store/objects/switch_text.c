#include "store/objects/switch_text.h"

#include "common/files/checksum.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char mark[] = " v1:";

enum {
    MARK_SIZE = sizeof mark - 1,
    DIGITS = 16,
    TAIL_SIZE = MARK_SIZE + DIGITS + 1,
    SHOWN_SIZE = 61
};

_Static_assert(SWITCH_LINE_SIZE == SWITCH_VALUE_MAX + TAIL_SIZE + 1, "a line holds any value");

/* Writes " v1:<digits>\n", the text after `value` [size]. */
static void make_tail(const char *key, const char *value, size_t size, char tail[TAIL_SIZE + 1])
{
    const struct checksum_part part[] = {{key, strlen(key) + 1}, {value, size}};
    char digits[CHECKSUM_TEXT_SIZE];
    const struct checksum sum = checksum_of_parts(part, 2);
    checksum_text(&sum, digits);
    (void)snprintf(tail, TAIL_SIZE + 1, "%s%.*s\n", mark, DIGITS, digits);
}

void switch_text_encode(const char *key, const char *value, char line[SWITCH_LINE_SIZE])
{
    const size_t size = strlen(value);
    must(size <= SWITCH_VALUE_MAX);
    (void)snprintf(line, SWITCH_LINE_SIZE, "%s", value);
    make_tail(key, value, size, line + size);
}

enum error_code switch_text_decode(const char *key, const char *line, char *value, size_t size,
                                   struct error *err)
{
    char tail[TAIL_SIZE + 1];
    const size_t all = strlen(line), length = all < TAIL_SIZE ? 0 : all - TAIL_SIZE;
    make_tail(key, line, length, tail);
    if (strcmp(line + length, tail) != 0) {
        char found[SHOWN_SIZE]; /* as ASCII, because a damaged line may be no text */
        (void)snprintf(found, sizeof found, "%s", line);
        for (char *c = found; *c; c++)
            if (*c < ' ' || *c > '~')
                *c = '?';
        return error_set(err, ERROR_CORRUPT, "switch %s: expected a value and '%.*s', found '%s'",
                         key, (int)TAIL_SIZE - 1, tail, found);
    }
    if (length >= size)
        return error_set(err, ERROR_CORRUPT,
                         "switch %s: expected a value of at most %zu bytes, found %zu", key,
                         size - 1, length);
    memcpy(value, line, length);
    value[length] = '\0';
    return ERROR_NONE;
}
