/*
 * written_file - records that were written and are not on disk yet.
 *
 * A round record is written into memory and flushed by nobody (store/objects/store.h): the system sends it to disk
 * when it is half a minute old. Until then its pages cannot be given up, so a run of megabytes a round takes
 * free pages all the time, and on a virtual machine the first touch of a page costs some ten times what
 * copying to it does. So what is large is sent to disk early, without waiting. Then whoever was the last to
 * read a record lets its pages go, and the next records take those.
 *
 * Threads: may be used by several at once.
 */
#ifndef STORE_BACKENDS_WRITTEN_FILE_H
#define STORE_BACKENDS_WRITTEN_FILE_H

#include <pthread.h>
#include <stddef.h>

enum { WRITTEN_COUNT = 16, WRITTEN_BYTES_MIN = 256 << 10 };

struct written_files {
    pthread_mutex_t lock; /* over what follows */
    int fd[WRITTEN_COUNT];
    int count;
};

void written_files_init(struct written_files *files);
/* What was not sent yet is left to the system. */
void written_files_close(struct written_files *files);

/* Remembers a file of `size` bytes by a descriptor of its own, when it is large enough and there is room. */
void written_files_add(struct written_files *files, int fd, size_t size);
/* Begins to write them to disk, and forgets them. Where that fails the system does it later, as ever. */
void written_files_send(struct written_files *files);

/* Gives up the pages of the file `path` that are on disk and that nobody has mapped. */
void written_file_let_go(const char *path);

#endif
