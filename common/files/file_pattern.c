#include "common/files/file_pattern.h"

#include "common/files/file.h"

#include <glob.h>
#include <string.h>
#include <unistd.h>

bool file_pattern_is_list(const char *path)
{
    const size_t size = strlen(path);
    return size >= 2 && path[0] == '[' && path[size - 1] == ']';
}

bool file_pattern_is_one(const char *path)
{
    return file_pattern_is_list(path) || (strpbrk(path, "*?[") != NULL && access(path, F_OK) != 0);
}

bool file_pattern_next(const char *path, const char **at, const char **item, size_t *size)
{
    const bool is_list = file_pattern_is_list(path);
    const char *end = path + strlen(path) - (is_list ? 1 : 0);
    const char *begin = *at ? *at : path + (is_list ? 1 : 0);
    if (begin > end || (is_list && !*at && begin == end))
        return false;
    const char *comma = is_list ? memchr(begin, ',', (size_t)(end - begin)) : NULL;
    const char *stop = comma ? comma : end;
    *at = stop + 1;
    while (is_list && begin < stop && *begin == ' ')
        begin++;
    while (is_list && stop > begin && stop[-1] == ' ')
        stop--;
    *item = begin;
    *size = (size_t)(stop - begin);
    return true;
}

struct visits { /* state of the visits of a list */
    file_pattern_visitor visit;
    void *context;
    size_t count;
};

static enum error_code visit_fitting(const char *pattern, struct visits *visits, struct error *err)
{
    glob_t found = {0};
    if (!strpbrk(pattern, "*?[") || access(pattern, F_OK) == 0)
        return visits->visit(visits->context, pattern, visits->count++, err);
    enum error_code rc = ERROR_NONE;
    const int result = glob(pattern, GLOB_ERR, NULL, &found);
    if (result == GLOB_NOMATCH)
        rc = error_set(err, ERROR_NOT_FOUND,
                       "%s: expected files of such names, found none: " ADVICE
                       "write a name that some have",
                       pattern);
    else if (result == GLOB_NOSPACE)
        rc = error_set(err, ERROR_NO_MEMORY, "no memory for the files of %s", pattern);
    else if (result != 0)
        rc = error_set_errno(err, ERROR_IO, "%s", pattern);
    for (size_t i = 0; rc == ERROR_NONE && i < found.gl_pathc; i++)
        rc = visits->visit(visits->context, found.gl_pathv[i], visits->count++, err);
    globfree(&found);
    return rc;
}

enum error_code file_pattern_visit(const char *pattern, file_pattern_visitor visit, void *context,
                                   struct error *err)
{
    struct visits visits = {visit, context, 0};
    const char *at = NULL, *item = NULL;
    size_t size = 0;
    enum error_code rc = ERROR_NONE;
    if (!file_pattern_is_list(pattern))
        return visit_fitting(pattern, &visits, err);
    while (rc == ERROR_NONE && file_pattern_next(pattern, &at, &item, &size)) {
        char path[FILE_PATH_SIZE];
        rc = file_path(path, err, "%.*s", (int)size, item);
        if (rc == ERROR_NONE)
            rc = visit_fitting(path, &visits, err);
    }
    return rc;
}
