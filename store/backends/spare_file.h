/*
 * spare_file - scratch files whose pages are in memory already, for the records that come next.
 *
 * A new file takes free pages of the machine. On a virtual machine the first touch of a page is slow, some 2
 * s for a GB (design section 8): writing the records of a round then takes longer than computing them, just
 * when others wait for them. So a worker that found it slow writes zeros to a scratch file while it waits
 * for work, and the next record of that size overwrites them, which is a plain copy. Where writing never was slow no
 * spare is made. Where it once was, a spare is made for every record, even when the last one was filled quickly: it was
 * filled quickly because it took the pages that the spare before it had left, and a record written without a spare
 * would take other, slow ones.
 *
 * Threads: may be used by several at once.
 */
#ifndef STORE_BACKENDS_SPARE_FILE_H
#define STORE_BACKENDS_SPARE_FILE_H

#include "common/base/file.h"
#include "store/backends/scratch_space.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum { SPARE_COUNT = 4, SPARE_BYTES_MIN = 256 << 10, SPARE_BYTES_MAX = 64 << 20 };

struct spare_file {
    char path[FILE_PATH_SIZE]; /* "" : none */
    int fd;
    size_t size;
};

struct spare_files {
    pthread_mutex_t lock; /* over what follows */
    struct spare_file ready[SPARE_COUNT];
    size_t wanted[SPARE_COUNT]; /* bytes */
    int wanted_count;
};

void spare_files_init(struct spare_files *spares);
/* Removes those that were not used. */
void spare_files_close(struct spare_files *spares);

/* Hands out a file for `size` bytes, which the caller overwrites and cuts; false when there is none. */
bool spare_files_take(struct spare_files *spares, size_t size, char path[FILE_PATH_SIZE], int *fd);
/* Notes that `size` bytes were written in so much processor time, or to a spare (seconds 0): is one wanted
 * for the next? */
void spare_files_note(struct spare_files *spares, size_t size, bool was_spare, double seconds);
/* Makes the spares that are wanted. One that cannot be made is left out: what is in the
 * way meets the next record too, and is told there. */
void spare_files_prepare(struct spare_files *spares, struct scratch_space *space);

#endif
