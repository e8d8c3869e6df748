/*
 * error - what went wrong, said once, with its context.
 *
 * Every function that can fail returns an error_code and takes a `struct error *` as its last
 * parameter. The function that meets the failure says what happened with error_set(); each caller
 * that knows something the callee did not adds it with error_context(). Only the main() of a
 * program prints the result. Libraries never print and never exit.
 *
 * The struct holds its own text, so that reporting "no memory" allocates nothing.
 */
#ifndef COMMON_BASE_ERROR_H
#define COMMON_BASE_ERROR_H

#include <stdarg.h>
#include <stdbool.h>

/* Named by what the caller may want to do about it, not by where it came from. */
enum error_code {
    ERROR_NONE = 0,    /* success; the only zero */
    ERROR_NOT_FOUND,   /* the key, file or work unit does not exist */
    ERROR_BUSY,        /* someone else holds it; trying later can help */
    ERROR_UNAVAILABLE, /* store or network is down, or we were asked to stop; try again later */
    ERROR_CORRUPT,     /* bytes read do not match their format or checksum */
    ERROR_INPUT,       /* the user's data is wrong: a bad id, a ragged row, a NaN */
    ERROR_INVALID,     /* the user's settings are wrong */
    ERROR_USAGE,       /* the command line is wrong */
    ERROR_NO_MEMORY,   /* the heap, or the --memory budget, is too small */
    ERROR_IO,          /* the host failed us: broken device, no descriptors */
    ERROR_NO_SPACE,    /* the disk or a quota is full: the same call works when there is room */
    ERROR_DENIED, /* it is there, and we may not: permission or credentials; a person mends it */
    ERROR_BUG,    /* a mistake of ours, met where must() cannot abort: in another process */
};

struct error {
    enum error_code code;
    int line; /* where error_set() was called */
    const char *file;
    int advice;        /* the byte of `message` where the advice begins; 0: there is no advice */
    char message[768]; /* "outermost context: ...: innermost cause: advice" */
};

/* Stands in the format of error_set() or error_add() where the advice begins, that is, what the
 * reader can do about the failure. The mark is no part of the message:
 *   error_set(err, ERROR_INPUT, "%s:%d: expected a number, found '%s': " ADVICE "write one", ...) */
#define ADVICE "\001"

#define MUST_CHECK             __attribute__((warn_unused_result))
#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))

/* Records a failure and returns `code`, so that a function can end with it.
 * `err` may be NULL when the caller only wants the code, here and below. */
#define error_set(err, code, ...) error_set_at(err, code, __FILE__, __LINE__, __VA_ARGS__)
enum error_code error_set_at(struct error *err, enum error_code code, const char *file, int line,
                             const char *format, ...) PRINTF_LIKE(5, 6);

/* As error_set(), with ": <text of errno>" behind the message. Where errno says more than ERROR_IO does, the code
 * returned does too: ERROR_NO_SPACE for a full disk or quota, ERROR_NO_MEMORY for no memory. */
#define error_set_errno(err, code, ...)                                                            \
    error_set_errno_at(err, code, __FILE__, __LINE__, __VA_ARGS__)
enum error_code error_set_errno_at(struct error *err, enum error_code code, const char *file,
                                   int line, const char *format, ...) PRINTF_LIKE(5, 6);

/* Puts "<text>: " before the message already in `err`, which is of `code` from now on, and returns `code`.
 * ERROR_NONE passes through and changes nothing, so that a function may end with it. */
enum error_code error_context(struct error *err, enum error_code code, const char *format, ...)
    PRINTF_LIKE(3, 4);

/* Puts text behind the message already in `err`, for a caller that knows the advice or more of the
 * cause, and returns `code`, as error_context() does. The first advice of a message stays its
 * advice. */
enum error_code error_add(struct error *err, enum error_code code, const char *format, ...)
    PRINTF_LIKE(3, 4);

/* The advice in the message of `err`; "" when it has none. Borrowed. No code looks for advice in
 * the text of a message. */
const char *error_advice(const struct error *err);

/* Replaces `from`, where it stands first in the message, by `to`: the name of a copy by the name
 * that the user knows. Returns whether it stood there. */
bool error_rename(struct error *err, const char *from, const char *to);

/* For a failure that nothing depends on: error_ignore(file_remove_all(path, NULL)), with why behind it. */
static inline void error_ignore(enum error_code code)
{
    (void)code;
}

/* True when the same call may succeed later without any change by a person. */
int error_is_retryable(enum error_code code);

/* The exit status of a program that ends with `code`, from sysexits.h: 0 done; 64 usage; 65 corrupt
 * or bad data; 70 our bug; 71 no memory; 74 host trouble; 75 try again; 78 bad settings. */
int error_exit_status(enum error_code code);

/* Aborts with file and line when `condition` is false: for our own bugs only, never for bytes or
 * settings from outside. Stays on in release builds. */
#define must(condition) ((condition) ? (void)0 : must_failed(#condition, __FILE__, __LINE__))
_Noreturn void must_failed(const char *condition, const char *file, int line);

#endif
