/*
 * written_file - records that were written and are not on disk yet.
 *
 * Nobody flushes a round record (store/objects/store.h): the system writes it to disk when it is
 * half a minute old. Until then its pages cannot be reclaimed, so a run that writes megabytes each
 * round keeps taking free pages, and on a virtual machine the first touch of a page costs about ten
 * times as much as copying to it. Large records are therefore sent to disk early, without waiting.
 * The last reader of a record then drops its pages, and the next records use them.
 *
 * Threads: several may use it at once.
 */
#ifndef STORE_BACKENDS_DIRECTORY_WRITTEN_FILE_H
#define STORE_BACKENDS_DIRECTORY_WRITTEN_FILE_H

#include <pthread.h>
#include <stddef.h>

enum { WRITTEN_COUNT = 16, WRITTEN_BYTES_MIN = 256 << 10 };

struct written_files {
    pthread_mutex_t lock; /* guards the members below */
    int fd[WRITTEN_COUNT];
    int count;
};

void written_files_init(struct written_files *files);
/* Closes the descriptors. The system writes what was not sent yet. */
void written_files_close(struct written_files *files);

/* Remembers a file of `size` bytes by a duplicate of its descriptor, if it is large enough and
 * there is room. */
void written_files_add(struct written_files *files, int fd, size_t size);
/* Starts writing the files to disk and forgets them. If that fails, the system writes them later as
 * usual. */
void written_files_send(struct written_files *files);

/* Drops the pages of the file `path` that are on disk and not mapped by anybody. */
void written_file_let_go(const char *path);

#endif
