#include "store/backends/scratch_name.h"

#include "common/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HOST_SIZE = 128 };

static atomic_long next_number;

/* The host's name with what a file name cannot hold replaced. */
static void host_name(char host[HOST_SIZE])
{
    if (gethostname(host, HOST_SIZE - 1) != 0)
        (void)snprintf(host, HOST_SIZE, "localhost");
    host[HOST_SIZE - 1] = '\0';
    for (char *c = host; *c; c++)
        if (*c == '/')
            *c = '_';
}

static enum error_code next_name(const char *tmp, char path[FILE_PATH_SIZE], struct error *err)
{
    char host[HOST_SIZE];
    host_name(host);
    return file_path(path, err, "%s/%s-%ld-%ld", tmp, host, (long)getpid(),
                     atomic_fetch_add(&next_number, 1));
}

enum error_code scratch_name_free(const char *tmp, char path[FILE_PATH_SIZE], struct error *err)
{
    const enum error_code rc = file_make_folders(tmp, err);
    return rc == ERROR_NONE ? next_name(tmp, path, err) : rc;
}

/* A name can be taken by what a dead process of the same number left; then the next one is tried. */
enum error_code scratch_name_folder(const char *tmp, char path[FILE_PATH_SIZE], struct error *err)
{
    enum error_code rc = ERROR_NONE;
    while ((rc = scratch_name_free(tmp, path, err)) == ERROR_NONE) {
        if (mkdir(path, 0777) == 0)
            return ERROR_NONE;
        if (errno != EEXIST)
            return error_set_errno(err, ERROR_IO, "folder %s cannot be made", path);
    }
    return rc;
}

/* The folder is nearly always there, so it is made only when the file finds none. */
enum error_code scratch_name_file(const char *tmp, char path[FILE_PATH_SIZE], int *fd,
                                  struct error *err)
{
    enum error_code rc = ERROR_NONE;
    bool made = false;
    while ((rc = next_name(tmp, path, err)) == ERROR_NONE) {
        *fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (*fd >= 0)
            return ERROR_NONE;
        if (errno != EEXIST && (errno != ENOENT || made))
            return error_set_errno(err, ERROR_IO, "%s cannot be created", path);
        made = errno == ENOENT;
        rc = made ? file_make_folders(tmp, err) : ERROR_NONE;
        if (rc != ERROR_NONE)
            return rc;
    }
    return rc;
}

struct sweep {
    const char *tmp;
    char host[HOST_SIZE];
};

/* "<host>-<pid>-<n>" of our host; the host's name may hold '-'. */
static bool parse(const char *name, const char *host, int64_t *pid, int64_t *number)
{
    const size_t host_size = strlen(host);
    if (strncmp(name, host, host_size) != 0 || name[host_size] != '-')
        return false;
    const char *pid_text = name + host_size + 1, *dash = strchr(pid_text, '-');
    return dash && text_int64(pid_text, (size_t)(dash - pid_text), pid) &&
           text_int64(dash + 1, strlen(dash + 1), number);
}

static enum error_code sweep_one(void *context, const char *name, struct error *err)
{
    const struct sweep *sweep = context;
    int64_t pid = 0, number = 0;
    if (!parse(name, sweep->host, &pid, &number) || pid <= 0)
        return ERROR_NONE;
    /* In a container every life has the same number: what we have not named is of an earlier life. */
    const bool gone = pid == getpid() ? number >= atomic_load(&next_number)
                                      : kill((pid_t)pid, 0) != 0 && errno == ESRCH;
    if (!gone)
        return ERROR_NONE;
    char path[FILE_PATH_SIZE];
    const enum error_code rc = file_path(path, err, "%s/%s", sweep->tmp, name);
    return rc == ERROR_NONE ? file_remove_all(path, err) : rc;
}

enum error_code scratch_name_sweep(const char *tmp, struct error *err)
{
    struct sweep sweep = {.tmp = tmp};
    host_name(sweep.host);
    if (!file_exists(tmp))
        return ERROR_NONE;
    return file_list(tmp, sweep_one, &sweep, err);
}
