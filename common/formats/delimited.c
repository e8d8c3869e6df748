#include "common/formats/delimited.h"

#include <string.h>
#include <strings.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Behind the closing quote of a field that opens with one, or `at` when the quotes do not pair. */
static const char *skip_quoted(const char *at, const char *end)
{
    const char *closing = at + 1 < end ? memchr(at + 1, '"', (size_t)(end - at - 1)) : NULL;
    return closing ? closing + 1 : at;
}

/* Whether `c` stands outside of double quotes; a quote that is not closed is a character like others. */
static bool stands_unquoted(const char *text, size_t size, char c)
{
    const char *end = text + size;
    for (const char *at = text; at < end; at++) {
        if (*at == '"')
            at = skip_quoted(at, end);
        if (at < end && *at == c)
            return true;
    }
    return false;
}

enum delimiter delimited_guess(const char *text, size_t size)
{
    if (stands_unquoted(text, size, ','))
        return DELIMITER_COMMA;
    return stands_unquoted(text, size, '\t') ? DELIMITER_TAB : DELIMITER_BLANKS;
}

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && is_blank(*at))
        at++;
    return at;
}

void delimited_begin(struct delimited *cursor, const char *text, size_t size,
                     enum delimiter delimiter)
{
    *cursor = (struct delimited){text, text + size, delimiter, false};
    cursor->is_done = skip_blanks(text, cursor->end) == cursor->end;
}

static const char *find_separator(const char *at, const char *end, enum delimiter delimiter)
{
    if (delimiter == DELIMITER_BLANKS) {
        while (at < end && !is_blank(*at))
            at++;
        return at;
    }
    const char *found = memchr(at, delimiter == DELIMITER_COMMA ? ',' : '\t', (size_t)(end - at));
    return found ? found : end;
}

bool delimited_next(struct delimited *cursor, struct field *field)
{
    if (cursor->is_done)
        return false;
    const char *at = cursor->at;
    while (at < cursor->end && (*at == ' ' || (*at == '\t' && cursor->delimiter != DELIMITER_TAB)))
        at++;
    const char *rest = at < cursor->end && *at == '"' ? skip_quoted(at, cursor->end) : at;
    const char *stop =
        rest < cursor->end ? find_separator(rest, cursor->end, cursor->delimiter) : cursor->end;
    const char *last = stop;
    while (last > at && is_blank(last[-1]))
        last--;
    *field = (struct field){at, (size_t)(last - at)};
    if (field->size >= 2 && rest == last && rest > at) /* quoted, and nothing behind the quote */
        *field = (struct field){at + 1, field->size - 2};
    cursor->is_done = stop == cursor->end;
    cursor->at = cursor->is_done ? stop : stop + 1;
    if (cursor->delimiter == DELIMITER_BLANKS && !cursor->is_done) {
        cursor->at = skip_blanks(cursor->at, cursor->end);
        cursor->is_done = cursor->at == cursor->end;
    }
    return true;
}

size_t delimited_split(const char *text, size_t size, enum delimiter delimiter, struct field *field,
                       size_t limit)
{
    struct delimited cursor;
    struct field one;
    size_t count = 0;
    delimited_begin(&cursor, text, size, delimiter);
    while (delimited_next(&cursor, &one)) {
        if (count < limit)
            field[count] = one;
        count++;
    }
    return count;
}

bool field_is(const struct field *field, const char *word)
{
    return strlen(word) == field->size && strncasecmp(field->text, word, field->size) == 0;
}
