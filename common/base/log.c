#include "common/base/log.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The words in lines, by log_kind, and the level from which on each is written. */
static const struct {
    const char *word;
    enum log_level level;
} kinds[] = {
    [LOG_IS_ERROR] = {"error", LOG_LEVEL_ERROR},      [LOG_IS_WARN] = {"warn", LOG_LEVEL_WARN},
    [LOG_IS_INFO] = {"info", LOG_LEVEL_INFO},         [LOG_IS_DEBUG] = {"debug", LOG_LEVEL_DEBUG},
    [LOG_IS_PROGRESS] = {"progress", LOG_LEVEL_INFO}, [LOG_IS_INPUT] = {"input", LOG_LEVEL_INFO},
};

enum { TIME_SIZE = sizeof "2026-01-01T00:00:00.000Z" - 1 };

static const char *program_name = "graphmill";
static enum log_level threshold = LOG_LEVEL_INFO;
static void (*before_line)(void);

void log_open(const char *program, enum log_level level)
{
    program_name = program;
    threshold = level;
}

void log_call_before(void (*clear)(void))
{
    before_line = clear;
}

PRINTF_LIKE(2, 0)
static void write_line(enum log_kind kind, const char *format, va_list args)
{
    if (kinds[kind].level > threshold)
        return;
    char line[2048];
    struct timespec now = {0};
    struct tm utc = {0};
    (void)clock_gettime(CLOCK_REALTIME, &now);
    (void)gmtime_r(&now.tv_sec, &utc);
    size_t at = strftime(line, sizeof line, "%Y-%m-%dT%H:%M:%S", &utc);
    int n = snprintf(line + at, sizeof line - at, ".%03ldZ %s %s ", now.tv_nsec / 1000000,
                     kinds[kind].word, program_name);
    at += n > 0 ? (size_t)n : 0;
    n = vsnprintf(line + at, sizeof line - at, format, args);
    at += n > 0 ? (size_t)n : 0;
    if (at > sizeof line - 2)
        at = sizeof line - 2;
    for (size_t i = 0; i < at; i++)
        if (line[i] == '\n')
            line[i] = ' ';
    line[at++] = '\n';
    if (before_line)
        before_line();
    if (write(STDERR_FILENO, line, at) < 0)
        return; /* stderr is the last resort, so a failure cannot be reported */
}

#define DEFINE_LOG(name, kind)                                                                     \
    void name(const char *format, ...)                                                             \
    {                                                                                              \
        va_list args;                                                                              \
        va_start(args, format);                                                                    \
        write_line(kind, format, args);                                                            \
        va_end(args);                                                                              \
    }

DEFINE_LOG(log_error, LOG_IS_ERROR)
DEFINE_LOG(log_warn, LOG_IS_WARN)
DEFINE_LOG(log_info, LOG_IS_INFO)
DEFINE_LOG(log_debug, LOG_IS_DEBUG)
DEFINE_LOG(log_progress, LOG_IS_PROGRESS)
DEFINE_LOG(log_input, LOG_IS_INPUT)

void log_failure(const struct error *err, bool with_place)
{
    if (with_place)
        log_error("%s [%s:%d]", err->message, err->file ? err->file : "?", err->line);
    else
        log_error("%s", err->message);
}

/* Returns the size of a message without the " [file.c:12]" that log_failure() appends. */
static size_t without_place(const char *text, size_t size)
{
    static const char end[] = ".c:";
    size_t at = size;
    bool has_file = false;
    for (; at > 0 && text[at - 1] != '['; at--)
        has_file |= size - at >= sizeof end - 1 && memcmp(text + at, end, sizeof end - 1) == 0;
    const bool is_place = has_file && at > 1 && text[at - 2] == ' ' && text[size - 1] == ']';
    return is_place ? at - 2 : size;
}

static bool read_kind(const char *word, size_t size, enum log_kind *out)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strlen(kinds[i].word) == size && memcmp(word, kinds[i].word, size) == 0) {
            *out = (enum log_kind)i;
            return true;
        }
    return false;
}

bool log_line_read(const char *line, size_t size, struct log_line *out)
{
    const char *end = line + size, *word = line + TIME_SIZE + 1;
    if (size <= TIME_SIZE || line[TIME_SIZE - 1] != 'Z' || line[TIME_SIZE] != ' ')
        return false;
    const char *word_end = memchr(word, ' ', (size_t)(end - word));
    const char *program = word_end ? word_end + 1 : end;
    const char *text = memchr(program, ' ', (size_t)(end - program));
    if (!text || !read_kind(word, (size_t)(word_end - word), &out->kind))
        return false;
    out->from_kind = word;
    out->text = text + 1;
    out->size = without_place(out->text, (size_t)(end - out->text));
    return true;
}
