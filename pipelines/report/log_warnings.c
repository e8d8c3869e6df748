#include "pipelines/report/log_warnings.h"

#include "common/base/file.h"
#include "common/base/memory.h"

#include <string.h>

enum { LINES_OF_A_FILE = 12 };

static bool begins(const char *text, const char *end, const char *word)
{
    const size_t size = strlen(word);
    return (size_t)(end - text) >= size && memcmp(text, word, size) == 0;
}

static void keep(struct log_warnings *warnings, const char *text, const char *end)
{
    size_t size = (size_t)(end - text);
    if (warnings->line_count == LOG_WARNINGS_KEPT)
        return;
    if (size >= LOG_WARNING_SIZE)
        size = LOG_WARNING_SIZE - 1;
    memcpy(warnings->line[warnings->line_count], text, size);
    warnings->line[warnings->line_count++][size] = '\0';
}

/* "<time> warn <program> ..." (common/base/log.h) */
void log_warnings_add(struct log_warnings *warnings, const char *text, size_t size)
{
    const char *end = text + size;
    int kept = 0;
    while (text < end) {
        const char *line_end = memchr(text, '\n', (size_t)(end - text));
        line_end = line_end ? line_end : end;
        const char *word = memchr(text, ' ', (size_t)(line_end - text));
        word = word ? word + 1 : line_end;
        const bool is_warning = begins(word, line_end, "warn ");
        const bool is_error = begins(word, line_end, "error ");
        warnings->warnings += is_warning;
        warnings->errors += is_error;
        if ((is_warning || is_error) && kept++ < LINES_OF_A_FILE)
            keep(warnings, word, line_end);
        text = line_end + 1;
    }
}

struct reading {
    const char *folder;
    struct log_warnings *out;
};

static enum error_code read_one(void *context, const char *name, struct error *err)
{
    const struct reading *reading = context;
    char path[FILE_PATH_SIZE];
    char *text = NULL;
    size_t size = 0;
    const size_t length = strlen(name), suffix = strlen(".log");
    if (length < suffix || strcmp(name + length - suffix, ".log") != 0)
        return ERROR_NONE;
    enum error_code rc = file_path(path, err, "%s/%s", reading->folder, name);
    if (rc == ERROR_NONE)
        rc = file_read(path, 0, &text, &size, err);
    if (rc == ERROR_NONE)
        log_warnings_add(reading->out, text, size);
    memory_free(text);
    return rc;
}

enum error_code log_warnings_read(const char *folder, struct log_warnings *out, struct error *err)
{
    struct reading reading = {.folder = folder, .out = out};
    *out = (struct log_warnings){0};
    const enum error_code rc = file_list(folder, read_one, &reading, err);
    return rc == ERROR_NOT_FOUND ? ERROR_NONE : rc;
}
