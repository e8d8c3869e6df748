#define _GNU_SOURCE /* sync_file_range(). NOLINT(*-reserved-identifier,cert-dcl*) */
#include "store/backends/directory/written_file.h"

#include "common/base/error.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

void written_files_init(struct written_files *files)
{
    *files = (struct written_files){0};
    must(pthread_mutex_init(&files->lock, NULL) == 0);
}

/* Takes all descriptors out of `files`. */
static int take_all(struct written_files *files, int fd[WRITTEN_COUNT])
{
    (void)pthread_mutex_lock(&files->lock);
    const int count = files->count;
    memcpy(fd, files->fd, (size_t)count * sizeof *fd);
    files->count = 0;
    (void)pthread_mutex_unlock(&files->lock);
    return count;
}

void written_files_close(struct written_files *files)
{
    int fd[WRITTEN_COUNT];
    for (int i = take_all(files, fd); i > 0; i--)
        (void)close(fd[i - 1]);
    (void)pthread_mutex_destroy(&files->lock);
}

void written_files_add(struct written_files *files, int fd, size_t size)
{
    if (size < WRITTEN_BYTES_MIN)
        return;
    (void)pthread_mutex_lock(&files->lock);
    if (files->count < WRITTEN_COUNT) {
        const int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
        if (own >= 0)
            files->fd[files->count++] = own;
    }
    (void)pthread_mutex_unlock(&files->lock);
}

void written_files_send(struct written_files *files)
{
    int fd[WRITTEN_COUNT];
    const int count = take_all(files, fd);
    for (int i = 0; i < count; i++) {
        (void)sync_file_range(fd[i], 0, 0, SYNC_FILE_RANGE_WRITE);
        (void)close(fd[i]);
    }
}

void written_file_let_go(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    (void)close(fd);
}
