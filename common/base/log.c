#include "common/base/log.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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

PRINTF_LIKE(3, 0)
static void write_line(enum log_level level, const char *word, const char *format, va_list args)
{
    if (level > threshold)
        return;
    char line[2048];
    struct timespec now = {0};
    struct tm utc = {0};
    (void)clock_gettime(CLOCK_REALTIME, &now);
    (void)gmtime_r(&now.tv_sec, &utc);
    size_t at = strftime(line, sizeof line, "%Y-%m-%dT%H:%M:%S", &utc);
    int n = snprintf(line + at, sizeof line - at, ".%03ldZ %s %s ", now.tv_nsec / 1000000, word,
                     program_name);
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
        return; /* there is nowhere left to say it */
}

#define DEFINE_LOG(name, level, word)                                                              \
    void name(const char *format, ...)                                                             \
    {                                                                                              \
        va_list args;                                                                              \
        va_start(args, format);                                                                    \
        write_line(level, word, format, args);                                                     \
        va_end(args);                                                                              \
    }

DEFINE_LOG(log_error, LOG_LEVEL_ERROR, "error")
DEFINE_LOG(log_warn, LOG_LEVEL_WARN, "warn")
DEFINE_LOG(log_info, LOG_LEVEL_INFO, "info")
DEFINE_LOG(log_debug, LOG_LEVEL_DEBUG, "debug")
