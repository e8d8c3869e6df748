#include "pipelines/report/folder_texts.h"

#include "common/base/memory.h"
#include "common/files/file.h"

#include <string.h>

struct reading {
    const char *folder, *suffix;
    folder_text_visitor visit;
    void *context;
};

static enum error_code read_one(void *context, const char *name, struct error *err)
{
    const struct reading *reading = context;
    char path[FILE_PATH_SIZE];
    char *text = NULL;
    size_t size = 0;
    const size_t length = strlen(name), suffix = strlen(reading->suffix);
    if (length < suffix || strcmp(name + length - suffix, reading->suffix) != 0)
        return ERROR_NONE;
    enum error_code rc = file_path(path, err, "%s/%s", reading->folder, name);
    if (rc == ERROR_NONE)
        rc = file_read(path, 0, &text, &size, err);
    if (rc == ERROR_NONE)
        rc = reading->visit(reading->context, text, size, err);
    memory_free(text);
    return rc;
}

enum error_code folder_texts_each(const char *folder, const char *suffix, folder_text_visitor visit,
                                  void *context, struct error *err)
{
    struct reading reading = {folder, suffix, visit, context};
    const enum error_code rc = file_list(folder, read_one, &reading, err);
    return rc == ERROR_NOT_FOUND ? ERROR_NONE : rc;
}
