#include "common/formats/text/delimited.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *text, *name;
} separator[DELIMITER_COUNT] = {
    [DELIMITER_BLANKS] = {" ", "blanks"},     [DELIMITER_COMMA] = {",", "commas"},
    [DELIMITER_TAB] = {"\t", "tabs"},         [DELIMITER_SEMICOLON] = {";", "semicolons"},
    [DELIMITER_BAR] = {"|", "vertical bars"}, [DELIMITER_COLONS] = {"::", "two colons"}};

const char *delimiter_text(enum delimiter delimiter)
{
    return separator[delimiter].text;
}

const char *delimiter_name(enum delimiter delimiter)
{
    return separator[delimiter].name;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Returns the position after the closing quote of a field that opens with one, or `at` if the
 * quotes do not pair. Two quotes inside are one that does not close; *doubled: there are some. */
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

bool delimited_has(const char *text, size_t size, enum delimiter delimiter)
{
    const char *end = text + size, *word = separator[delimiter].text;
    const size_t length = strlen(word);
    bool doubled = false;
    for (const char *at = text; at < end; at++) {
        if (*at == '"')
            at = skip_quoted(at, end, &doubled);
        if ((size_t)(end - at) >= length && memcmp(at, word, length) == 0)
            return true;
    }
    return false;
}

enum delimiter delimited_guess(const char *text, size_t size)
{
    for (int d = DELIMITER_COMMA; d < DELIMITER_COUNT; d++)
        if (delimited_has(text, size, (enum delimiter)d))
            return (enum delimiter)d;
    return DELIMITER_BLANKS;
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

/* Writes the field with single instead of doubled quotes, to its own position in the spare line, so
 * that any cursor over the line writes the same bytes there. */
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
    const char *found = memchr(at, *separator[delimiter].text, (size_t)(end - at));
    while (delimiter == DELIMITER_COLONS && found && (found + 1 == end || found[1] != ':'))
        found = found + 1 == end ? NULL : memchr(found + 1, ':', (size_t)(end - found - 1));
    return found ? found : end;
}

/* Returns the position after the separator at `at`. */
static const char *skip_separator(const char *at, enum delimiter delimiter)
{
    return at + (delimiter == DELIMITER_COLONS ? 2 : 1);
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
    if (field->size >= 2 && rest == last && rest > at) { /* quoted, and nothing after the quote */
        *field = (struct field){at + 1, field->size - 2};
        if (doubled && cursor->spare)
            *field = without_doubles(cursor, field);
    }
    cursor->is_done = stop == cursor->end;
    cursor->at = cursor->is_done ? stop : skip_separator(stop, cursor->delimiter);
    if (cursor->delimiter == DELIMITER_BLANKS && !cursor->is_done) {
        cursor->at = skip_blanks(cursor->at, cursor->end);
        cursor->is_done = cursor->at == cursor->end;
    }
    return true;
}

/* --- rows of several lines --- */

struct quotes { /* how far a row was examined */
    size_t at;
    bool is_open;
    size_t opened; /* position of the open quote */
};

/* Returns the position after the separator, or `end`. */
static const char *pass_separator(const char *at, const char *end, const enum delimiter *delimiter)
{
    const char *found = NULL;
    if (delimiter) {
        found = find_separator(at, end, *delimiter);
    } else {
        for (found = at; found < end && *found != ',' && *found != '\t' && *found != ';' &&
                         *found != '|' && *found != ':';)
            found++;
    }
    if (found == end)
        return end;
    return delimiter ? skip_separator(found, *delimiter) : found + 1;
}

/* Continues from the last position. Returns whether a field in quotes is open at the end of the
 * row. */
static bool look_for_open_quote(struct quotes *quotes, const struct text_line *row,
                                const enum delimiter *delimiter)
{
    const char *end = row->text + row->size, *at = row->text + quotes->at;
    const bool of_tabs = !delimiter || *delimiter == DELIMITER_TAB;
    while (at < end) {
        if (!quotes->is_open) {
            while (at < end && (*at == ' ' || (*at == '\t' && !of_tabs)))
                at++;
            quotes->is_open = at < end && *at == '"';
            quotes->opened = (size_t)(at - row->text);
            at = quotes->is_open ? at + 1 : pass_separator(at, end, delimiter);
            continue;
        }
        at = memchr(at, '"', (size_t)(end - at));
        if (!at) {
            at = end;
        } else if (at + 1 < end && at[1] == '"') {
            at += 2;
        } else {
            quotes->is_open = false;
            at = pass_separator(at + 1, end, delimiter);
        }
    }
    quotes->at = row->size;
    return quotes->is_open;
}

enum error_code delimited_join(struct line_reader *reader, const enum delimiter *delimiter,
                               struct text_line *line, struct error *err)
{
    struct quotes quotes = {0};
    bool found = true;
    enum error_code rc = ERROR_NONE;
    if ((delimiter && *delimiter == DELIMITER_BLANKS) || text_line_is_skipped(line))
        return ERROR_NONE;
    while (rc == ERROR_NONE && look_for_open_quote(&quotes, line, delimiter)) {
        rc = line_reader_extend(reader, line, &found, err);
        if (rc == ERROR_NONE && !found)
            return error_set(err, ERROR_INPUT,
                             "%s:%" PRId64 ": expected a quote that closes the one in column %zu, "
                             "found none up to line %" PRId64 ": " ADVICE
                             "close it, or write two quotes where a field has one",
                             line_reader_name(reader), line->number, quotes.opened + 1, line->last);
    }
    return rc == ERROR_NONE && line->last > line->number ? line_reader_find_spare(reader, line, err)
                                                         : rc;
}

const char *delimited_extent(const struct text_line *line, char buffer[DELIMITED_EXTENT_SIZE])
{
    buffer[0] = '\0';
    if (line->last > line->number)
        (void)snprintf(buffer, DELIMITED_EXTENT_SIZE,
                       " in lines %" PRId64 " to %" PRId64
                       ", which a field in quotes makes one row",
                       line->number, line->last);
    return buffer;
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

bool fields_are_equal(const struct field *a, const struct field *b)
{
    return a->size == b->size && (a->size == 0 || memcmp(a->text, b->text, a->size) == 0);
}

bool field_is(const struct field *field, const char *word)
{
    return strlen(word) == field->size && strncasecmp(field->text, word, field->size) == 0;
}
