/*
 * redis_note - records which Redis the workers of a folder's run use, if it is not the private one
 * of the folder.
 *
 * The note is the file `redis.url` in the run folder, written by the command that starts a run with
 * --redis. Its first line is the URL, without a password; the second line, if there is one, is the
 * path of the password file. So `status` does not have to be given the URL again.
 */
#ifndef PIPELINES_SHARED_REDIS_NOTE_H
#define PIPELINES_SHARED_REDIS_NOTE_H

#include "common/files/file.h"

#include <stdbool.h>

struct redis_note {
    char url[FILE_PATH_SIZE];
    char password_file[FILE_PATH_SIZE]; /* "": none */
};

/* Writes the note. `url` NULL means the private Redis, and removes the note. A failure to write
 * does not fail the run. */
void redis_note_write(const char *folder, const char *url, const char *password_file);
/* Reads the note. Returns false if there is none. */
bool redis_note_read(const char *folder, struct redis_note *out);

#endif
