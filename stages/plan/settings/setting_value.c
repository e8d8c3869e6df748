#include "stages/plan/settings/setting_value.h"

#include "common/base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

const struct setting_spec *setting_row(const struct setting_spec *table, const char *name)
{
    for (const struct setting_spec *spec = table; spec->name; spec++)
        if (strcmp(spec->name, name) == 0)
            return spec;
    return NULL;
}

enum { PLACE_NAME_SIZE = 128 };

/* The beginning of a message: "cora.yaml:12: train-step.layers[1].heads". */
struct place {
    const struct setting_source *source;
    int line;
    char name[PLACE_NAME_SIZE];
};

static enum error_code refuse(const struct place *place, struct error *err, const char *format, ...)
    PRINTF_LIKE(3, 4);

static enum error_code refuse(const struct place *place, struct error *err, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return place->source->has_lines ? error_set(err, ERROR_INVALID, "%.200s:%d: %s%s",
                                                place->source->name, place->line, place->name, text)
                                    : error_set(err, ERROR_INVALID, "%.200s: %s%s",
                                                place->source->name, place->name, text);
}

static enum error_code out_of_range(const struct setting_spec *spec, const char *value,
                                    const struct place *place, struct error *err)
{
    const bool is_real = spec->type == SETTING_DOUBLE || spec->type == SETTING_CHOICE_OR_NUMBERS;
    return refuse(place, err, " is '%.200s', expected %s from %.15g to %.15g", value,
                  is_real ? "a number" : "whole numbers", spec->least, spec->most);
}

static enum error_code assign_int(const struct setting_spec *spec, const char *value,
                                  const struct place *place, int64_t *out, struct error *err)
{
    if (!text_int64(value, strlen(value), out) || (double)*out < spec->least ||
        (double)*out > spec->most)
        return out_of_range(spec, value, place, err);
    return ERROR_NONE;
}

/* Parses "4", or "up_to 4" with a number of at least 1. */
static enum error_code assign_int_or_most(const struct setting_spec *spec, const char *value,
                                          const struct place *place, struct int_or_most *out,
                                          struct error *err)
{
    static const char word[] = "up_to ";
    const size_t size = sizeof word - 1;
    out->is_most = strncmp(value, word, size) == 0;
    const enum error_code rc =
        assign_int(spec, out->is_most ? value + size : value, place, &out->value, err);
    if (rc == ERROR_NONE && out->is_most && out->value == 0)
        return refuse(place, err, " is '%s', expected at least 1 behind `up_to`", value);
    return rc;
}

static enum error_code assign_double(const struct setting_spec *spec, const char *value,
                                     const struct place *place, double *out, struct error *err)
{
    double number = 0.0;
    if (!text_double(value, strlen(value), &number) || !isfinite(number) || number < spec->least ||
        number > spec->most)
        return out_of_range(spec, value, place, err);
    *out = number;
    return ERROR_NONE;
}

/* Returns the index of `value` among the names of a choice, or their number if it is none of
 * them. */
static int64_t find_choice(const struct setting_spec *spec, const char *value)
{
    int64_t i = 0;
    while (spec->choices[i] && strcmp(spec->choices[i], value) != 0)
        i++;
    return i;
}

static enum error_code assign_choice(const struct setting_spec *spec, const char *value,
                                     const struct place *place, int64_t *out, struct error *err)
{
    char known[256] = "";
    size_t at = 0;
    *out = find_choice(spec, value);
    if (spec->choices[*out])
        return ERROR_NONE;
    for (int i = 0; spec->choices[i] && at < sizeof known; i++) {
        const int n =
            snprintf(known + at, sizeof known - at, "%s%s", i ? ", " : "", spec->choices[i]);
        at += n > 0 ? (size_t)n : 0;
    }
    return refuse(place, err, " is '%.200s', expected one of %s", value, known);
}

_Static_assert(sizeof(enum setting_type) == sizeof(uint32_t), "an enum is as wide as a uint32_t");

/* Sets a number or a choice. The field is an int64_t, a uint32_t or an enum. */
static enum error_code assign_number(const struct setting_spec *spec, const char *value,
                                     const struct place *place, void *field, struct error *err)
{
    int64_t number = 0;
    const enum error_code rc = spec->type == SETTING_CHOICE
                                   ? assign_choice(spec, value, place, &number, err)
                                   : assign_int(spec, value, place, &number, err);
    if (rc != ERROR_NONE)
        return rc;
    const uint32_t narrow = (uint32_t)number;
    if (spec->size == sizeof narrow)
        memcpy(field, &narrow, sizeof narrow);
    else
        memcpy(field, &number, sizeof number);
    return ERROR_NONE;
}

/* Sets a text. The text of all settings has one setting on a line, so a value has no line feed. */
static enum error_code assign_text(const char *value, const struct place *place, char *out,
                                   size_t size, struct error *err)
{
    if (strpbrk(value, "\n\r"))
        return refuse(place, err, " has a line feed in it, expected text on one line");
    if (!text_copy(out, size, value))
        return refuse(place, err, " is longer than %zu bytes", size - 1);
    return ERROR_NONE;
}

/* Returns "true" or "false" for the words that other files of this kind use; NULL for any other
 * word. */
static const char *boolean_meant(const char *value)
{
    static const char *const words[][2] = {
        {"yes", "no"}, {"on", "off"}, {"true", "false"}, {"1", "0"}, {"y", "n"}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcasecmp(value, words[i][0]) == 0)
            return "true";
        if (strcasecmp(value, words[i][1]) == 0)
            return "false";
    }
    return NULL;
}

static enum error_code assign_bool(const char *value, const struct place *place, bool *out,
                                   struct error *err)
{
    const char *meant = boolean_meant(value);
    enum error_code rc = ERROR_NONE;
    if (strcmp(value, "true") != 0 && strcmp(value, "false") != 0)
        rc = refuse(place, err, " is '%.200s', expected true or false", value);
    *out = value[0] == 't';
    return meant ? error_add(err, rc, "; " ADVICE "write %s", meant) : rc;
}

/* Refuses YAML's words for null, which would be read as text. */
static enum error_code refuse_null(const struct setting_spec *spec, const struct place *place,
                                   struct error *err)
{
    if (!spec->default_text)
        return refuse(place, err, " is '~': there is no null here; it must be given");
    return error_add(err, refuse(place, err, " is '~': there is no null here"),
                     "; " ADVICE "leave the line out for the default, which is %s",
                     spec->default_text[0] ? spec->default_text : "empty");
}

/* --- lists of paths --- */

static struct place place_of_item(const struct place *list, int64_t index, int line)
{
    struct place item = {.source = list->source, .line = line};
    (void)snprintf(item.name, sizeof item.name, "%.100s[%" PRId64 "]", list->name, index);
    return item;
}

static enum error_code add_path(const struct yaml_node *item, const struct place *at, char *out,
                                size_t size, struct error *err)
{
    const size_t before = strlen(out);
    if (item->kind != YAML_SCALAR || !item->text || !item->text[0])
        return refuse(at, err, " is %s, expected a path",
                      item->kind == YAML_SCALAR ? "empty" : yaml_kind_name(item->kind));
    if (strchr(item->text, ','))
        return refuse(at, err, " is '%.100s', expected a path without a comma in it", item->text);
    const int added =
        snprintf(out + before, size - before, "%s%s", before > 1 ? ", " : "", item->text);
    if (added < 0 || (size_t)added + 1 >= size - before)
        return refuse(
            at, err,
            " is too much: expected paths of %zu bytes together, or a pattern as in part-*.csv",
            size - 1);
    return ERROR_NONE;
}

/* Turns a list into the text that file_pattern.h reads. */
static enum error_code assign_paths(const struct yaml_node *value, const struct place *place,
                                    char *out, size_t size, struct error *err)
{
    char text[SETTING_PATH_SIZE] = "[";
    int64_t count = 0;
    enum error_code rc = ERROR_NONE;
    if (!value->first)
        return refuse(place, err, " is an empty list, expected a path, or a list of them");
    for (const struct yaml_node *item = value->first; rc == ERROR_NONE && item; item = item->next) {
        const struct place at = place_of_item(place, count++, item->line);
        rc = add_path(item, &at, text, sizeof text - 1, err);
    }
    if (rc != ERROR_NONE)
        return rc;
    text[strlen(text)] = ']'; /* the bytes behind it are 0 */
    return assign_text(text, place, out, size, err);
}

static enum error_code assign_choice_or_path(const struct setting_spec *spec,
                                             const struct yaml_node *given,
                                             const struct place *place, struct choice_or_path *out,
                                             struct error *err)
{
    const char *value = given->text ? given->text : "";
    *out = (struct choice_or_path){.choice = find_choice(spec, value)};
    if (given->kind == YAML_LIST)
        return assign_paths(given, place, out->path, sizeof out->path, err);
    if (spec->choices[out->choice])
        return ERROR_NONE;
    if (!value[0])
        return assign_choice(spec, value, place, &out->choice, err);
    return assign_text(value, place, out->path, sizeof out->path, err);
}

/* --- lists of numbers --- */

static enum error_code add_number(const struct setting_spec *spec, const char *text,
                                  const struct place *item, struct int_list *out, struct error *err)
{
    if (out->count == HOP_COUNT_MAX)
        return refuse(item, err, " is one too many, expected at most %d items", HOP_COUNT_MAX);
    const enum error_code rc = assign_int(spec, text, item, &out->value[out->count], err);
    if (rc != ERROR_NONE)
        return rc;
    if (spec->least < 0 && out->value[out->count] == 0)
        return refuse(item, err,
                      " is '0': a fan-out of 0 keeps no neighbour; expected -1 (all) or at least "
                      "1");
    out->count++;
    return ERROR_NONE;
}

/* Parses "10, 5". */
static enum error_code assign_comma_list(const struct setting_spec *spec, const char *value,
                                         const struct place *place, struct int_list *out,
                                         struct error *err)
{
    enum error_code rc = ERROR_NONE;
    *out = (struct int_list){0};
    for (const char *item = value; rc == ERROR_NONE && *value; item++) {
        const struct place at = place_of_item(place, out->count, place->line);
        char number[64];
        item += strspn(item, " ");
        const size_t size = strcspn(item, ",");
        (void)snprintf(number, sizeof number, "%.*s", size < 60 ? (int)size : 60, item);
        rc = add_number(spec, number, &at, out, err);
        item += size;
        if (!*item)
            break;
    }
    return rc;
}

static enum error_code assign_int_list(const struct setting_spec *spec,
                                       const struct yaml_node *value, const struct place *place,
                                       struct int_list *out, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    if (value->kind == YAML_SCALAR && value->text)
        return assign_comma_list(spec, value->text, place, out, err);
    *out = (struct int_list){0};
    for (const struct yaml_node *item = value->first; rc == ERROR_NONE && item; item = item->next) {
        const struct place at = place_of_item(place, out->count, item->line);
        if (!item->text)
            return refuse(&at, err, " is %s, expected a whole number", yaml_kind_name(item->kind));
        rc = add_number(spec, item->text, &at, out, err);
    }
    return rc;
}

static enum error_code add_real(const struct setting_spec *spec, const char *text,
                                const struct place *item, struct choice_or_numbers *out,
                                struct error *err)
{
    if (out->count == SETTING_NUMBER_COUNT_MAX)
        return refuse(item, err, " is one too many, expected at most %d numbers",
                      SETTING_NUMBER_COUNT_MAX);
    return assign_double(spec, text, item, &out->value[out->count++], err);
}

/* Parses a word, or "1, 0.5". */
static enum error_code assign_word_or_numbers(const struct setting_spec *spec, const char *value,
                                              const struct place *place,
                                              struct choice_or_numbers *out, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    *out = (struct choice_or_numbers){.choice = find_choice(spec, value)};
    if (spec->choices[out->choice])
        return ERROR_NONE;
    out->choice = 0;
    if (!strpbrk(value, "0123456789"))
        return assign_choice(spec, value, place, &out->choice, err);
    for (const char *item = value; rc == ERROR_NONE; item++) {
        const struct place at = place_of_item(place, out->count, place->line);
        char number[64];
        item += strspn(item, " ");
        const size_t size = strcspn(item, ",");
        (void)snprintf(number, sizeof number, "%.*s", size < 60 ? (int)size : 60, item);
        rc = add_real(spec, number, &at, out, err);
        item += size;
        if (!*item)
            break;
    }
    return rc;
}

static enum error_code assign_choice_or_numbers(const struct setting_spec *spec,
                                                const struct yaml_node *value,
                                                const struct place *place,
                                                struct choice_or_numbers *out, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    if (value->kind == YAML_SCALAR && value->text)
        return assign_word_or_numbers(spec, value->text, place, out, err);
    *out = (struct choice_or_numbers){0};
    if (!value->first)
        return refuse(place, err, " is an empty list, expected numbers or '%s'", spec->choices[0]);
    for (const struct yaml_node *item = value->first; rc == ERROR_NONE && item; item = item->next) {
        const struct place at = place_of_item(place, out->count, item->line);
        if (!item->text)
            return refuse(&at, err, " is %s, expected a number", yaml_kind_name(item->kind));
        rc = add_real(spec, item->text, &at, out, err);
    }
    return rc;
}

/* --- all but lists of maps --- */

/* Returns what kind of value the setting expects, for a message. */
static const char *expected_kind(const struct setting_spec *spec)
{
    switch (spec->type) {
    case SETTING_INT:
        return "a whole number";
    case SETTING_INT_OR_MOST:
        return "a whole number, or `up_to` and one";
    case SETTING_DOUBLE:
        return "a number";
    case SETTING_BOOL:
        return "true or false";
    case SETTING_TEXT:
    case SETTING_PATH:
    case SETTING_CHOICE:
        return "one value";
    case SETTING_PATHS:
    case SETTING_CHOICE_OR_PATH:
        return "a path, or a list of them";
    case SETTING_WORDS:
        return "a word, or a list of them";
    case SETTING_INT_LIST:
        return "a list of whole numbers, as in [10, 5]";
    case SETTING_CHOICE_OR_NUMBERS:
        return "a word, or a list of numbers";
    case SETTING_ITEMS:
        return "a list of maps";
    }
    return "";
}

/* Returns whether the setting is one text that may be a list in the pipeline file. */
static bool takes_paths(const struct setting_spec *spec)
{
    return spec->type == SETTING_PATHS || spec->type == SETTING_WORDS ||
           spec->type == SETTING_CHOICE_OR_PATH;
}

static bool takes_list(const struct setting_spec *spec)
{
    return spec->type == SETTING_INT_LIST || spec->type == SETTING_CHOICE_OR_NUMBERS;
}

static enum error_code assign_plain(const struct setting_spec *spec, void *base,
                                    const struct yaml_node *value, const struct place *place,
                                    struct error *err)
{
    void *field = (char *)base + spec->offset;
    const char *text = value->text ? value->text : "";
    if (value->kind == YAML_MAP ||
        (value->kind == YAML_LIST && !takes_list(spec) && !takes_paths(spec)))
        return refuse(place, err, " is %s, expected %s", yaml_kind_name(value->kind),
                      expected_kind(spec));
    if (strcmp(text, "~") == 0)
        return refuse_null(spec, place, err);
    switch (spec->type) {
    case SETTING_INT:
    case SETTING_CHOICE:
        return assign_number(spec, text, place, field, err);
    case SETTING_INT_OR_MOST:
        return assign_int_or_most(spec, text, place, field, err);
    case SETTING_DOUBLE:
        return assign_double(spec, text, place, field, err);
    case SETTING_BOOL:
        return assign_bool(text, place, field, err);
    case SETTING_TEXT:
    case SETTING_PATH:
        return assign_text(text, place, field, spec->size, err);
    case SETTING_PATHS:
    case SETTING_WORDS:
        return value->kind == YAML_LIST ? assign_paths(value, place, field, spec->size, err)
                                        : assign_text(text, place, field, spec->size, err);
    case SETTING_CHOICE_OR_PATH:
        return assign_choice_or_path(spec, value, place, field, err);
    case SETTING_INT_LIST:
        return assign_int_list(spec, value, place, field, err);
    case SETTING_CHOICE_OR_NUMBERS:
        return assign_choice_or_numbers(spec, value, place, field, err);
    case SETTING_ITEMS:
        break;
    }
    return refuse(place, err, " is a list of maps inside of one");
}

/* --- lists of maps --- */

static enum error_code unknown_key(const struct setting_spec *rows, const char *key,
                                   const struct place *place, struct error *err)
{
    const char *names[64] = {0};
    size_t count = 0;
    for (const struct setting_spec *row = rows; row->name && count + 1 < 64; row++)
        names[count++] = row->name;
    if (strchr(key, ':'))
        return refuse(place, err, ": unknown setting '%.100s'; YAML needs a blank after the colon",
                      key);
    const char *nearest = text_nearest(key, names);
    if (nearest)
        return refuse(place, err, ": unknown setting '%.100s'; did you mean '%s'?", key, nearest);
    return refuse(place, err, ": unknown setting '%.100s'", key);
}

static enum error_code assign_item(const struct setting_spec *rows, void *item,
                                   const struct yaml_node *value, const struct place *place,
                                   struct error *err)
{
    enum error_code rc = ERROR_NONE;
    if (value->kind != YAML_MAP)
        return refuse(place, err, " is %s, expected a map, as in {%s: ...}",
                      yaml_kind_name(value->kind), rows->name);
    for (const struct setting_spec *row = rows; row->name; row++)
        if (row->default_text)
            setting_reset(row, item);
    for (const struct yaml_node *node = value->first; rc == ERROR_NONE && node; node = node->next) {
        const struct setting_spec *row = setting_row(rows, node->key);
        struct place at = *place;
        at.line = node->line;
        if (row)
            (void)snprintf(at.name, sizeof at.name, "%.60s.%.60s", place->name, row->name);
        rc = row ? assign_plain(row, item, node, &at, err) : unknown_key(rows, node->key, &at, err);
    }
    for (const struct setting_spec *row = rows; rc == ERROR_NONE && row->name; row++) {
        bool given = row->default_text != NULL;
        for (const struct yaml_node *node = value->first; !given && node; node = node->next)
            given = strcmp(node->key, row->name) == 0;
        if (!given)
            rc = refuse(place, err, " has no %s, which must be given", row->name);
    }
    return rc;
}

static enum error_code assign_items(const struct setting_spec *spec, char *field,
                                    const struct yaml_node *value, const struct place *place,
                                    struct error *err)
{
    char text[SETTING_VALUE_SIZE];
    enum error_code rc = ERROR_NONE;
    int64_t *count = (int64_t *)(void *)field;
    memset(field, 0, spec->size);
    if (value->kind != YAML_LIST)
        return refuse(place, err, " is %s%.200s%s, expected a list of maps, as in [{%s: ...}]",
                      value->kind == YAML_SCALAR ? "'" : yaml_kind_name(value->kind),
                      value->text ? value->text : "", value->kind == YAML_SCALAR ? "'" : "",
                      spec->items->rows->name);
    if ((double)value->count > spec->most)
        return refuse(place, err, " has %zu items, expected at most %.0f", value->count,
                      spec->most);
    for (const struct yaml_node *item = value->first; rc == ERROR_NONE && item; item = item->next) {
        const struct place at = place_of_item(place, *count, item->line);
        rc = assign_item(spec->items->rows,
                         field + spec->items->offset + (size_t)(*count)++ * spec->items->size, item,
                         &at, err);
    }
    if (rc == ERROR_NONE && setting_print(spec, field - spec->offset, text, sizeof text) >=
                                (int)sizeof text) /* so that the text of settings is never cut
                                                   * off */
        rc = refuse(place, err, " takes more than %zu bytes", sizeof text - 1);
    return rc;
}

enum error_code setting_assign(const struct setting_spec *spec, void *base,
                               const struct yaml_node *value, const struct setting_source *source,
                               struct error *err)
{
    struct place place = {.source = source, .line = value->line};
    (void)text_copy(place.name, sizeof place.name, spec->name);
    if (spec->type == SETTING_ITEMS)
        return assign_items(spec, (char *)base + spec->offset, value, &place, err);
    return assign_plain(spec, base, value, &place, err);
}

enum error_code setting_assign_text(const struct setting_spec *spec, void *base, const char *text,
                                    const struct setting_source *source, struct error *err)
{
    const struct yaml_node scalar = {.kind = YAML_SCALAR, .text = text};
    struct yaml_node *parsed = NULL;
    const bool flow = (spec->type == SETTING_ITEMS || takes_list(spec)) &&
                      strchr("[{", text[strspn(text, " ")]) && *text;
    enum error_code rc =
        flow ? yaml_parse(text, strlen(text), source->name, &parsed, err) : ERROR_NONE;
    if (rc == ERROR_NONE)
        rc = setting_assign(spec, base, parsed ? parsed : &scalar, source, err);
    yaml_tree_free(parsed);
    return rc;
}

void setting_reset(const struct setting_spec *spec, void *base)
{
    static const struct setting_source source = {"default", false};
    if (spec->type == SETTING_ITEMS) {
        memset((char *)base + spec->offset, 0, spec->size);
        return;
    }
    const enum error_code rc = setting_assign_text(spec, base, spec->default_text, &source, NULL);
    must(rc == ERROR_NONE);
}
