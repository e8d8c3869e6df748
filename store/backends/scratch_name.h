/*
 * scratch_name - names in a store's tmp/ folder that say which process they belong to.
 *
 * <host>-<pid>-<n>, n counting within the process. What a killed process leaves can so be told from
 * what a live one needs: processes that share a host name must share their process numbers too, which
 * containers of their own host name do and containers on the host's network need a setting for.
 */
#ifndef STORE_BACKENDS_SCRATCH_NAME_H
#define STORE_BACKENDS_SCRATCH_NAME_H

#include "common/base/error.h"
#include "common/base/file.h"

/* Makes the folder `tmp` when missing, and in it an empty folder. */
MUST_CHECK enum error_code scratch_name_folder(const char *tmp, char path[FILE_PATH_SIZE],
                                               struct error *err);
/* The same with an empty file, open for writing; the caller closes *fd. */
MUST_CHECK enum error_code scratch_name_file(const char *tmp, char path[FILE_PATH_SIZE], int *fd,
                                             struct error *err);
/* A name in `tmp` where nothing stands, to rename something to. */
MUST_CHECK enum error_code scratch_name_free(const char *tmp, char path[FILE_PATH_SIZE],
                                             struct error *err);
/* Removes what belongs to processes of this host that are gone. */
MUST_CHECK enum error_code scratch_name_sweep(const char *tmp, struct error *err);

#endif
