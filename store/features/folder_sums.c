#include "store/features/folder_sums.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/files/checksum.h"
#include "common/files/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { SUMS_SIZE_MAX = 1 << 16, NAME_SIZE = 256, TABLE_END_BYTES = 16 << 10 };

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

static enum error_code add_text(struct sums *sums, int size, struct error *err)
{
    const size_t room = SUMS_SIZE_MAX - sums->size;
    if (size < 0 || (size_t)size >= room)
        return error_set(err, ERROR_INVALID, "folder %s has too many files to seal", sums->folder);
    sums->size += (size_t)size;
    return ERROR_NONE;
}

static enum error_code add_file(void *context, const char *name, struct error *err)
{
    struct sums *sums = context;
    char path[FILE_PATH_SIZE], text[CHECKSUM_TEXT_SIZE], end_text[CHECKSUM_TEXT_SIZE] = "";
    struct checksum sum, end;
    uint64_t size = 0;
    if (strcmp(name, SUMS_NAME) == 0) /* left by an earlier attempt */
        return ERROR_NONE;
    enum error_code rc = file_path(path, err, "%s/%s", sums->folder, name);
    if (rc == ERROR_NONE)
        rc = checksum_of_file(path, &sum, &size, err);
    if (rc == ERROR_NONE && is_table(name)) {
        rc = checksum_of_file_end(path, TABLE_END_BYTES, &end, NULL, err);
        if (rc == ERROR_NONE)
            checksum_text(&end, end_text);
    }
    if (rc != ERROR_NONE)
        return rc;
    checksum_text(&sum, text);
    return add_text(sums,
                    snprintf(sums->text + sums->size, SUMS_SIZE_MAX - sums->size,
                             "%s %" PRIu64 " %s%s%s\n", text, size, name, *end_text ? " " : "",
                             end_text),
                    err);
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
        rc = add_text(
            &sums, snprintf(sums.text + sums.size, SUMS_SIZE_MAX - sums.size, "%s\n", last), err);
    }
    if (rc == ERROR_NONE)
        rc = file_replace(path, sums.text, sums.size, false, err);
    memory_free(sums.text);
    return rc;
}

struct sums_line {
    char sum[CHECKSUM_TEXT_SIZE], end[CHECKSUM_TEXT_SIZE]; /* `end` only for tables */
    char name[NAME_SIZE];
    uint64_t size;
};

/* Parses a line of the list. A correct hash does not prove that we wrote the list, so a name that
 * leaves the folder is refused. */
static bool parse_line(const char *text, struct sums_line *line)
{
    struct checksum parsed;
    /* NOLINTNEXTLINE(cert-err34-c): a line without a number is refused */
    const int fields = sscanf(text, "%32s %" SCNu64 " %255s%*1[ ]%32[^ \n]", line->sum, &line->size,
                              line->name, line->end);
    if (fields < 3 || !checksum_parse(line->sum, &parsed) || strchr(line->name, '/') ||
        strcmp(line->name, ".") == 0 || strcmp(line->name, "..") == 0)
        return false;
    return is_table(line->name) ? fields == 4 && checksum_parse(line->end, &parsed) : fields == 3;
}

/* Compares one line of the list with the file that it names. */
static enum error_code check_line(const char *folder, const char *artifact, const char *text,
                                  bool tables, struct error *err)
{
    char found[CHECKSUM_TEXT_SIZE] = "none", path[FILE_PATH_SIZE];
    uint64_t size = 0;
    struct checksum sum;
    struct sums_line line = {0};
    if (!parse_line(text, &line))
        return error_set(err, ERROR_CORRUPT,
                         "artifact %s: file %s: expected a hash, a size, a name, and the hash of "
                         "the end of a table in each line",
                         artifact, SUMS_NAME);
    const bool end_only = is_table(line.name) && !tables;
    const char *expected = end_only ? line.end : line.sum;
    enum error_code rc = file_path(path, err, "%s/%s", folder, line.name);
    if (rc == ERROR_NONE)
        rc = checksum_of_file_end(path, end_only ? TABLE_END_BYTES : UINT64_MAX, &sum, &size, err);
    if (rc != ERROR_NONE && rc != ERROR_NOT_FOUND)
        return rc;
    if (rc == ERROR_NONE)
        checksum_text(&sum, found);
    if (rc == ERROR_NONE && size == line.size && strcmp(expected, found) == 0)
        return ERROR_NONE;
    return error_set(err, ERROR_CORRUPT,
                     "artifact %s: file %s: expected %" PRIu64
                     " bytes with hash %s%s, found %" PRIu64 " with %s%s",
                     artifact, line.name, line.size, expected, end_only ? " of the end" : "", size,
                     found, rc == ERROR_NOT_FOUND ? " (no file)" : "");
}

/* Removes the last line, the hash of the others, from `text`. Returns false if that hash is
 * wrong. */
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
