#include "pipelines/report/log_warnings.h"

#include "common/base/log.h"
#include "pipelines/report/folder_texts.h"

#include <stdbool.h>
#include <string.h>

enum { LINES_OF_A_FILE = 12 };

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

void log_warnings_add(struct log_warnings *warnings, const char *text, size_t size)
{
    const char *end = text + size;
    int kept = 0;
    while (text < end) {
        const char *line_end = memchr(text, '\n', (size_t)(end - text));
        line_end = line_end ? line_end : end;
        struct log_line line;
        const bool is_read = log_line_read(text, (size_t)(line_end - text), &line);
        const bool is_warning = is_read && line.kind == LOG_IS_WARN;
        const bool is_error = is_read && line.kind == LOG_IS_ERROR;
        warnings->warnings += is_warning;
        warnings->errors += is_error;
        if ((is_warning || is_error) && kept++ < LINES_OF_A_FILE)
            keep(warnings, line.from_kind, line_end);
        text = line_end + 1;
    }
}

static enum error_code add_file(void *context, const char *text, size_t size, struct error *err)
{
    (void)err;
    log_warnings_add(context, text, size);
    return ERROR_NONE;
}

enum error_code log_warnings_read(const char *folder, struct log_warnings *out, struct error *err)
{
    *out = (struct log_warnings){0};
    return folder_texts_each(folder, ".log", add_file, out, err);
}
