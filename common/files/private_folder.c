#include "common/files/private_folder.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

enum error_code private_folder_check(const char *path, struct error *err)
{
    struct stat status;
    const char *found = NULL;
    if (lstat(path, &status) != 0)
        return error_set_errno(err, errno == ENOENT ? ERROR_NOT_FOUND : ERROR_IO, "%s", path);
    if (S_ISLNK(status.st_mode))
        found = "a symbolic link";
    else if (!S_ISDIR(status.st_mode))
        found = "something else";
    else if (status.st_uid != geteuid())
        found = "one of another user";
    else if (status.st_mode & 0022)
        found = "one that others may write to";
    return found ? error_set(
                       err, ERROR_DENIED,
                       "%s: expected a folder that belongs to this user alone, found %s; " ADVICE
                       "remove it, or set TMPDIR to a folder of your own",
                       path, found)
                 : ERROR_NONE;
}

enum error_code private_folder_make(const char *path, struct error *err)
{
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return error_set_errno(err, ERROR_IO, "%s cannot be made", path);
    return private_folder_check(path, err);
}
