#include "stages/tables/edge_columns_setting.h"

#include "common/base/text.h"

#include <string.h>

enum { SHOWN = 80 };

static struct field trim(struct field field)
{
    while (field.size > 0 && *field.text == ' ') {
        field.text++;
        field.size--;
    }
    while (field.size > 0 && field.text[field.size - 1] == ' ')
        field.size--;
    return field;
}

/* Returns the place of `c` outside of single quotes, or `end`. */
static const char *find_unquoted(const char *at, const char *end, char c)
{
    bool is_quoted = false;
    for (; at < end; at++) {
        is_quoted ^= *at == '\'';
        if (!is_quoted && *at == c)
            return at;
    }
    return end;
}

static struct field without_quotes(struct field field)
{
    if (field.size >= 2 && field.text[0] == '\'' && field.text[field.size - 1] == '\'')
        return (struct field){field.text + 1, field.size - 2};
    return field;
}

/* Returns the role of a word of the setting. Only two words name the ends: other words that data
 * sets use for an end may be the names of columns. */
static struct edge_word role_of(const struct field *word)
{
    const struct edge_word known = edge_word_of(word);
    const bool is_end = field_is(word, "source") || field_is(word, "target");
    return is_end || known.role == EDGE_ROLE_COLUMN ? known
                                                    : (struct edge_word){.role = EDGE_ROLE_NONE};
}

enum error_code edge_columns_setting_next(const char **text, struct column_entry *out, bool *found,
                                          struct error *err)
{
    const char *at = *text, *end = at + strlen(at);
    const char *stop = find_unquoted(at, end, ';');
    const struct field entry = trim((struct field){at, (size_t)(stop - at)});
    *out = (struct column_entry){0};
    *found = at < end;
    *text = stop < end ? stop + 1 : end;
    if (!*found)
        return ERROR_NONE;
    const char *entry_end = entry.text + entry.size;
    const char *colon = find_unquoted(entry.text, entry_end, ':');
    const struct field word = trim((struct field){entry.text, (size_t)(colon - entry.text)});
    out->role = role_of(&word);
    if (colon < entry_end) {
        const char *rest = colon + 1;
        const char *second = find_unquoted(rest, entry_end, ':');
        if (second < entry_end) {
            out->type = trim((struct field){rest, (size_t)(second - rest)});
            rest = second + 1;
        }
        out->name = without_quotes(trim((struct field){rest, (size_t)(entry_end - rest)}));
    }
    const bool has_type = out->type.size > 0;
    if (out->role.role != EDGE_ROLE_NONE && out->name.size &&
        (!has_type || out->role.role != EDGE_ROLE_COLUMN) &&
        !memchr(out->name.text, '\'', out->name.size))
        return ERROR_NONE;
    return error_set(
        err, ERROR_INVALID,
        "ingest.edge_columns: found '%.*s', expected source, target, weight, time, etype, edge_id "
        "or feat, a colon and the name or the number of a column; before the column of a source or "
        "target the type of its nodes and a colon may come (source: user:userId); a name with a "
        "colon is written in single quotes",
        entry.size < SHOWN ? (int)entry.size : SHOWN, entry.text);
}

bool edge_columns_setting_has_names(const char *text)
{
    struct column_entry entry;
    int64_t number = 0;
    bool found = true, any = false;
    while (found && edge_columns_setting_next(&text, &entry, &found, NULL) == ERROR_NONE)
        any |= found && !text_int64(entry.name.text, entry.name.size, &number);
    return any;
}

bool edge_columns_setting_fits(const char *text, const struct table_look *look)
{
    struct column_entry entry;
    bool found = true, all = text[0] != '\0', twice = false;
    while (all && found) {
        all = edge_columns_setting_next(&text, &entry, &found, NULL) == ERROR_NONE;
        all = all && (!found || table_look_find(look, &entry.name, &twice) >= 0);
    }
    return all;
}
