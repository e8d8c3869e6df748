#include "store/backends/directory/spare_file.h"

#include <string.h>
#include <unistd.h>

enum { PIECE_BYTES = 64 << 10 };

/* Writing counts as slow from here on; a copy to pages in memory takes a quarter of it. */
static const double slow_seconds_per_byte = 1e-9;

void spare_files_init(struct spare_files *spares)
{
    *spares = (struct spare_files){0};
    must(pthread_mutex_init(&spares->lock, NULL) == 0);
}

static void drop(struct spare_file *spare)
{
    if (!spare->path[0])
        return;
    (void)close(spare->fd);
    (void)unlink(spare->path);
    *spare = (struct spare_file){0};
}

void spare_files_close(struct spare_files *spares)
{
    for (int i = 0; i < SPARE_COUNT; i++)
        drop(&spares->ready[i]);
    (void)pthread_mutex_destroy(&spares->lock);
}

bool spare_files_take(struct spare_files *spares, size_t size, char path[FILE_PATH_SIZE], int *fd)
{
    bool found = false;
    (void)pthread_mutex_lock(&spares->lock);
    for (int i = 0; i < SPARE_COUNT && !found; i++) {
        struct spare_file *spare = &spares->ready[i];
        found = spare->path[0] && size <= spare->size && size > spare->size / 2;
        if (!found)
            continue;
        memcpy(path, spare->path, sizeof spare->path);
        *fd = spare->fd;
        *spare = (struct spare_file){0};
    }
    (void)pthread_mutex_unlock(&spares->lock);
    return found;
}

void spare_files_note(struct spare_files *spares, size_t size, bool was_spare, double seconds)
{
    if (size < SPARE_BYTES_MIN || size > SPARE_BYTES_MAX ||
        (!was_spare && seconds < (double)size * slow_seconds_per_byte))
        return;
    (void)pthread_mutex_lock(&spares->lock);
    if (spares->wanted_count < SPARE_COUNT)
        spares->wanted[spares->wanted_count++] = size;
    (void)pthread_mutex_unlock(&spares->lock);
}

static bool fill(struct spare_file *spare)
{
    static const char zeros[PIECE_BYTES];
    bool filled = true;
    for (size_t at = 0; at < spare->size && filled; at += PIECE_BYTES) {
        const size_t left = spare->size - at;
        filled = file_write_all(spare->fd, zeros, left < PIECE_BYTES ? left : PIECE_BYTES,
                                spare->path, NULL) == ERROR_NONE;
    }
    return filled && lseek(spare->fd, 0, SEEK_SET) == 0;
}

/* Keeps a new spare in a free slot, else in place of the last one, which was of no use. */
static void keep(struct spare_files *spares, const struct spare_file *spare)
{
    int place = 0;
    (void)pthread_mutex_lock(&spares->lock);
    while (place < SPARE_COUNT - 1 && spares->ready[place].path[0])
        place++;
    drop(&spares->ready[place]);
    spares->ready[place] = *spare;
    (void)pthread_mutex_unlock(&spares->lock);
}

static bool next_wanted(struct spare_files *spares, size_t *size)
{
    (void)pthread_mutex_lock(&spares->lock);
    const bool found = spares->wanted_count > 0;
    if (found)
        *size = spares->wanted[--spares->wanted_count];
    (void)pthread_mutex_unlock(&spares->lock);
    return found;
}

void spare_files_prepare(struct spare_files *spares, struct scratch_space *space)
{
    struct spare_file spare = {0};
    while (next_wanted(spares, &spare.size)) {
        if (scratch_space_file(space, spare.path, &spare.fd, NULL) != ERROR_NONE)
            return;
        if (fill(&spare))
            keep(spares, &spare);
        else
            drop(&spare);
        spare = (struct spare_file){0};
    }
}
