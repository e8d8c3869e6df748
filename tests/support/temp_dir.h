/* temp_dir - a fresh folder for one test, removed with its contents. */
#ifndef TESTS_SUPPORT_TEMP_DIR_H
#define TESTS_SUPPORT_TEMP_DIR_H

#include "common/files/file.h"

#include <stdbool.h>
#include <stdint.h>

struct temp_dir {
    char path[FILE_PATH_SIZE];
};

/* Makes the folder. Aborts the program when that fails, because a test cannot continue. */
void temp_dir_make(struct temp_dir *dir);
void temp_dir_remove(struct temp_dir *dir);
/* The same as setup and teardown for cmocka_unit_test_setup_teardown: *state is the struct
 * temp_dir. */
int temp_dir_setup(void **state);
int temp_dir_teardown(void **state);
/* Writes `text` to the file `name` inside and returns its path, valid until the next call. */
const char *temp_dir_write(const struct temp_dir *dir, const char *name, const void *text,
                           size_t size);
/* Returns whether a file or folder of that name exists. */
bool file_exists(const char *path);
/* Flips one bit of a file, as a disk may. */
void temp_dir_flip_bit(const char *path, uint64_t bit);

#endif
