#include "common/formats/delimited.h"

#include <string.h>
#include <strings.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Behind the closing quote of a field that opens with one, or `at` when the quotes do not pair. Two quotes inside are one that
 * does not close; *doubled: there are some. */
static const char *skip_quoted(const char *at, const char *end, bool *doubled)
{
    const char *next = at + 1;
    *doubled = false;
    while (next < end && (next = memchr(next, '"', (size_t)(end - next)))) {
        if (next + 1 == end || next[1] != '"')
            return next + 1;
        *doubled = true;
        next += 2;
    }
    return at;
}

/* Whether `c` stands outside of double quotes; a quote that is not closed is a character like others. */
static bool stands_unquoted(const char *text, size_t size, char c)
{
    const char *end = text + size;
    bool doubled = false;
    for (const char *at = text; at < end; at++) {
        if (*at == '"')
            at = skip_quoted(at, end, &doubled);
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
    *cursor =
        (struct delimited){.begin = text, .at = text, .end = text + size, .delimiter = delimiter};
    cursor->is_done = skip_blanks(text, cursor->end) == cursor->end;
}

void delimited_begin_line(struct delimited *cursor, const struct text_line *line,
                          enum delimiter delimiter)
{
    delimited_begin(cursor, line->text, line->size, delimiter);
    cursor->spare = line->spare;
}

/* The field with each two quotes made one, at its own place of the spare line, so that any cursor over the line writes the same
 * bytes there. */
static struct field without_doubles(const struct delimited *cursor, const struct field *field)
{
    char *out = cursor->spare + (field->text - cursor->begin);
    size_t size = 0;
    for (size_t i = 0; i < field->size; i++) {
        out[size++] = field->text[i];
        i += field->text[i] == '"'; /* they come in pairs */
    }
    return (struct field){out, size};
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
    bool doubled = false;
    const char *rest = at < cursor->end && *at == '"' ? skip_quoted(at, cursor->end, &doubled) : at;
    const char *stop =
        rest < cursor->end ? find_separator(rest, cursor->end, cursor->delimiter) : cursor->end;
    const char *last = stop;
    while (last > at && is_blank(last[-1]))
        last--;
    *field = (struct field){at, (size_t)(last - at)};
    if (field->size >= 2 && rest == last && rest > at) { /* quoted, and nothing behind the quote */
        *field = (struct field){at + 1, field->size - 2};
        if (doubled && cursor->spare)
            *field = without_doubles(cursor, field);
    }
    cursor->is_done = stop == cursor->end;
    cursor->at = cursor->is_done ? stop : stop + 1;
    if (cursor->delimiter == DELIMITER_BLANKS && !cursor->is_done) {
        cursor->at = skip_blanks(cursor->at, cursor->end);
        cursor->is_done = cursor->at == cursor->end;
    }
    return true;
}

static size_t split(struct delimited cursor, struct field *field, size_t limit)
{
    struct field one;
    size_t count = 0;
    while (delimited_next(&cursor, &one)) {
        if (count < limit)
            field[count] = one;
        count++;
    }
    return count;
}

size_t delimited_split(const char *text, size_t size, enum delimiter delimiter, struct field *field,
                       size_t limit)
{
    struct delimited cursor;
    delimited_begin(&cursor, text, size, delimiter);
    return split(cursor, field, limit);
}

size_t delimited_split_line(const struct text_line *line, enum delimiter delimiter,
                            struct field *field, size_t limit)
{
    struct delimited cursor;
    delimited_begin_line(&cursor, line, delimiter);
    return split(cursor, field, limit);
}

bool field_is(const struct field *field, const char *word)
{
    return strlen(word) == field->size && strncasecmp(field->text, word, field->size) == 0;
}
