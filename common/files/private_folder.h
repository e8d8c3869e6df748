/*
 * private_folder - a folder for this user only, with a name that others can guess, such as
 * /tmp/graphmill-scratch-1000.
 *
 * Everybody may make files in /tmp. Somebody who makes that folder first, or a symbolic link of its
 * name, could read and change what a program writes there, and would choose where it writes.
 */
#ifndef COMMON_FILES_PRIVATE_FOLDER_H
#define COMMON_FILES_PRIVATE_FOLDER_H

#include "common/base/error.h"

/* Checks the folder. Fails: ERROR_DENIED when `path` is no folder, is a link, belongs to another
 * user, or may be written by others; ERROR_NOT_FOUND; ERROR_IO. */
MUST_CHECK enum error_code private_folder_check(const char *path, struct error *err);
/* Makes the folder with the permissions 0700 if it is missing, and checks it. Its parent exists. */
MUST_CHECK enum error_code private_folder_make(const char *path, struct error *err);

#endif
