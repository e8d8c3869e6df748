/*
 * log - one event on each line of stderr: time, kind, program, message, key=value.
 *
 *   2026-01-31T12:30:00.000Z warn graphmill-ingest 3 of 100 lines name nodes that no edge has
 *
 * Only programs log; libraries return errors, so that nothing is reported twice. Each line is one
 * write(2), so that lines of several processes do not mix. The driver reads the lines of the stages
 * with log_line_read(): it chooses by the kind of a line, not by its words, which lines people see.
 */
#ifndef COMMON_BASE_LOG_H
#define COMMON_BASE_LOG_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum log_level { LOG_LEVEL_ERROR = 1, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

enum log_kind {
    LOG_IS_ERROR,
    LOG_IS_WARN,
    LOG_IS_INFO,
    LOG_IS_DEBUG,
    LOG_IS_PROGRESS,
    LOG_IS_INPUT
};

/* Starts logging. `program` is borrowed for the life of the process. */
void log_open(const char *program, enum log_level level);
/* Calls `clear` before each written line, so that a panel on the screen that is redrawn in place
 * can be removed first. For programs with one thread. */
void log_call_before(void (*clear)(void));
void log_error(const char *format, ...) PRINTF_LIKE(1, 2);
void log_warn(const char *format, ...) PRINTF_LIKE(1, 2);
void log_info(const char *format, ...) PRINTF_LIKE(1, 2);
void log_debug(const char *format, ...) PRINTF_LIKE(1, 2);
/* Logs at LOG_LEVEL_INFO the progress of the program, or how it read a file. `graphmill run` shows
 * these lines while it waits. */
void log_progress(const char *format, ...) PRINTF_LIKE(1, 2);
void log_input(const char *format, ...) PRINTF_LIKE(1, 2);
/* Logs the failure that ends the program. `with_place` adds the source line that met it, for people
 * who look for a bug. */
void log_failure(const struct error *err, bool with_place);

/* A parsed line that these functions wrote. */
struct log_line {
    enum log_kind kind;
    const char *from_kind; /* start of the word for the kind; borrows from the line, like `text` */
    const char *text;      /* the message without the source position, `size` bytes */
    size_t size;
};
/* Parses a line. Returns false for a line that something else wrote. */
bool log_line_read(const char *line, size_t size, struct log_line *out);

#endif
