#include "stages/tables/edge_role_text.h"

#include "common/files/file.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { LISTED_MAX = 8 };

/* Appends to text [ROLE_TEXT_SIZE], as far as there is room. */
static void put(char *text, const char *format, ...) PRINTF_LIKE(2, 3);

static void put(char *text, const char *format, ...)
{
    const size_t at = strlen(text);
    va_list values;
    va_start(values, format);
    (void)vsnprintf(text + at, ROLE_TEXT_SIZE - at, format, values);
    va_end(values);
}

/* ---- the line -------------------------------------------------------------------------------- */

/* Writes how the setting names a column: by its name if it has one, or else by its number. */
static void put_name(char *text, const struct table_look *look, int column)
{
    const struct field *name = &look->column[column].name;
    const bool is_quoted =
        name->size && (memchr(name->text, ':', name->size) || memchr(name->text, ';', name->size));
    if (!name->size)
        put(text, "%d", column + 1);
    else
        put(text, is_quoted ? "'%.*s'" : "%.*s", (int)name->size, name->text);
}

/* Writes the node type that a column's name suggests: user for userId. */
static void put_type(char *text, const struct table_look *look, int column, const char *otherwise)
{
    const struct field *name = &look->column[column].name;
    size_t size = name->size;
    while (size > 2 && !isalpha((unsigned char)name->text[size - 1]))
        size--;
    if (size > 2 && strncasecmp(name->text + size - 2, "id", 2) == 0)
        size -= 2;
    while (size > 0 && !isalnum((unsigned char)name->text[size - 1]))
        size--;
    if (size == 0 || memchr(name->text, ':', size))
        put(text, "%s", otherwise);
    for (size_t i = 0; i < size && !memchr(name->text, ':', size); i++)
        put(text, "%c", tolower((unsigned char)name->text[i]));
    put(text, ":");
}

static void put_ends(char *text, const struct table_look *look, int source, int target,
                     bool has_sides)
{
    put(text, "source: ");
    if (has_sides)
        put_type(text, look, source, "left");
    put_name(text, look, source);
    put(text, "; target: ");
    if (has_sides)
        put_type(text, look, target, "right");
    put_name(text, look, target);
}

const char *edge_role_line(const struct table_look *look, int source, int target, bool has_sides,
                           char *text)
{
    text[0] = '\0';
    put(text, "edge_columns: \"");
    put_ends(text, look, source, target, has_sides);
    put(text, "\"");
    return text;
}

const char *edge_role_setting(const struct table_look *look, const struct edge_roles *roles,
                              bool has_sides, char *text)
{
    const struct edge_fields *fields = &roles->fields;
    text[0] = '\0';
    put_ends(text, look, fields->source, fields->target, has_sides);
    for (size_t i = 0; i < fields->count; i++) {
        const int column = (int)i == roles->type_field ? EDGE_TYPE : fields->use[i].column;
        const char *word =
            column == EDGE_FIELD_NONE ? NULL : edge_word_for((enum edge_column)column);
        if (!word)
            continue;
        put(text, "; %s: ", word);
        put_name(text, look, (int)i);
    }
    return text;
}

/* ---- a proposal ------------------------------------------------------------------------------ */

static bool may_be_end(const struct table_look *look, size_t i)
{
    const struct table_column *column = &look->column[i];
    return column->values && !(column->are_numbers && column->has_fraction) && !column->are_dates;
}

/* Guesses the two columns that share most cells, or else the first two that may be ids. */
static void guess_ends(const struct table_look *look, int *source, int *target)
{
    uint64_t most = 0;
    *source = *target = -1;
    for (size_t i = 0; i < look->column_count; i++)
        for (size_t j = i + 1; j < look->column_count; j++) {
            const uint64_t shared =
                may_be_end(look, i) && may_be_end(look, j) ? table_look_shared(look, i, j) : 0;
            if (shared > most) {
                most = shared;
                *source = (int)i;
                *target = (int)j;
            }
        }
    for (size_t i = 0; most == 0 && i < look->column_count; i++) {
        if (!may_be_end(look, i) || (look->column_count > 2 && look->column[i].counts_up))
            continue;
        *target = *source >= 0 && *target < 0 ? (int)i : *target;
        *source = *source < 0 ? (int)i : *source;
    }
    *source = *source < 0 ? 0 : *source;
    *target = *target < 0 || *target == *source ? (int)(look->column_count > 1) : *target;
}

/* Guesses the role of a column that is no end. Returns NULL if it has none. */
static const char *guess_role(const struct table_look *look, size_t i)
{
    const struct table_column *column = &look->column[i];
    const bool is_large = column->are_numbers && column->least > (double)(1 << 24);
    if (column->are_dates || is_large)
        return "time";
    if (column->are_numbers && column->has_fraction)
        return "weight";
    const bool has_few = column->distinct * 2 <= look->rows || column->distinct <= 2;
    return column->values && has_few ? "etype" : NULL;
}

static void put_proposal(char *text, const struct table_look *look)
{
    const char *taken[3] = {NULL};
    int source = 0, target = 0;
    size_t count = 0;
    guess_ends(look, &source, &target);
    (void)edge_role_line(look, source, target, false, text);
    text[strlen(text) - 1] = '\0'; /* the closing quote */
    for (size_t i = 0; i < look->column_count && count < 3; i++) {
        const char *role = (int)i == source || (int)i == target ? NULL : guess_role(look, i);
        bool is_new = role != NULL;
        for (size_t k = 0; k < count; k++)
            is_new &= role != taken[k];
        if (!is_new)
            continue;
        taken[count++] = role;
        put(text, "; %s: ", role);
        put_name(text, look, (int)i);
    }
    put(text, "\"");
}

enum error_code edge_role_refuse(const struct role_search *s, const char *why, struct error *err)
{
    const struct table_look *look = s->request->look;
    char line[ROLE_TEXT_SIZE] = "";
    put_proposal(line, look);
    return error_set(
        err, ERROR_INPUT,
        "%s:%" PRId64 ": %s source and target; found '%.*s': " ADVICE "add a line `%s` below "
        "`ingest:`, with the columns as they are meant",
        s->request->where, look->header_line ? look->header_line : look->first_line, why,
        look->header_size < 120 ? (int)look->header_size : 120, look->header, line);
}

/* ---- what was understood --------------------------------------------------------------------- */

static const char *const role_name[EDGE_COLUMN_COUNT] = {
    [EDGE_WEIGHT] = "the weight", [EDGE_TYPE] = "the relation",       [EDGE_TIME] = "the time",
    [EDGE_ID] = "the edge's id",  [EDGE_FEATURE] = "an edge feature", [EDGE_LABEL] = "the label"};

static void put_column(char *text, const struct role_search *s, size_t i)
{
    char name[TABLE_COLUMN_TEXT_SIZE];
    put(text, "%s", table_look_column(s->request->look, i, name));
}

static void say_columns(char *text, const struct role_search *s)
{
    size_t features = 0;
    for (size_t i = 0; i < s->count; i++) {
        if (s->use[i].is_direction) {
            put(text, ", ");
            put_column(text, s, i);
            put(text, " the direction");
        }
        if (s->use[i].role != EDGE_ROLE_COLUMN)
            continue;
        features += s->use[i].column == EDGE_FEATURE;
        if (s->use[i].column == EDGE_FEATURE && features > LISTED_MAX)
            continue;
        put(text, ", ");
        put_column(text, s, i);
        put(text, " %s", role_name[s->use[i].column]);
    }
    if (features > LISTED_MAX)
        put(text, " and %zu more features", features - LISTED_MAX);
}

/* Returns how many columns are not used. */
static size_t say_unused(char *text, const struct role_search *s)
{
    size_t unused = 0, shown = 0;
    for (size_t i = 0; i < s->count; i++)
        unused += s->use[i].role == EDGE_ROLE_NONE && !s->use[i].is_direction;
    for (size_t i = 0; i < s->count && shown < LISTED_MAX; i++) {
        if (s->use[i].role != EDGE_ROLE_NONE || s->use[i].is_direction)
            continue;
        put(text, "%s", shown == 0 ? "; " : shown + 1 == unused ? " and " : ", ");
        put_column(text, s, i);
        shown++;
    }
    if (unused > shown)
        put(text, " and %zu more", unused - shown);
    if (unused)
        put(text, unused == 1 ? " is not used" : " are not used");
    return unused;
}

void edge_role_say(const struct role_search *s)
{
    struct edge_roles *out = s->out;
    const char *slash = strrchr(s->request->where, '/');
    const char *name = slash ? slash + 1 : s->request->where;
    char line[ROLE_TEXT_SIZE] = "";
    out->said[0] = out->warning[0] = '\0';
    put(out->said, "%s: ", name);
    put_column(out->said, s, (size_t)s->source);
    put(out->said, " is the source, ");
    put_column(out->said, s, (size_t)s->target);
    put(out->said, " the target");
    say_columns(out->said, s);
    const size_t unused = say_unused(out->said, s);
    if (!s->is_assumed)
        return;
    put_proposal(line, s->request->look);
    put(out->warning,
        "%s: %s; if that is not meant, or more is, add a line `%s` below `ingest:`, with the "
        "columns as "
        "they are meant",
        name,
        unused && !s->request->look->header_line
            ? "columns without a name are not used"
            : "source and target have names that are not known",
        line);
}
