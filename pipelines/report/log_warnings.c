#include "pipelines/report/log_warnings.h"

#include "pipelines/report/folder_texts.h"

#include <stdbool.h>
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
