/*
 * spare_file - scratch files whose pages are already in memory, for the next records to be written
 * into.
 *
 * A new file takes free pages of the machine. On a virtual machine the first touch of a page is
 * slow, about 2 s for a GB (design section 8): writing the records of a round can then take longer
 * than computing them, while others wait for them. A worker that found writing slow therefore
 * writes zeros to a scratch file while it waits for work. The next record of that size overwrites
 * the zeros, which is a plain copy.
 *
 * No spare is made as long as writing was never slow. Once it was slow, a spare is made for every
 * record, even if the last one was written quickly: it was quick because it used the pages of a
 * spare, and a record without a spare would use other, slow pages.
 *
 * Threads: several may use it at once.
 */
#ifndef STORE_BACKENDS_DIRECTORY_SPARE_FILE_H
#define STORE_BACKENDS_DIRECTORY_SPARE_FILE_H

#include "common/files/file.h"
#include "store/backends/scratch_space.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum { SPARE_COUNT = 4, SPARE_BYTES_MIN = 256 << 10, SPARE_BYTES_MAX = 64 << 20 };

struct spare_file {
    char path[FILE_PATH_SIZE]; /* "" if there is none */
    int fd;
    size_t size;
};

struct spare_files {
    pthread_mutex_t lock; /* guards the members below */
    struct spare_file ready[SPARE_COUNT];
    size_t wanted[SPARE_COUNT]; /* bytes */
    int wanted_count;
};

void spare_files_init(struct spare_files *spares);
/* Removes the spares that were not used. */
void spare_files_close(struct spare_files *spares);

/* Hands out a file for `size` bytes, which the caller overwrites and truncates. Returns false if
 * there is none. */
bool spare_files_take(struct spare_files *spares, size_t size, char path[FILE_PATH_SIZE], int *fd);
/* Notes that `size` bytes were written in `seconds` of processor time, or to a spare (seconds 0),
 * and decides whether the next record wants a spare. */
void spare_files_note(struct spare_files *spares, size_t size, bool was_spare, double seconds);
/* Makes the spares that are wanted. Skips one that cannot be made: the next record meets the same
 * fault and reports it. */
void spare_files_prepare(struct spare_files *spares, struct scratch_space *space);

#endif
