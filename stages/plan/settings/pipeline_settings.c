#include "stages/plan/settings/pipeline_settings.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/files/file_pattern.h"
#include "stages/plan/settings/setting_table.h"
#include "store/backends/s3/s3_files.h"

#include <stdio.h>
#include <string.h>

/* Returns the setting whose name without its section is `name`, or nearly; NULL if there is
 * none. */
static const char *in_a_section(const char *name)
{
    const char *keys[SETTING_COUNT_MAX] = {0}, *names[SETTING_COUNT_MAX] = {0};
    size_t count = 0;
    for (const struct setting_spec *spec = setting_table;
         spec->name && count + 1 < SETTING_COUNT_MAX; spec++) {
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

/* Returns whether `name` asks for a number of layers. No such setting exists, but most people look
 * for one. */
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
                         "sample.fanouts has items: sample.fanouts: [10, 10, 10] makes three; "
                         "train-step.layers lists them one by one",
                         where, name);
    const char *names[SETTING_COUNT_MAX] = {0};
    size_t count = 0;
    for (const struct setting_spec *spec = setting_table;
         spec->name && count + 1 < SETTING_COUNT_MAX; spec++)
        names[count++] = spec->name;
    const bool exact = in_section && strcmp(strchr(in_section, '.') + 1, name) == 0;
    const char *nearest = exact ? in_section : text_nearest(name, names);
    nearest = nearest ? nearest : in_section;
    if (nearest)
        return error_set(err, ERROR_INVALID, "%s: unknown setting '%s'; did you mean '%s'?", where,
                         name, nearest);
    return error_set(err, ERROR_INVALID, "%s: unknown setting '%s'", where, name);
}

void pipeline_settings_defaults(struct pipeline_settings *settings)
{
    *settings = (struct pipeline_settings){0};
    for (const struct setting_spec *spec = setting_table; spec->name; spec++)
        setting_reset(spec, settings);
}

enum error_code pipeline_settings_assign(struct pipeline_settings *settings, const char *name,
                                         const char *value, const char *where, struct error *err)
{
    const struct setting_spec *spec = setting_find(name);
    const struct setting_source source = {.name = where};
    if (!spec)
        return unknown_setting(name, where, err);
    return setting_assign_text(spec, settings, value, &source, err);
}

/* Makes a path absolute. It is relative to the folder of the pipeline file, or without a file to
 * the working directory. An address in S3 is absolute already. */
static enum error_code resolve_path(const char *path, const char *pipeline_file,
                                    char absolute[FILE_PATH_SIZE], struct error *err)
{
    char expanded[SETTING_PATH_SIZE], joined[2 * SETTING_PATH_SIZE];
    enum error_code rc = text_expand(path, expanded, sizeof expanded, err);
    if (rc == ERROR_NONE && s3_files_is_address(expanded)) {
        must(text_copy(absolute, FILE_PATH_SIZE, expanded));
        return ERROR_NONE;
    }
    if (rc == ERROR_NONE) {
        const char *slash = strrchr(pipeline_file, '/');
        const int folder = expanded[0] != '/' && slash ? (int)(slash - pipeline_file) + 1 : 0;
        (void)snprintf(joined, sizeof joined, "%.*s%s", folder, pipeline_file, expanded);
        rc = file_absolute(absolute, joined, err);
    }
    return rc == ERROR_NONE ? rc : error_context(err, rc, "%s", pipeline_file);
}

static enum error_code too_long(const char *path, const char *pipeline_file, struct error *err)
{
    return error_set(err, ERROR_INVALID, "%s: path is too long: %.100s...%s", pipeline_file, path,
                     file_pattern_is_list(path) ? "; a pattern such as part-*.csv is shorter" : "");
}

/* Makes a path setting absolute, or each item of a list of paths. */
static enum error_code resolve_setting(char setting[SETTING_PATH_SIZE], const char *pipeline_file,
                                       struct error *err)
{
    const bool is_list = file_pattern_is_list(setting);
    char all[SETTING_PATH_SIZE] = "", one[SETTING_PATH_SIZE], absolute[FILE_PATH_SIZE];
    const char *at = NULL, *item = NULL;
    size_t size = 0, used = 0;
    while (setting[0] && file_pattern_next(setting, &at, &item, &size)) {
        if (size == 0)
            return error_set(err, ERROR_INVALID,
                             "%s: '%.100s': expected a path between commas, found nothing",
                             pipeline_file, setting);
        (void)snprintf(one, sizeof one, "%.*s", (int)size, item); /* no longer than the setting */
        const enum error_code rc = resolve_path(one, pipeline_file, absolute, err);
        if (rc != ERROR_NONE)
            return rc;
        const int added = snprintf(all + used, sizeof all - used, "%s%s",
                                   !is_list ? ""
                                   : used   ? ", "
                                            : "[",
                                   absolute);
        if (added < 0 || used + (size_t)added + 2 > sizeof all)
            return too_long(is_list ? setting : absolute, pipeline_file, err);
        used += (size_t)added;
    }
    if (is_list && used)
        all[used] = ']'; /* the bytes behind it are 0 */
    must(text_copy(setting, SETTING_PATH_SIZE, all));
    return ERROR_NONE;
}

static enum error_code resolve_paths(struct pipeline_settings *settings, const char *pipeline_file,
                                     struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (const struct setting_spec *spec = setting_table; rc == ERROR_NONE && spec->name; spec++) {
        char *path = setting_path(spec, settings);
        if (path)
            rc = resolve_setting(path, pipeline_file, err);
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
        return error_set(err, ERROR_INVALID, "%s: " ADVICE "give a name shorter than %zu bytes",
                         path, sizeof settings->name);
    memcpy(settings->name, base, size);
    settings->name[size] = '\0';
    return ERROR_NONE;
}

/* A pipeline file while it is read. */
struct loader {
    struct pipeline_settings *settings;
    struct setting_source source;
    int lines[SETTING_COUNT_MAX]; /* [setting_table] the line on which each setting was given; 0:
                                   * not yet */
};

/* Reads a setting, or a section of settings. */
static enum error_code load_member(struct loader *loader, const struct yaml_node *node,
                                   const char *name, struct error *err)
{
    char where[FILE_PATH_SIZE], below[YAML_DEPTH_MAX * SETTING_NAME_SIZE];
    enum error_code rc = ERROR_NONE;
    const struct setting_spec *spec = setting_find(name);
    (void)snprintf(where, sizeof where, "%.900s:%d", loader->source.name, node->line);
    if (spec) {
        int *line = &loader->lines[spec - setting_table];
        if (*line)
            return error_set(err, ERROR_INVALID, "%s: %s stands a second time; first on line %d",
                             where, name, *line);
        *line = node->line;
        return setting_assign(spec, loader->settings, node, &loader->source, err);
    }
    if (node->kind != YAML_MAP)
        return unknown_setting(name, where, err);
    for (const struct yaml_node *member = node->first; rc == ERROR_NONE && member;
         member = member->next) {
        (void)snprintf(below, sizeof below, "%.300s.%.100s", name, member->key);
        rc = load_member(loader, member, below, err);
    }
    return rc;
}

static enum error_code load_tree(struct pipeline_settings *settings, const struct yaml_node *root,
                                 const char *path, struct error *err)
{
    struct loader loader = {.settings = settings, .source = {.name = path, .has_lines = true}};
    enum error_code rc = ERROR_NONE;
    if (root && root->kind != YAML_MAP)
        return error_set(err, ERROR_INVALID, "%s:%d: expected 'key: value' lines, found %s", path,
                         root->line, yaml_kind_name(root->kind));
    for (const struct yaml_node *node = root ? root->first : NULL; rc == ERROR_NONE && node;
         node = node->next)
        rc = load_member(&loader, node, node->key, err);
    return rc;
}

enum error_code pipeline_settings_load(struct pipeline_settings *settings, const char *path,
                                       struct error *err)
{
    char *text = NULL;
    size_t size = 0;
    struct yaml_node *root = NULL;
    pipeline_settings_defaults(settings);
    enum error_code rc = file_read(path, 1 << 20, &text, &size, err);
    if (rc == ERROR_NOT_FOUND || rc == ERROR_INPUT)
        rc = ERROR_INVALID;
    if (rc == ERROR_NONE)
        rc = yaml_parse(text, size, path, &root, err);
    if (rc == ERROR_NONE)
        rc = load_tree(settings, root, path, err);
    if (rc == ERROR_NONE && !settings->name[0])
        rc = default_name(settings, path, err);
    if (rc == ERROR_NONE)
        rc = resolve_paths(settings, path, err);
    yaml_tree_free(root);
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
        if (spec->part_of & parts)
            setting_reset(spec, settings);
}

enum error_code pipeline_settings_parse(struct pipeline_settings *settings, const char *text,
                                        const char *where, struct error *err)
{
    pipeline_settings_defaults(settings);
    const enum error_code rc = pipeline_settings_apply(settings, text, where, err);
    pipeline_settings_date(settings, text);
    return rc;
}

enum error_code pipeline_settings_apply(struct pipeline_settings *settings, const char *text,
                                        const char *where, struct error *err)
{
    while (*text) {
        char name[SETTING_NAME_SIZE], value[SETTING_VALUE_SIZE];
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
