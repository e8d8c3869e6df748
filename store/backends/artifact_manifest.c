#include "store/backends/artifact_manifest.h"

#include "common/base/host.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/files/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char headline[] = "graphmill artifact v1 ";

/* Parses "<16 digits> file" or "<16 digits> folder" after the headline. */
static bool take_headline(const char *text, char attempt[ARTIFACT_ATTEMPT_SIZE], bool *is_folder)
{
    const size_t digits = ARTIFACT_ATTEMPT_SIZE - 1;
    if (strncmp(text, headline, sizeof headline - 1) != 0)
        return false;
    text += sizeof headline - 1;
    if (strspn(text, "0123456789abcdef") != digits)
        return false;
    memcpy(attempt, text, digits);
    attempt[digits] = '\0';
    text += digits;
    *is_folder = strncmp(text, " folder\n", 8) == 0;
    return *is_folder || strncmp(text, " file\n", 6) == 0;
}

static const char *next_line(const char *text)
{
    const char *end = strchr(text, '\n');
    return end ? end + 1 : NULL;
}

static bool is_end(const char *line)
{
    return strcmp(line, "end\n") == 0;
}

/* Parses "<size> <name>". */
static bool take_entry(const char *line, struct artifact_file *out)
{
    int64_t bytes = 0;
    const size_t digits = strspn(line, "0123456789");
    const char *name = line + digits + 1;
    if (digits == 0 || line[digits] != ' ' || !text_int64(line, digits, &bytes))
        return false;
    const size_t size = strcspn(name, "\n/");
    if (name[size] != '\n' || size == 0 || size >= sizeof out->name || name[0] == '.')
        return false;
    out->size = (uint64_t)bytes;
    (void)snprintf(out->name, sizeof out->name, "%.*s", (int)size, name);
    if (strcmp(out->name, "-") == 0)
        out->name[0] = '\0';
    return true;
}

enum error_code artifact_manifest_check(const char *key, const char *text,
                                        char attempt[ARTIFACT_ATTEMPT_SIZE], struct error *err)
{
    struct artifact_file entry;
    bool is_folder = false;
    int number = 1, unnamed = 0;
    const char *line = text;
    bool good = take_headline(text, attempt, &is_folder);
    while (good) {
        line = next_line(line);
        number++;
        if (!line || is_end(line))
            break;
        good = take_entry(line, &entry);
        unnamed += good && !*entry.name;
    }
    const int files = number - 2;
    if (good && line && (is_folder ? unnamed == 0 : files == 1 && unnamed == 1))
        return ERROR_NONE;
    return error_set(err, ERROR_CORRUPT,
                     "artifact %s: its manifest is damaged in line %d, expected \"%s<attempt> "
                     "file|folder\", a line \"<size> <name>\" for each file, and \"end\"",
                     key, number, headline);
}

bool artifact_manifest_entry(const char *text, size_t index, struct artifact_file *out)
{
    const char *line = next_line(text);
    for (; line && index > 0 && !is_end(line); index--)
        line = next_line(line);
    return line && !is_end(line) && take_entry(line, out);
}

bool artifact_manifest_find(const char *text, const char *name, struct artifact_file *out,
                            size_t *number)
{
    for (*number = 0; artifact_manifest_entry(text, *number, out); (*number)++)
        if (strcmp(out->name, name) == 0)
            return true;
    return false;
}

/* --- make --- */

struct draft {
    const char *key, *path;
    char *text;
    size_t used, room;
};

static enum error_code add_line(struct draft *d, const char *line, struct error *err)
{
    const size_t size = strlen(line);
    enum error_code rc = memory_grow(&d->text, &d->room, d->used + size + 1, "a manifest", err);
    if (rc == ERROR_NONE && d->used + size > ARTIFACT_MANIFEST_MAX)
        rc = error_set(err, ERROR_INVALID, "artifact %s has too many files", d->key);
    if (rc != ERROR_NONE)
        return rc;
    memcpy(d->text + d->used, line, size + 1);
    d->used += size;
    return ERROR_NONE;
}

static enum error_code add_file(struct draft *d, const char *path, const char *name,
                                struct error *err)
{
    char line[ARTIFACT_FILE_SIZE + 32];
    uint64_t size = 0;
    enum error_code rc = file_size(path, &size, err);
    if (rc == ERROR_NONE && (strlen(name) >= ARTIFACT_FILE_SIZE || *name == '.'))
        rc = error_set(err, ERROR_INVALID, "artifact %s: %s cannot be a file name", d->key, name);
    if (rc != ERROR_NONE)
        return rc;
    (void)snprintf(line, sizeof line, "%" PRIu64 " %s\n", size, *name ? name : "-");
    return add_line(d, line, err);
}

static enum error_code add_entry(void *context, const char *name, struct error *err)
{
    struct draft *d = context;
    char path[FILE_PATH_SIZE];
    const enum error_code rc = file_path(path, err, "%s/%s", d->path, name);
    return rc == ERROR_NONE ? add_file(d, path, name, err) : rc;
}

enum error_code artifact_manifest_make(const char *key, const char *path,
                                       char attempt[ARTIFACT_ATTEMPT_SIZE], char **text,
                                       struct error *err)
{
    struct draft d = {.key = key, .path = path};
    enum file_kind kind = FILE_ABSENT;
    char line[64];
    enum error_code rc = file_look(path, &kind, err);
    if (rc == ERROR_NONE && kind == FILE_ABSENT)
        rc = error_set(err, ERROR_IO, "%s was removed before it was published", path);
    (void)snprintf(attempt, ARTIFACT_ATTEMPT_SIZE, "%016" PRIx64, host_random_64());
    (void)snprintf(line, sizeof line, "%s%s %s\n", headline, attempt,
                   kind == FILE_FOLDER ? "folder" : "file");
    if (rc == ERROR_NONE)
        rc = add_line(&d, line, err);
    if (rc == ERROR_NONE)
        rc =
            kind == FILE_FOLDER ? file_list(path, add_entry, &d, err) : add_file(&d, path, "", err);
    if (rc == ERROR_NONE)
        rc = add_line(&d, "end\n", err);
    if (rc != ERROR_NONE) {
        memory_free(d.text);
        d.text = NULL;
    }
    *text = d.text;
    return rc;
}
