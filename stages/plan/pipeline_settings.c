#include "stages/plan/pipeline_settings.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/base/yaml.h"
#include "stages/plan/setting_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* The setting whose name without its section is `name`, or nearly; NULL when there is none. */
static const char *in_a_section(const char *name)
{
    const char *keys[128] = {0}, *names[128] = {0};
    size_t count = 0;
    for (const struct setting_spec *spec = setting_table; spec->name && count + 1 < 128; spec++) {
        const char *dot = strchr(spec->name, '.');
        if (!dot)
            continue;
        keys[count] = dot + 1;
        names[count++] = spec->name;
    }
    const char *nearest = text_nearest(name, keys);
    for (size_t i = 0; nearest && i < count; i++)
        if (keys[i] == nearest)
            return names[i];
    return NULL;
}

/* Layers are no setting of their own, and most people look for one. */
static bool names_layers(const char *name)
{
    const char *dot = strchr(name, '.');
    const char *key = dot ? dot + 1 : name;
    return strcmp(key, "layers") == 0 || strcmp(key, "num_layers") == 0 ||
           strcmp(key, "layer_count") == 0;
}

static enum error_code unknown_setting(const char *name, const char *where, struct error *err)
{
    const char *in_section = strchr(name, '.') ? NULL : in_a_section(name);
    if (names_layers(name))
        return error_set(err, ERROR_INVALID,
                         "%s: unknown setting '%s'; a model has as many layers as "
                         "sample.fanouts has items: sample.fanouts: [10, 10, 10] makes three",
                         where, name);
    const char *names[128] = {0};
    size_t count = 0;
    for (const struct setting_spec *spec = setting_table; spec->name && count + 1 < 128; spec++)
        names[count++] = spec->name;
    const bool exact = in_section && strcmp(strchr(in_section, '.') + 1, name) == 0;
    const char *nearest = exact ? in_section : text_nearest(name, names);
    nearest = nearest ? nearest : in_section;
    if (nearest)
        return error_set(err, ERROR_INVALID, "%s: unknown setting '%s'; did you mean '%s'?", where,
                         name, nearest);
    return error_set(err, ERROR_INVALID, "%s: unknown setting '%s'", where, name);
}

static enum error_code out_of_range(const struct setting_spec *spec, const char *value,
                                    const char *where, struct error *err)
{
    return error_set(err, ERROR_INVALID, "%s: %s is '%s', expected %s from %.15g to %.15g", where,
                     spec->name, value, spec->type == SETTING_DOUBLE ? "a number" : "whole numbers",
                     spec->least, spec->most);
}

static bool int_in_range(const struct setting_spec *spec, const char *text, size_t size,
                         int64_t *out)
{
    return text_int64(text, size, out) && (double)*out >= spec->least && (double)*out <= spec->most;
}

/* The index of `value` among the names of a choice; how many there are when it is none of them. */
static int64_t find_choice(const struct setting_spec *spec, const char *value)
{
    int64_t i = 0;
    while (spec->choices[i] && strcmp(spec->choices[i], value) != 0)
        i++;
    return i;
}

static enum error_code assign_choice(const struct setting_spec *spec, const char *value,
                                     const char *where, int64_t *out, struct error *err)
{
    char known[256] = "";
    size_t at = 0;
    *out = find_choice(spec, value);
    if (spec->choices[*out])
        return ERROR_NONE;
    for (int i = 0; spec->choices[i]; i++) {
        const int n =
            snprintf(known + at, sizeof known - at, "%s%s", i ? ", " : "", spec->choices[i]);
        at += n > 0 ? (size_t)n : 0;
    }
    return error_set(err, ERROR_INVALID, "%s: %s is '%s', expected one of %s", where, spec->name,
                     value, known);
}

static enum error_code assign_text(const struct setting_spec *spec, const char *value,
                                   const char *where, char *out, size_t size, struct error *err)
{
    if (text_copy(out, size, value))
        return ERROR_NONE;
    return error_set(err, ERROR_INVALID, "%s: %s is longer than %zu bytes", where, spec->name,
                     size - 1);
}

static enum error_code assign_choice_or_path(const struct setting_spec *spec, const char *value,
                                             const char *where, struct choice_or_path *out,
                                             struct error *err)
{
    *out = (struct choice_or_path){.choice = find_choice(spec, value)};
    if (spec->choices[out->choice])
        return ERROR_NONE;
    if (!value[0])
        return assign_choice(spec, value, where, &out->choice, err);
    return assign_text(spec, value, where, out->path, sizeof out->path, err);
}

static enum error_code assign_list(const struct setting_spec *spec, const char *value,
                                   const char *where, struct int_list *out, struct error *err)
{
    *out = (struct int_list){0};
    for (const char *item = value; *item;) {
        const size_t size = strcspn(item, ",");
        const char *from = item;
        size_t length = size;
        while (length && *from == ' ')
            from++, length--;
        if (out->count == HOP_COUNT_MAX)
            return error_set(err, ERROR_INVALID, "%s: %s has more than %d items", where, spec->name,
                             HOP_COUNT_MAX);
        if (!int_in_range(spec, from, length, &out->value[out->count]))
            return out_of_range(spec, value, where, err);
        if (out->value[out->count] == 0)
            return error_set(err, ERROR_INVALID,
                             "%s: %s is '%s': a fan-out of 0 keeps no neighbour; expected -1 (all) "
                             "or at least 1",
                             where, spec->name, value);
        out->count++;
        item += size;
        if (*item == ',' && !*++item)
            return out_of_range(spec, value, where, err); /* nothing behind the last comma */
    }
    return ERROR_NONE;
}

/* What other files of this kind say for true and false; NULL for what says neither. */
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

static enum error_code assign_bool(const struct setting_spec *spec, const char *value,
                                   const char *where, bool *out, struct error *err)
{
    const char *meant = boolean_meant(value);
    if (strcmp(value, "true") != 0 && strcmp(value, "false") != 0)
        return error_set(err, ERROR_INVALID, "%s: %s is '%s', expected true or false%s%s", where,
                         spec->name, value, meant ? "; write " : "", meant ? meant : "");
    *out = value[0] == 't';
    return ERROR_NONE;
}

/* YAML's words for nothing are text like any other here. */
static enum error_code refuse_null(const struct setting_spec *spec, const char *where,
                                   struct error *err)
{
    return error_set(err, ERROR_INVALID,
                     "%s: %s is '~': there is no null here; leave the line out for the default, "
                     "which is %s",
                     where, spec->name, spec->default_text[0] ? spec->default_text : "empty");
}

static enum error_code assign_spec(const struct setting_spec *spec,
                                   struct pipeline_settings *settings, const char *value,
                                   const char *where, struct error *err)
{
    void *field = (char *)settings + spec->offset;
    if (strcmp(value, "~") == 0)
        return refuse_null(spec, where, err);
    switch (spec->type) {
    case SETTING_INT:
        if (!int_in_range(spec, value, strlen(value), field))
            return out_of_range(spec, value, where, err);
        return ERROR_NONE;
    case SETTING_DOUBLE: {
        double number = 0.0;
        if (!text_double(value, strlen(value), &number) || !isfinite(number) ||
            number < spec->least || number > spec->most)
            return out_of_range(spec, value, where, err);
        *(double *)field = number;
        return ERROR_NONE;
    }
    case SETTING_BOOL:
        return assign_bool(spec, value, where, field, err);
    case SETTING_TEXT:
    case SETTING_PATH:
        return assign_text(spec, value, where, field, spec->size, err);
    case SETTING_CHOICE:
        return assign_choice(spec, value, where, field, err);
    case SETTING_CHOICE_OR_PATH:
        return assign_choice_or_path(spec, value, where, field, err);
    case SETTING_INT_LIST:
        return assign_list(spec, value, where, field, err);
    }
    return ERROR_NONE;
}

void pipeline_settings_defaults(struct pipeline_settings *settings)
{
    *settings = (struct pipeline_settings){0};
    for (const struct setting_spec *spec = setting_table; spec->name; spec++) {
        const enum error_code rc = assign_spec(spec, settings, spec->default_text, "default", NULL);
        must(rc == ERROR_NONE);
    }
}

enum error_code pipeline_settings_assign(struct pipeline_settings *settings, const char *name,
                                         const char *value, const char *where, struct error *err)
{
    const struct setting_spec *spec = setting_find(name);
    if (!spec)
        return unknown_setting(name, where, err);
    return assign_spec(spec, settings, value, where, err);
}

/* Makes a path setting absolute: relative to the pipeline file, or to the working directory for none. */
static enum error_code resolve_path(char path[SETTING_PATH_SIZE], const char *pipeline_file,
                                    struct error *err)
{
    char expanded[SETTING_PATH_SIZE], joined[2 * SETTING_PATH_SIZE], absolute[FILE_PATH_SIZE];
    if (!path[0])
        return ERROR_NONE;
    enum error_code rc = text_expand(path, expanded, sizeof expanded, err);
    if (rc != ERROR_NONE)
        return error_context(err, rc, "%s", pipeline_file);
    const char *slash = strrchr(pipeline_file, '/');
    const int folder = expanded[0] != '/' && slash ? (int)(slash - pipeline_file) + 1 : 0;
    (void)snprintf(joined, sizeof joined, "%.*s%s", folder, pipeline_file, expanded);
    rc = file_absolute(absolute, joined, err);
    if (rc != ERROR_NONE)
        return error_context(err, rc, "%s", pipeline_file);
    if (!text_copy(path, SETTING_PATH_SIZE, absolute))
        return error_set(err, ERROR_INVALID, "%s: path is too long: %.100s...", pipeline_file,
                         absolute);
    return ERROR_NONE;
}

static enum error_code resolve_paths(struct pipeline_settings *settings, const char *pipeline_file,
                                     struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (const struct setting_spec *spec = setting_table; rc == ERROR_NONE && spec->name; spec++) {
        char *path = setting_path(spec, settings);
        if (path)
            rc = resolve_path(path, pipeline_file, err);
    }
    return rc;
}

static enum error_code default_name(struct pipeline_settings *settings, const char *path,
                                    struct error *err)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    const size_t size = dot ? (size_t)(dot - base) : strlen(base);
    if (size >= sizeof settings->name)
        return error_set(err, ERROR_INVALID, "%s: give a name shorter than %zu bytes", path,
                         sizeof settings->name);
    memcpy(settings->name, base, size);
    settings->name[size] = '\0';
    return ERROR_NONE;
}

enum error_code pipeline_settings_load(struct pipeline_settings *settings, const char *path,
                                       struct error *err)
{
    char *text = NULL;
    size_t size = 0;
    struct yaml_file file = {0};
    pipeline_settings_defaults(settings);
    enum error_code rc = file_read(path, 1 << 20, &text, &size, err);
    if (rc == ERROR_NOT_FOUND || rc == ERROR_INPUT)
        rc = ERROR_INVALID;
    if (rc == ERROR_NONE)
        rc = yaml_parse(text, size, path, &file, err);
    for (size_t i = 0; rc == ERROR_NONE && i < file.count; i++) {
        char where[FILE_PATH_SIZE];
        (void)snprintf(where, sizeof where, "%.900s:%d", path, file.entry[i].line);
        rc =
            pipeline_settings_assign(settings, file.entry[i].name, file.entry[i].value, where, err);
    }
    if (rc == ERROR_NONE && !settings->name[0])
        rc = default_name(settings, path, err);
    if (rc == ERROR_NONE)
        rc = resolve_paths(settings, path, err);
    yaml_file_release(&file);
    memory_free(text);
    return rc;
}

enum error_code pipeline_settings_override(struct pipeline_settings *settings,
                                           const char *assignment, struct error *err)
{
    char name[SETTING_NAME_SIZE];
    const char *equals = strchr(assignment, '=');
    if (!equals || (size_t)(equals - assignment) >= sizeof name)
        return error_set(err, ERROR_USAGE, "--set '%s': expected section.key=value", assignment);
    memcpy(name, assignment, (size_t)(equals - assignment));
    name[equals - assignment] = '\0';
    const enum error_code rc = pipeline_settings_assign(settings, name, equals + 1, "--set", err);
    return rc == ERROR_NONE ? resolve_paths(settings, "--set", err) : rc;
}

void pipeline_settings_reset(struct pipeline_settings *settings, unsigned parts)
{
    for (const struct setting_spec *spec = setting_table; spec->name; spec++)
        if (spec->part_of & parts) {
            const enum error_code rc =
                assign_spec(spec, settings, spec->default_text, "default", NULL);
            must(rc == ERROR_NONE);
        }
}

enum error_code pipeline_settings_parse(struct pipeline_settings *settings, const char *text,
                                        const char *where, struct error *err)
{
    pipeline_settings_defaults(settings);
    return pipeline_settings_apply(settings, text, where, err);
}

enum error_code pipeline_settings_apply(struct pipeline_settings *settings, const char *text,
                                        const char *where, struct error *err)
{
    while (*text) {
        char name[SETTING_NAME_SIZE], value[SETTING_PATH_SIZE + 1];
        const size_t line = strcspn(text, "\n");
        const char *split = strstr(text, " = ");
        if (!split || split > text + line || (size_t)(split - text) >= sizeof name ||
            (size_t)(text + line - split - 3) >= sizeof value)
            return error_set(err, ERROR_CORRUPT, "%s: not a settings line: %.60s", where, text);
        memcpy(name, text, (size_t)(split - text));
        name[split - text] = '\0';
        memcpy(value, split + 3, (size_t)(text + line - split - 3));
        value[text + line - split - 3] = '\0';
        const enum error_code rc = pipeline_settings_assign(settings, name, value, where, err);
        if (rc != ERROR_NONE)
            return rc;
        text += line + (text[line] == '\n');
    }
    return ERROR_NONE;
}
