/* reader_folder - a folder of files for each test of a reader; make_dir and remove_dir are its
 * setup and teardown. */
#ifndef TESTS_STAGES_INGEST_FORMATS_READER_FOLDER_H
#define TESTS_STAGES_INGEST_FORMATS_READER_FOLDER_H

#include "tests/support/temp_dir.h"

#include <string.h>

static struct temp_dir dir;

static inline int make_dir(void **state)
{
    (void)state;
    temp_dir_make(&dir);
    return 0;
}

static inline int remove_dir(void **state)
{
    (void)state;
    temp_dir_remove(&dir);
    return 0;
}

/* Writes a file into the folder. */
static inline void put(const char *name, const char *text)
{
    (void)temp_dir_write(&dir, name, text, strlen(text));
}

#endif
