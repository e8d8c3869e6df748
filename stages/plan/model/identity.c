#include "stages/plan/model/identity.h"

#include "common/files/checksum.h"

#include <stdio.h>
#include <string.h>

enum { NAME_LENGTH = 40 }; /* an id has at most so many bytes of a long name */

const char *identity_digits_of(const char *id)
{
    const char *dash = strrchr(id, '-');
    return dash ? dash + 1 : id;
}

enum error_code identity_find(struct store *store, const char *digits, const char *name,
                              char id[ID_SIZE], struct error *err)
{
    const struct key key = key_current("id", digits);
    const enum error_code rc = store_switch_get(store, key.text, id, ID_SIZE, err);
    if (rc != ERROR_NONE && rc != ERROR_NOT_FOUND && rc != ERROR_CORRUPT)
        return rc; /* a damaged ref counts as missing: identity_note() sets it again */
    if (rc == ERROR_NONE && strcmp(identity_digits_of(id), digits) == 0)
        return ERROR_NONE;
    const int size = snprintf(id, ID_SIZE, "%.*s-%s", NAME_LENGTH, name, digits);
    must(size > 0 && size < ID_SIZE);
    return ERROR_NONE;
}

enum error_code identity_note(struct store *store, const char *id, struct error *err)
{
    const struct key key = key_current("id", identity_digits_of(id));
    /* The last writer may win: two pipelines of different names may both have made the thing with
     * these digits, and either name serves. */
    return store_switch_set(store, key.text, id, err);
}

/* Finds the id of the thing that the settings of `parts`, the seed and `origin` identify. */
static enum error_code find_by(struct store *store, const char *kind,
                               const struct pipeline_settings *settings, unsigned parts,
                               const char *origin, char id[ID_SIZE], struct error *err)
{
    char lines[SETTINGS_TEXT_SIZE], text[SETTINGS_TEXT_SIZE + 2 * ID_SIZE];
    char digits[IDENTITY_DIGITS_SIZE];
    const enum error_code rc = pipeline_settings_identity(settings, parts, lines, err);
    if (rc != ERROR_NONE)
        return rc;
    const int size = snprintf(text, sizeof text, "%s\n%s", origin, lines);
    must(size > 0 && (size_t)size < sizeof text);
    identity_digits(kind, text, digits);
    return identity_find(store, digits, settings->name, id, err);
}

/* Computes the checksum of the file that a setting names. */
static enum error_code content_of(const char *path, const char *setting,
                                  char text[CHECKSUM_TEXT_SIZE], struct error *err)
{
    struct checksum sum;
    const enum error_code rc = checksum_of_file(path, &sum, NULL, err);
    if (rc != ERROR_NONE)
        return error_context(err, rc, "%s", setting);
    checksum_text(&sum, text);
    return ERROR_NONE;
}

enum error_code identity_partition(struct store *store, const struct pipeline_settings *settings,
                                   const char *dataset_id, char id[ID_SIZE], struct error *err)
{
    char origin[ID_SIZE + 2 * CHECKSUM_TEXT_SIZE + 8];
    char content[CHECKSUM_TEXT_SIZE] = "", loads[CHECKSUM_TEXT_SIZE] = "";
    struct pipeline_settings normal = *settings;
    enum error_code rc = ERROR_NONE;
    if (settings->partition.method == PARTITION_FILE) {
        rc = content_of(settings->partition.assignment, "partition.assignment", content, err);
        if (rc != ERROR_NONE)
            return rc;
        pipeline_settings_defaults(&normal);
        normal.partition = settings->partition;
        memcpy(normal.name, settings->name, sizeof normal.name); /* and the seed does not count */
    }
    if (settings->partition.loads[0]) {
        rc = content_of(settings->partition.loads, "partition.loads", loads, err);
        if (rc != ERROR_NONE)
            return rc;
    }
    (void)snprintf(origin, sizeof origin, "%s %s%s%s", identity_digits_of(dataset_id), content,
                   loads[0] ? " loads " : "", loads);
    return find_by(store, "partition", &normal, SETTING_OF_PARTITION, origin, id, err);
}

enum error_code identity_run(struct store *store, const struct pipeline_settings *settings,
                             const char *partition_id, char id[ID_SIZE], struct error *err)
{
    return find_by(store, "run", settings, SETTING_OF_TRAINING | SETTING_OF_TARGET,
                   identity_digits_of(partition_id), id, err);
}

enum error_code identity_named(struct store *store, const struct key *key, char id[ID_SIZE],
                               struct error *err)
{
    const enum error_code rc = store_switch_get(store, key->text, id, ID_SIZE, err);
    if (rc == ERROR_NONE)
        return rc;
    id[0] = '\0';
    return rc == ERROR_NOT_FOUND || rc == ERROR_CORRUPT ? ERROR_NONE : rc;
}
