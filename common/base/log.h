/*
 * log - one event a line on stderr: time, kind, program, message, key=value.
 *
 *   2026-01-31T12:30:00.000Z warn graphmill-ingest 3 of 100 lines name nodes that no edge has
 *
 * Only programs log; libraries return errors, so that nothing is told twice. Lines are written with
 * one write(2), so that lines of several processes do not mix. The driver reads the lines of the
 * stages with log_line_read(): the kind says which of them people see, and not the words of a
 * message.
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

/* `program` is borrowed for the life of the process. */
void log_open(const char *program, enum log_level level);
/* `clear` is called before each line that is written, so that what stands on the screen to be drawn over can be taken away. For
 * programs with one thread. */
void log_call_before(void (*clear)(void));
void log_error(const char *format, ...) PRINTF_LIKE(1, 2);
void log_warn(const char *format, ...) PRINTF_LIKE(1, 2);
void log_info(const char *format, ...) PRINTF_LIKE(1, 2);
void log_debug(const char *format, ...) PRINTF_LIKE(1, 2);
/* At LOG_LEVEL_INFO: how far the program is, and how it read a file. `graphmill run` shows these
 * while it waits. */
void log_progress(const char *format, ...) PRINTF_LIKE(1, 2);
void log_input(const char *format, ...) PRINTF_LIKE(1, 2);
/* The failure that ends the program. `with_place`: and the line of the source that met it, for
 * those who look for a bug. */
void log_failure(const struct error *err, bool with_place);

/* A line that these functions wrote. */
struct log_line {
    enum log_kind kind;
    const char
        *from_kind;   /* where the word of the kind begins; borrows from the line, like `text` */
    const char *text; /* the message without the place in the source, `size` bytes */
    size_t size;
};
/* False for a line that something else wrote. */
bool log_line_read(const char *line, size_t size, struct log_line *out);

#endif
