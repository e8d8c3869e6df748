#include "store/backends/s3/s3_profile.h"

#include "common/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROFILE_FILE_MAX = 1 << 20 };

static const char blanks[] = " \t\r";

enum error_code s3_profile_path(enum s3_file file, char path[FILE_PATH_SIZE], struct error *err)
{
    const char *set =
        getenv(file == S3_FILE_CONFIG ? "AWS_CONFIG_FILE" : "AWS_SHARED_CREDENTIALS_FILE");
    const char *home = getenv("HOME");
    *path = '\0';
    if (set && *set)
        return file_path(path, err, "%s", set);
    if (!home || !*home)
        return ERROR_NONE;
    return file_path(path, err, "%s/.aws/%s", home,
                     file == S3_FILE_CONFIG ? "config" : "credentials");
}

/* Removes blanks at both ends. */
static const char *trimmed(const char *text, size_t *size)
{
    while (*size && strchr(blanks, text[*size - 1]))
        (*size)--;
    while (*size && strchr(blanks, *text)) {
        text++;
        (*size)--;
    }
    return text;
}

static bool is_text(const char *text, size_t size, const char *expected)
{
    return strlen(expected) == size && memcmp(text, expected, size) == 0;
}

/* Returns whether the text between the brackets of a headline names the profile. */
static bool is_profile(const char *text, size_t size, bool is_config, const char *profile)
{
    static const char word[] = "profile";
    text = trimmed(text, &size);
    if (is_config && strcmp(profile, "default") != 0) {
        if (size < sizeof word || strncmp(text, word, sizeof word - 1) != 0)
            return false;
        size -= sizeof word - 1;
        text += sizeof word - 1;
        text = trimmed(text, &size);
    }
    return is_text(text, size, profile);
}

bool s3_profile_find(const char *text, bool is_config, const char *profile, const char *name,
                     const char **value, size_t *value_size)
{
    bool inside = false;
    must(text);
    while (*text) {
        size_t size = strcspn(text, "\n");
        const char *next = text + size + (text[size] == '\n');
        const char *line = trimmed(text, &size);
        const char *equals = memchr(line, '=', size);
        if (size > 1 && line[0] == '[') {
            const char *end = memchr(line, ']', size);
            inside = end && is_profile(line + 1, (size_t)(end - line) - 1, is_config, profile);
        } else if (inside && equals && line[0] != '#' && line[0] != ';') {
            size_t left = (size_t)(equals - line);
            const char *key = trimmed(line, &left);
            if (is_text(key, left, name)) {
                *value_size = size - (size_t)(equals - line) - 1;
                *value = trimmed(equals + 1, value_size);
                return true;
            }
        }
        text = next;
    }
    return false;
}

enum error_code s3_profile_get(enum s3_file file, const char *profile, const char *name, char *out,
                               size_t size, struct error *err)
{
    char path[FILE_PATH_SIZE], *text = NULL;
    const char *value = NULL;
    size_t value_size = 0;
    enum error_code rc = s3_profile_path(file, path, err);
    if (rc == ERROR_NONE)
        rc = *path ? file_read(path, PROFILE_FILE_MAX, &text, &value_size, err)
                   : error_set(err, ERROR_NOT_FOUND, "there is no home folder");
    if (rc != ERROR_NONE)
        return rc;
    if (!s3_profile_find(text, file == S3_FILE_CONFIG, profile, name, &value, &value_size))
        rc = error_set(err, ERROR_NOT_FOUND, "%s: profile %s has no line %s", path, profile, name);
    else if (value_size >= size)
        rc = error_set(err, ERROR_INVALID, "%s: profile %s: %s is longer than %zu bytes", path,
                       profile, name, size - 1);
    else
        (void)snprintf(out, size, "%.*s", (int)value_size, value);
    memory_free(text);
    return rc;
}
