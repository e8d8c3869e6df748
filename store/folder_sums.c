#include "store/folder_sums.h"

#include "common/base/checksum.h"
#include "common/base/file.h"
#include "common/base/memory.h"
#include "common/base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { SUMS_SIZE_MAX = 1 << 16, NAME_SIZE = 256 };

#define SUMS_NAME "SUMS"

struct sums {
    const char *folder;
    char *text; /* [SUMS_SIZE_MAX] */
    size_t size;
};

static bool is_table(const char *name)
{
    const size_t size = strlen(name);
    return size > 4 && strcmp(name + size - 4, ".sst") == 0;
}

static enum error_code add_text(struct sums *sums, const char *sum, uint64_t size, const char *name,
                                struct error *err)
{
    const size_t room = SUMS_SIZE_MAX - sums->size;
    const int n =
        *name ? snprintf(sums->text + sums->size, room, "%s %" PRIu64 " %s\n", sum, size, name)
              : snprintf(sums->text + sums->size, room, "%s\n", sum);
    if (n < 0 || (size_t)n >= room)
        return error_set(err, ERROR_INVALID, "folder %s has too many files to seal", sums->folder);
    sums->size += (size_t)n;
    return ERROR_NONE;
}

static enum error_code add_file(void *context, const char *name, struct error *err)
{
    struct sums *sums = context;
    char path[FILE_PATH_SIZE], text[CHECKSUM_TEXT_SIZE];
    struct checksum sum;
    uint64_t size = 0;
    enum error_code rc = file_path(path, err, "%s/%s", sums->folder, name);
    if (rc == ERROR_NONE)
        rc = checksum_of_file(path, &sum, &size, err);
    if (rc != ERROR_NONE)
        return rc;
    checksum_text(&sum, text);
    return add_text(sums, text, size, name, err);
}

enum error_code folder_sums_write(const char *folder, struct error *err)
{
    struct sums sums = {.folder = folder};
    char path[FILE_PATH_SIZE], last[CHECKSUM_TEXT_SIZE];
    enum error_code rc = memory_new(&sums.text, SUMS_SIZE_MAX, "a list of files", err);
    if (rc == ERROR_NONE)
        rc = file_path(path, err, "%s/%s", folder, SUMS_NAME);
    if (rc == ERROR_NONE)
        rc = file_list(folder, add_file, &sums, err);
    if (rc == ERROR_NONE) {
        const struct checksum sum = checksum_of(sums.text, sums.size);
        checksum_text(&sum, last);
        rc = add_text(&sums, last, 0, "", err);
    }
    if (rc == ERROR_NONE)
        rc = file_replace(path, sums.text, sums.size, false, err);
    memory_free(sums.text);
    return rc;
}

/* A list with a right hash is as somebody wrote it, but that may not have been us: a name leads nowhere else. */
static bool parse_line(const char *line, char sum[CHECKSUM_TEXT_SIZE], uint64_t *size,
                       char name[NAME_SIZE])
{
    struct checksum parsed;
    /* NOLINTNEXTLINE(cert-err34-c): what is no number is no line */
    if (sscanf(line, "%32s %" SCNu64 " %255s", sum, size, name) != 3)
        return false;
    return checksum_parse(sum, &parsed) && !strchr(name, '/') && strcmp(name, ".") != 0 &&
           strcmp(name, "..") != 0;
}

/* One line of the list against the file it names. */
static enum error_code check_line(const char *folder, const char *artifact, const char *line,
                                  bool tables, struct error *err)
{
    char expected[CHECKSUM_TEXT_SIZE], found[CHECKSUM_TEXT_SIZE] = "none", name[NAME_SIZE];
    char path[FILE_PATH_SIZE];
    uint64_t expected_size = 0, size = 0;
    struct checksum sum;
    if (!parse_line(line, expected, &expected_size, name))
        return error_set(err, ERROR_CORRUPT,
                         "artifact %s: file %s: expected a hash, a size and a name in each line",
                         artifact, SUMS_NAME);
    const bool size_only = is_table(name) && !tables;
    enum error_code rc = file_path(path, err, "%s/%s", folder, name);
    if (rc == ERROR_NONE && size_only)
        rc = file_size(path, &size, err);
    else if (rc == ERROR_NONE)
        rc = checksum_of_file(path, &sum, &size, err);
    if (rc != ERROR_NONE && rc != ERROR_NOT_FOUND)
        return rc;
    if (rc == ERROR_NONE && !size_only)
        checksum_text(&sum, found);
    if (rc == ERROR_NONE && size == expected_size && (size_only || strcmp(expected, found) == 0))
        return ERROR_NONE;
    return error_set(err, ERROR_CORRUPT,
                     "artifact %s: file %s: expected %" PRIu64 " bytes with hash %s, found %" PRIu64
                     " with %s%s",
                     artifact, name, expected_size, expected, size, found,
                     rc == ERROR_NOT_FOUND ? " (no file)" : "");
}

/* Cuts the last line, the hash of the others, off `text`; false when it is not that. */
static bool cut_last_line(char *text, size_t size)
{
    const size_t last_size = CHECKSUM_TEXT_SIZE; /* the digits and a line feed */
    struct checksum expected;
    if (size < last_size || text[size - 1] != '\n' || strlen(text) != size)
        return false;
    char *last = text + size - last_size;
    text[size - 1] = '\0';
    const struct checksum found = checksum_of(text, size - last_size);
    if (!checksum_parse(last, &expected) || !checksum_equal(&expected, &found))
        return false;
    *last = '\0';
    return true;
}

enum error_code folder_sums_check(const char *folder, const char *artifact, bool tables,
                                  struct error *err)
{
    char path[FILE_PATH_SIZE];
    char *text = NULL;
    size_t size = 0;
    enum error_code rc = file_path(path, err, "%s/%s", folder, SUMS_NAME);
    if (rc == ERROR_NONE)
        rc = file_read(path, SUMS_SIZE_MAX, &text, &size, err);
    if (rc == ERROR_NOT_FOUND || rc == ERROR_INPUT ||
        (rc == ERROR_NONE && !cut_last_line(text, size)))
        rc = error_set(err, ERROR_CORRUPT,
                       "artifact %s: file %s: expected a list of files that ends with its hash",
                       artifact, SUMS_NAME);
    for (char *line = text, *end = NULL; rc == ERROR_NONE && line && *line; line = end) {
        end = line + strcspn(line, "\n");
        end += *end == '\n';
        rc = check_line(folder, artifact, line, tables, err);
    }
    memory_free(text);
    return rc;
}
