/*
 * text - numbers and names out of strings, strictly: no trailing rubbish, no silent overflow.
 */
#ifndef COMMON_BASE_TEXT_H
#define COMMON_BASE_TEXT_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The whole of `text` [size] as a decimal integer / a finite number. False when it is not one or does
 * not fit. `text` need not end in NUL. text_double accepts what strtod does, but for hexadecimal
 * forms; "nan" and "inf" are returned as such: the caller decides. */
bool text_int64(const char *text, size_t size, int64_t *out);
bool text_double(const char *text, size_t size, double *out);

/* "512M", "2GiB", "1500000": bytes, with the suffixes k K M G T (powers of 1024; an optional iB or B). */
bool text_bytes(const char *text, uint64_t *out);

/* 1,234,567 - for people. Returns `buffer`. */
const char *text_count(int64_t value, char buffer[32]);
/* 0.8123, or "undefined" for NaN - for people. Returns `buffer`. */
const char *text_score(double value, char buffer[32]);
/* 1.5 GiB - for people. Returns `buffer`. */
const char *text_size(uint64_t bytes, char buffer[32]);

/* In place: each decimal fraction in `text` as the shortest that reads back as the same double, 0.005 for 0.0050000000000000001 - for
 * people. Settings are kept with all digits, since runs are named by them. Returns `text`. */
char *text_shorten_fractions(char *text);

/* The entry of the NULL-terminated `names` that is nearest to `text` (edit distance), or NULL when
 * none is near enough to be a likely slip of the pen. */
const char *text_nearest(const char *text, const char *const *names);

/* The digits of `value` to `out`, without NUL; returns how many, at most TEXT_NUMBER_SIZE. */
enum { TEXT_NUMBER_SIZE = 20 };
size_t text_put_number(char *out, uint64_t value);

/* Whether `text` begins with `with`, or ends with it. */
bool text_begins(const char *text, const char *with);
bool text_ends(const char *text, const char *with);

/* Copies `source` into `target` [size] when it fits, NUL included. */
bool text_copy(char *target, size_t size, const char *source);

/* Replaces `from`, where it stands first in `text` [size], by `to`; text that no longer fits is cut
 * off at the end. False when `from` is not there. */
bool text_replace(char *text, size_t size, const char *from, const char *to);

/* Replaces ${NAME} and ${NAME:-default} by environment variables.
 * Fails: ERROR_INVALID for an unset name without default, an open brace, or a result over `size`. */
MUST_CHECK enum error_code text_expand(const char *text, char *out, size_t size, struct error *err);

/* Prints `text` and a line end to stdout, where `column` columns of the line are taken already.
 * Breaks lines between words, so that none is longer than 100 columns unless a word is, and begins
 * each further line in the same column. */
void text_print_wrapped(const char *text, int column);

/* Reads a duration, "90" or "90s", "15m", "2h" or "1d", as seconds. False for anything else, or
 * for more than a hundred years. */
bool text_seconds(const char *text, int64_t *out);

#endif
