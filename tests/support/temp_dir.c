#include "tests/support/temp_dir.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void temp_dir_make(struct temp_dir *dir)
{
    const char *base = getenv("TMPDIR");
    struct error err = {0};
    must(file_path(dir->path, &err, "%s/graphmill-test-XXXXXX", base ? base : "/tmp") ==
         ERROR_NONE);
    must(mkdtemp(dir->path) != NULL);
}

void temp_dir_remove(struct temp_dir *dir)
{
    struct error err = {0};
    if (file_remove_all(dir->path, &err) != ERROR_NONE)
        (void)fprintf(stderr, "%s\n", err.message);
}

int temp_dir_setup(void **state)
{
    static struct temp_dir dir;
    temp_dir_make(&dir);
    *state = &dir;
    return 0;
}

int temp_dir_teardown(void **state)
{
    temp_dir_remove(*state);
    return 0;
}

const char *temp_dir_write(const struct temp_dir *dir, const char *name, const void *text,
                           size_t size)
{
    static char path[FILE_PATH_SIZE];
    struct error err = {0};
    must(file_path(path, &err, "%s/%s", dir->path, name) == ERROR_NONE);
    must(file_replace(path, text, size, false, &err) == ERROR_NONE);
    return path;
}

bool file_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

void temp_dir_flip_bit(const char *path, uint64_t bit)
{
    FILE *file = fopen(path, "r+b");
    must(file != NULL);
    must(fseek(file, (long)(bit / 8), SEEK_SET) == 0);
    const int byte = fgetc(file);
    must(fseek(file, (long)(bit / 8), SEEK_SET) == 0);
    must(fputc(byte ^ (1 << bit % 8), file) != EOF);
    must(fclose(file) == 0);
}
