/*
 * error - a failure and its context.
 *
 * Every function that can fail returns an error_code and takes a `struct error *` as its last
 * parameter. The function that meets the failure describes it with error_set(); each caller that
 * knows something the callee did not know adds it with error_context(). Only the main() of a
 * program prints the result. Libraries never print and never exit.
 *
 * The struct contains its text, so reporting "no memory" allocates nothing.
 */
#ifndef COMMON_BASE_ERROR_H
#define COMMON_BASE_ERROR_H

#include <stdarg.h>
#include <stdbool.h>

/* The codes are named after what the caller can do about the failure, not after its source. */
enum error_code {
    ERROR_NONE = 0,  /* success; the only zero */
    ERROR_NOT_FOUND, /* the key, file or work unit does not exist */
    ERROR_BUSY,      /* someone else holds it; trying later can help */
    /* store or network is down, or the program was asked to stop; try again later */
    ERROR_UNAVAILABLE,
    ERROR_CORRUPT,   /* bytes read do not match their format or checksum */
    ERROR_INPUT,     /* the user's data is wrong: a bad id, a ragged row, a NaN */
    ERROR_INVALID,   /* the user's settings are wrong */
    ERROR_USAGE,     /* the command line is wrong */
    ERROR_NO_MEMORY, /* the heap, or the --memory budget, is too small */
    ERROR_IO,        /* the host failed: broken device, no descriptors */
    ERROR_NO_SPACE,  /* the disk or a quota is full: the same call works when there is room */
    ERROR_DENIED,    /* permission or credentials are missing; a person must provide them */
    ERROR_BUG,       /* a bug of graphmill where must() cannot abort: in another process */
};

struct error {
    enum error_code code;
    int line; /* where error_set() was called */
    const char *file;
    int advice;        /* the byte of `message` where the advice begins; 0: there is no advice */
    char message[768]; /* "outermost context: ...: innermost cause: advice" */
};

/* A mark in the format of error_set() or error_add(). It is at the start of the advice, which is
 * what the reader can do about the failure. It is not part of the message:
 *   error_set(err, ERROR_INPUT, "%s:%d: expected a number, found '%s': " ADVICE "write one",
 * ...) */
#define ADVICE "\001"

#define MUST_CHECK             __attribute__((warn_unused_result))
#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))

/* Records a failure and returns `code`, so that a function can end with it. Here and below `err`
 * may be NULL if the caller only needs the code. */
#define error_set(err, code, ...) error_set_at(err, code, __FILE__, __LINE__, __VA_ARGS__)
enum error_code error_set_at(struct error *err, enum error_code code, const char *file, int line,
                             const char *format, ...) PRINTF_LIKE(5, 6);

/* Does the same as error_set(), with ": <text of errno>" after the message. Instead of ERROR_IO it
 * returns a more exact code if errno allows that: ERROR_NO_SPACE for a full disk or quota,
 * ERROR_NO_MEMORY for no memory. */
#define error_set_errno(err, code, ...)                                                            \
    error_set_errno_at(err, code, __FILE__, __LINE__, __VA_ARGS__)
enum error_code error_set_errno_at(struct error *err, enum error_code code, const char *file,
                                   int line, const char *format, ...) PRINTF_LIKE(5, 6);

/* Puts "<text>: " before the message in `err`, sets its code, and returns `code`. ERROR_NONE
 * changes nothing, so a function may end with it. */
enum error_code error_context(struct error *err, enum error_code code, const char *format, ...)
    PRINTF_LIKE(3, 4);

/* Appends text to the message in `err`, for a caller that knows advice or more of the cause.
 * Returns `code`, like error_context(). The first advice of a message stays its advice. */
enum error_code error_add(struct error *err, enum error_code code, const char *format, ...)
    PRINTF_LIKE(3, 4);

/* Returns the advice in the message of `err`; "" if it has none. Borrowed. No code searches the
 * text of a message for advice. */
const char *error_advice(const struct error *err);

/* Replaces the first occurrence of `from` in the message by `to`: the name of a copy by the name
 * that the user knows. Returns whether `from` occurred. */
bool error_rename(struct error *err, const char *from, const char *to);

/* Ignores a failure that nothing depends on: error_ignore(file_remove_all(path, NULL)), followed by
 * a comment that says why. */
static inline void error_ignore(enum error_code code)
{
    (void)code;
}

/* Returns whether the same call may succeed later without any change by a person. */
int error_is_retryable(enum error_code code);

/* Returns the exit status of a program that ends with `code`, from sysexits.h: 0 done; 64 usage; 65
 * corrupt or bad data; 70 a bug; 71 no memory; 74 an error of the host; 75 try again; 78 bad
 * settings. */
int error_exit_status(enum error_code code);

/* Aborts with file and line when `condition` is false. It is for bugs only, never for bytes or
 * settings from outside, and stays on in release builds. */
#define must(condition) ((condition) ? (void)0 : must_failed(#condition, __FILE__, __LINE__))
_Noreturn void must_failed(const char *condition, const char *file, int line);

#endif
