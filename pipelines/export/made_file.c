#include "pipelines/export/made_file.h"

#include "common/files/file.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>

enum { MARK_SIZE = 80, HEAD_SIZE = 4096 };

static const char attribute[] = "user.graphmill";

static void mark_of(const struct stat *status, char mark[MARK_SIZE])
{
    (void)snprintf(mark, MARK_SIZE, "%" PRId64 " %" PRId64 ".%09ld", (int64_t)status->st_size,
                   (int64_t)status->st_mtim.tv_sec, status->st_mtim.tv_nsec);
}

static bool is_marked(const char *path, const struct stat *status)
{
    char wanted[MARK_SIZE], found[MARK_SIZE];
    const ssize_t size = getxattr(path, attribute, found, sizeof found - 1);
    mark_of(status, wanted);
    return size > 0 && (size_t)size == strlen(wanted) && memcmp(found, wanted, (size_t)size) == 0;
}

static bool says(const char *path, const char *words)
{
    char head[HEAD_SIZE + 1];
    size_t size = 0;
    if (!words || file_read_range(path, 0, head, HEAD_SIZE, &size, NULL) != ERROR_NONE)
        return false;
    head[size] = '\0';
    return strstr(head, words) != NULL;
}

enum error_code made_file_check(const char *path, const char *words, struct error *err)
{
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0 ||
        is_marked(path, &status) || says(path, words))
        return ERROR_NONE;
    return error_set(
        err, ERROR_INVALID,
        "--output %s is there already, and not known to be made by this command: " ADVICE "name "
        "another file, or replace it with --force",
        path);
}

void made_file_mark(const char *path)
{
    struct stat status;
    char mark[MARK_SIZE];
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return;
    mark_of(&status, mark);
    (void)setxattr(path, attribute, mark, strlen(mark), 0);
}
