/*
 * redis_note - which Redis the workers of a folder's run meet at, when it is not the private one of the folder.
 *
 * The file `redis.url` in the run folder, written by who starts a run with --redis: its first line is the URL, which holds no
 * password, the second, if there is one, the file of the password. So that `status` needs not be told again.
 */
#ifndef PIPELINES_REDIS_NOTE_H
#define PIPELINES_REDIS_NOTE_H

#include "common/base/file.h"

#include <stdbool.h>

struct redis_note {
    char url[FILE_PATH_SIZE];
    char password_file[FILE_PATH_SIZE]; /* "": none */
};

/* `url` NULL: the private one, and what was noted is taken away. Failing to write is no failure of the run. */
void redis_note_write(const char *folder, const char *url, const char *password_file);
/* False: there is none. */
bool redis_note_read(const char *folder, struct redis_note *out);

#endif
