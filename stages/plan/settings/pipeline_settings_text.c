/* Prints settings as text: all of them, those that ids are hashed from, and the differences of two
 * for people. */
#include "common/base/text.h"
#include "stages/plan/settings/setting_table.h"

#include <stdio.h>
#include <string.h>

static enum error_code add_line(const struct setting_spec *spec,
                                const struct pipeline_settings *settings, char *out, size_t *at,
                                struct error *err)
{
    char value[SETTING_VALUE_SIZE];
    (void)setting_print(spec, settings, value, sizeof value);
    const int n = snprintf(out + *at, SETTINGS_TEXT_SIZE - *at, "%s = %s\n", spec->name, value);
    if (n < 0 || (size_t)n >= SETTINGS_TEXT_SIZE - *at)
        return error_set(err, ERROR_INVALID, "the settings take more than %d bytes",
                         SETTINGS_TEXT_SIZE);
    *at += (size_t)n;
    return ERROR_NONE;
}

enum error_code pipeline_settings_text(const struct pipeline_settings *settings, char *out,
                                       struct error *err)
{
    size_t at = 0;
    enum error_code rc = ERROR_NONE;
    out[0] = '\0';
    for (const struct setting_spec *spec = setting_table; rc == ERROR_NONE && spec->name; spec++)
        rc = add_line(spec, settings, out, &at, err);
    return rc;
}

/* --- the settings that an id depends on --- */

/* Returns the setting whose name comes next after `name`. So ids do not depend on the order of the
 * table. */
static const struct setting_spec *next_by_name(const char *name)
{
    const struct setting_spec *next = NULL;
    for (const struct setting_spec *spec = setting_table; spec->name; spec++)
        if (strcmp(spec->name, name) > 0 && (!next || strcmp(spec->name, next->name) < 0))
            next = spec;
    return next;
}

/* Collects the lines of the settings that count: for `paths` those that are a path, otherwise all
 * others. */
static enum error_code collect(const struct pipeline_settings *settings, unsigned parts, bool paths,
                               char *out, struct error *err)
{
    struct pipeline_settings defaults, copy = *settings;
    size_t at = 0;
    enum error_code rc = ERROR_NONE;
    pipeline_settings_defaults(&defaults);
    /* Older runs, from before the setting existed, did what it calls `training`, and keep their
     * ids. */
    defaults.infer.history = HISTORY_TRAINING;
    copy.infer.history = pipeline_history(settings);
    pipeline_inner_for_ids(&copy);
    out[0] = '\0';
    for (const struct setting_spec *spec = next_by_name(""); rc == ERROR_NONE && spec;
         spec = next_by_name(spec->name)) {
        const char *path = setting_path(spec, &copy);
        if ((spec->part_of & parts) && (path && path[0]) == paths &&
            setting_matters(spec, settings) && !setting_equal(spec, &copy, &defaults))
            rc = add_line(spec, &copy, out, &at, err);
    }
    return rc;
}

enum error_code pipeline_settings_identity(const struct pipeline_settings *settings, unsigned parts,
                                           char *out, struct error *err)
{
    return collect(settings, parts, false, out, err);
}

enum error_code pipeline_settings_sources(const struct pipeline_settings *settings, unsigned parts,
                                          char *out, struct error *err)
{
    return collect(settings, parts, true, out, err);
}

bool pipeline_settings_changes(const struct pipeline_settings *from,
                               const struct pipeline_settings *to, unsigned parts,
                               char text[SETTING_CHANGES_SIZE])
{
    size_t at = 0;
    int more = 0;
    text[0] = '\0';
    for (const struct setting_spec *spec = setting_table; spec->name; spec++) {
        char before[SETTING_VALUE_SIZE], after[SETTING_VALUE_SIZE];
        char line[2 * SETTING_VALUE_SIZE + SETTING_NAME_SIZE + 16];
        if (!(spec->part_of & parts) || setting_equal(spec, from, to) ||
            (!setting_matters(spec, from) && !setting_matters(spec, to)))
            continue;
        (void)setting_print(spec, from, before, sizeof before);
        (void)setting_print(spec, to, after, sizeof after);
        const int size = snprintf(line, sizeof line, "%s%s %s -> %s", at ? ", " : "", spec->name,
                                  before[0] ? before : "(none)", after[0] ? after : "(none)");
        if (size < 0 || at + (size_t)size + sizeof ", and 100 more" > SETTING_CHANGES_SIZE)
            more++;
        else
            at += (size_t)snprintf(text + at, SETTING_CHANGES_SIZE - at, "%s", line);
    }
    if (more)
        (void)snprintf(text + at, SETTING_CHANGES_SIZE - at, "%s%d more", at ? ", and " : "", more);
    (void)text_shorten_fractions(text);
    return at > 0 || more > 0;
}
