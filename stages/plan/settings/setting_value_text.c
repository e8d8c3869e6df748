/* Prints values as text, decides which of them have an effect, and compares them. */
#include "stages/plan/settings/setting_value.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Appends like snprintf(). `at` also counts the bytes that did not fit. */
static void append(char *out, size_t size, size_t *at, const char *format, ...) PRINTF_LIKE(4, 5);

static void append(char *out, size_t size, size_t *at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int n =
        vsnprintf(*at < size ? out + *at : NULL, *at < size ? size - *at : 0, format, args);
    va_end(args);
    *at += n > 0 ? (size_t)n : 0;
}

static void print_int_list(const struct int_list *list, char *out, size_t size, size_t *at)
{
    append(out, size, at, "%s", "");
    for (int i = 0; i < list->count; i++)
        append(out, size, at, "%s%" PRId64, i ? "," : "", list->value[i]);
}

static void print_numbers(const struct choice_or_numbers *numbers, char *out, size_t size,
                          size_t *at)
{
    for (int64_t i = 0; i < numbers->count; i++)
        append(out, size, at, "%s%.17g", i ? "," : "", numbers->value[i]);
}

static bool is_default(const struct setting_spec *row, const void *item)
{
    struct setting_spec alone = *row;
    struct int_list scratch; /* the largest field of an item */
    char value[SETTING_NAME_SIZE * HOP_COUNT_MAX], other[sizeof value];
    if (!row->default_text)
        return false;
    must(row->size <= sizeof scratch);
    alone.offset = 0;
    setting_reset(&alone, &scratch);
    (void)setting_print(row, item, value, sizeof value);
    (void)setting_print(&alone, &scratch, other, sizeof other);
    return strcmp(value, other) == 0;
}

static void print_item(const struct setting_spec *rows, const void *item, char *out, size_t size,
                       size_t *at)
{
    const char *comma = "";
    append(out, size, at, "{");
    for (const struct setting_spec *row = rows; row->name; row++) {
        char value[SETTING_NAME_SIZE * HOP_COUNT_MAX];
        const bool list = row->type == SETTING_INT_LIST;
        if (is_default(row, item) || !setting_has_effect(rows, row, item))
            continue;
        (void)setting_print(row, item, value, sizeof value);
        append(out, size, at, "%s%s: %s%s%s", comma, row->name, list ? "[" : "", value,
               list ? "]" : "");
        comma = ", ";
    }
    append(out, size, at, "}");
}

static void print_items(const struct setting_spec *spec, const char *field, char *out, size_t size,
                        size_t *at)
{
    const int64_t count = *(const int64_t *)(const void *)field;
    append(out, size, at, "[");
    for (int64_t i = 0; i < count; i++) {
        append(out, size, at, "%s", i ? ", " : "");
        print_item(spec->items->rows, field + spec->items->offset + (size_t)i * spec->items->size,
                   out, size, at);
    }
    append(out, size, at, "]");
}

int64_t setting_number(const struct setting_spec *spec, const void *base)
{
    const void *field = (const char *)base + spec->offset;
    return spec->size == sizeof(uint32_t) ? (int64_t) * (const uint32_t *)field
                                          : *(const int64_t *)field;
}

int setting_print(const struct setting_spec *spec, const void *base, char *out, size_t size)
{
    const void *field = (const char *)base + spec->offset;
    size_t at = 0;
    switch (spec->type) {
    case SETTING_INT:
        return snprintf(out, size, "%" PRId64, setting_number(spec, base));
    case SETTING_INT_OR_MOST: {
        const struct int_or_most *value = field;
        return snprintf(out, size, "%s%" PRId64, value->is_most ? "up_to " : "", value->value);
    }
    case SETTING_DOUBLE:
        return snprintf(out, size, "%.17g", *(const double *)field);
    case SETTING_BOOL:
        return snprintf(out, size, "%s", *(const bool *)field ? "true" : "false");
    case SETTING_TEXT:
    case SETTING_PATH:
    case SETTING_PATHS:
    case SETTING_WORDS:
        return snprintf(out, size, "%s", (const char *)field);
    case SETTING_CHOICE_OR_PATH: {
        const struct choice_or_path *value = field;
        return snprintf(out, size, "%s",
                        value->path[0] ? value->path : spec->choices[value->choice]);
    }
    case SETTING_CHOICE:
        return snprintf(out, size, "%s", spec->choices[setting_number(spec, base)]);
    case SETTING_INT_LIST:
        print_int_list(field, out, size, &at);
        break;
    case SETTING_CHOICE_OR_NUMBERS: {
        const struct choice_or_numbers *value = field;
        if (value->count == 0)
            return snprintf(out, size, "%s", spec->choices[value->choice]);
        print_numbers(value, out, size, &at);
        break;
    }
    case SETTING_ITEMS:
        print_items(spec, field, out, size, &at);
        break;
    }
    return (int)at;
}

bool setting_equal(const struct setting_spec *spec, const void *a, const void *b)
{
    char one[SETTING_VALUE_SIZE], other[SETTING_VALUE_SIZE];
    (void)setting_print(spec, a, one, sizeof one);
    (void)setting_print(spec, b, other, sizeof other);
    return strcmp(one, other) == 0;
}

/* Returns whether `word` is one of the words of `list`, which are separated by commas. */
static bool is_listed(const char *list, const char *word)
{
    const size_t size = strlen(word);
    for (; *list; list += *list == ',') {
        const size_t item = strcspn(list, ",");
        if (item == size && memcmp(list, word, size) == 0)
            return true;
        list += item;
    }
    return false;
}

bool setting_has_effect(const struct setting_spec *table, const struct setting_spec *spec,
                        const void *base)
{
    char name[SETTING_NAME_SIZE], value[SETTING_VALUE_SIZE];
    if (!spec->only_with)
        return true;
    const size_t size = strcspn(spec->only_with, "=");
    must(size < sizeof name && spec->only_with[size] == '=');
    memcpy(name, spec->only_with, size);
    name[size] = '\0';
    const struct setting_spec *other = setting_row(table, name);
    must(other != NULL);
    (void)setting_print(other, base, value, sizeof value);
    return setting_has_effect(table, other, base) && is_listed(spec->only_with + size + 1, value);
}

char *setting_path(const struct setting_spec *spec, void *base)
{
    char *field = (char *)base + spec->offset;
    if (spec->type == SETTING_CHOICE_OR_PATH)
        return ((struct choice_or_path *)(void *)field)->path;
    return spec->type == SETTING_PATH || spec->type == SETTING_PATHS ? field : NULL;
}
