#include "common/base/file_pattern.h"

#include <glob.h>
#include <string.h>
#include <unistd.h>

bool file_pattern_is_one(const char *path)
{
    return strpbrk(path, "*?[") != NULL && access(path, F_OK) != 0;
}

enum error_code file_pattern_visit(const char *pattern, file_pattern_visitor visit, void *context,
                                   struct error *err)
{
    glob_t found = {0};
    if (!file_pattern_is_one(pattern))
        return visit(context, pattern, 0, err);
    enum error_code rc = ERROR_NONE;
    const int result = glob(pattern, GLOB_ERR, NULL, &found);
    if (result == GLOB_NOMATCH)
        rc = error_set(err, ERROR_NOT_FOUND, "%s: expected files of such names, found none",
                       pattern);
    else if (result == GLOB_NOSPACE)
        rc = error_set(err, ERROR_NO_MEMORY, "no memory for the files of %s", pattern);
    else if (result != 0)
        rc = error_set_errno(err, ERROR_IO, "%s", pattern);
    for (size_t i = 0; rc == ERROR_NONE && i < found.gl_pathc; i++)
        rc = visit(context, found.gl_pathv[i], i, err);
    globfree(&found);
    return rc;
}
