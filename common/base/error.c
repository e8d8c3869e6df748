#include "common/base/error.h"

#include "common/base/text.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

static size_t append(char *message, size_t size, size_t at, const char *text)
{
    for (; *text && at + 1 < size; text++)
        message[at++] = *text;
    message[at < size ? at : size - 1] = '\0';
    return at;
}

/* Removes the mark from the text that was formatted from byte `from` on, and notes where the advice
 * begins. Only a mark in the format counts: the user's data may contain such a byte. */
static void take_mark(struct error *err, size_t from, const char *format)
{
    char *mark = strstr(format, ADVICE) ? strrchr(err->message + from, *ADVICE) : NULL;
    if (!mark)
        return;
    memmove(mark, mark + 1, strlen(mark));
    if (err->advice == 0)
        err->advice = (int)(mark - err->message);
}

/* Moves the start of the advice after text was put before it or removed. Advice that was cut off
 * counts as none. */
static void move_advice(struct error *err, ptrdiff_t by)
{
    const ptrdiff_t at = err->advice + by;
    if (err->advice)
        err->advice = at > 0 && (size_t)at < strlen(err->message) ? (int)at : 0;
}

PRINTF_LIKE(5, 0)
static void set(struct error *err, enum error_code code, const char *file, int line,
                const char *format, va_list args)
{
    (void)vsnprintf(err->message, sizeof err->message, format, args);
    err->code = code;
    err->file = file;
    err->line = line;
    err->advice = 0;
    take_mark(err, 0, format);
}

enum error_code error_set_at(struct error *err, enum error_code code, const char *file, int line,
                             const char *format, ...)
{
    if (!err)
        return code;
    va_list args;
    va_start(args, format);
    set(err, code, file, line, format, args);
    va_end(args);
    return code;
}

static enum error_code code_of_errno(enum error_code code, int number)
{
    if (code != ERROR_IO)
        return code;
    if (number == ENOSPC || number == EDQUOT)
        return ERROR_NO_SPACE;
    if (number == EACCES || number == EPERM || number == EROFS)
        return ERROR_DENIED;
    return number == ENOMEM ? ERROR_NO_MEMORY : code;
}

enum error_code error_set_errno_at(struct error *err, enum error_code code, const char *file,
                                   int line, const char *format, ...)
{
    const int number = errno;
    code = code_of_errno(code, number);
    if (!err)
        return code;
    va_list args;
    va_start(args, format);
    set(err, code, file, line, format, args);
    va_end(args);

    char reason[128] = "";
    if (strerror_r(number, reason, sizeof reason) != 0)
        (void)snprintf(reason, sizeof reason, "error %d", number);
    const size_t at = strlen(err->message);
    (void)append(err->message, sizeof err->message,
                 append(err->message, sizeof err->message, at, ": "), reason);
    return code;
}

enum error_code error_context(struct error *err, enum error_code code, const char *format, ...)
{
    if (!err || code == ERROR_NONE)
        return code;
    err->code = code;
    char cause[sizeof err->message];
    memcpy(cause, err->message, sizeof cause);

    va_list args;
    va_start(args, format);
    const int written = vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);

    size_t at = written < 0 ? 0 : (size_t)written;
    at = at < sizeof err->message ? at : sizeof err->message - 1;
    at = append(err->message, sizeof err->message, at, ": ");
    (void)append(err->message, sizeof err->message, at, cause);
    move_advice(err, (ptrdiff_t)at);
    return code;
}

enum error_code error_add(struct error *err, enum error_code code, const char *format, ...)
{
    if (!err || code == ERROR_NONE)
        return code;
    err->code = code;
    const size_t size = strlen(err->message);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(err->message + size, sizeof err->message - size, format, args);
    va_end(args);
    take_mark(err, size, format);
    return code;
}

const char *error_advice(const struct error *err)
{
    return err && err->advice ? err->message + err->advice : "";
}

bool error_rename(struct error *err, const char *from, const char *to)
{
    const char *at = err ? strstr(err->message, from) : NULL;
    if (!at)
        return false;
    const bool moves = at < err->message + err->advice;
    (void)text_replace(err->message, sizeof err->message, from, to);
    if (moves)
        move_advice(err, (ptrdiff_t)strlen(to) - (ptrdiff_t)strlen(from));
    return true;
}

int error_is_retryable(enum error_code code)
{
    return code == ERROR_BUSY || code == ERROR_UNAVAILABLE;
}

int error_exit_status(enum error_code code)
{
    switch (code) {
    case ERROR_NONE:
        return EXIT_SUCCESS;
    case ERROR_BUSY:
    case ERROR_UNAVAILABLE:
        return EX_TEMPFAIL;
    case ERROR_USAGE:
        return EX_USAGE;
    case ERROR_INVALID:
        return EX_CONFIG;
    case ERROR_CORRUPT:
    case ERROR_INPUT:
    case ERROR_NOT_FOUND:
        return EX_DATAERR;
    case ERROR_NO_MEMORY:
        return EX_OSERR;
    case ERROR_IO:
    case ERROR_NO_SPACE:
    case ERROR_DENIED:
        return EX_IOERR;
    case ERROR_BUG:
        return EX_SOFTWARE;
    }
    return EX_SOFTWARE;
}

void must_failed(const char *condition, const char *file, int line)
{
    (void)fprintf(stderr, "bug: %s:%d: '%s' does not hold\n", file, line, condition);
    abort();
}
