/*
 * log - one event a line on stderr, as logfmt: time, level, program, message, key=value.
 *
 * Only programs log; libraries return errors, so that nothing is told twice. Lines are written with
 * one write(2), so that lines of several processes do not mix.
 */
#ifndef COMMON_BASE_LOG_H
#define COMMON_BASE_LOG_H

#include "common/base/error.h"

enum log_level { LOG_LEVEL_ERROR = 1, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/* `program` is borrowed for the life of the process. */
void log_open(const char *program, enum log_level level);
/* `clear` is called before each line that is written, so that what stands on the screen to be drawn over can be taken away. For
 * programs with one thread. */
void log_call_before(void (*clear)(void));
void log_error(const char *format, ...) PRINTF_LIKE(1, 2);
void log_warn(const char *format, ...) PRINTF_LIKE(1, 2);
void log_info(const char *format, ...) PRINTF_LIKE(1, 2);
void log_debug(const char *format, ...) PRINTF_LIKE(1, 2);

#endif
