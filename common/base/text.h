/*
 * text - parses numbers and names strictly, without trailing characters or silent overflow, and
 * formats texts.
 */
#ifndef COMMON_BASE_TEXT_H
#define COMMON_BASE_TEXT_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Parse the whole of `text` [size] as a decimal integer or a finite number. Return false if it is
 * not one or does not fit. `text` need not end in NUL. text_double() accepts what strtod() does,
 * except hexadecimal forms; it returns "nan" and "inf" as such, and the caller decides. */
bool text_int64(const char *text, size_t size, int64_t *out);
bool text_double(const char *text, size_t size, double *out);

/* Parses a size in bytes such as "512M", "2GiB" or "1500000", with the suffixes k K M G T (powers
 * of 1024; an optional iB or B). */
bool text_bytes(const char *text, uint64_t *out);

/* Writes a number for people, such as 1,234,567. Returns `buffer`. */
const char *text_count(int64_t value, char buffer[32]);
/* Writes a score for people, such as 0.8123, or "undefined" for NaN. Returns `buffer`. */
const char *text_score(double value, char buffer[32]);
/* Writes a size for people, such as 1.5 GiB. Returns `buffer`. */
const char *text_size(uint64_t bytes, char buffer[32]);

/* Shortens, in place, each decimal fraction in `text` to the shortest that reads back as the same
 * double, 0.005 for 0.0050000000000000001. For people: stored settings keep all digits, because the
 * names of runs depend on them. Returns `text`. */
char *text_shorten_fractions(char *text);

/* Returns the entry of the NULL-terminated `names` that is nearest to `text` (edit distance), or
 * NULL when none is near enough to be a likely typing error. */
const char *text_nearest(const char *text, const char *const *names);

/* Writes the digits of `value` to `out`, without NUL. Returns their number, at most
 * TEXT_NUMBER_SIZE. */
enum { TEXT_NUMBER_SIZE = 20 };
size_t text_put_number(char *out, uint64_t value);

/* Return whether `text` begins with `with`, or ends with it. */
bool text_begins(const char *text, const char *with);
bool text_ends(const char *text, const char *with);

/* Copies `source` into `target` [size] if it fits, NUL included. Returns whether it fits. */
bool text_copy(char *target, size_t size, const char *source);

/* Replaces the first `from` in `text` [size] by `to`; text that no longer fits is cut off at the
 * end. Returns false when there is no `from`. */
bool text_replace(char *text, size_t size, const char *from, const char *to);

/* Replaces ${NAME} and ${NAME:-default} by environment variables.
 * Fails: ERROR_INVALID for an unset name without default, an open brace, or a result over
 * `size`. */
MUST_CHECK enum error_code text_expand(const char *text, char *out, size_t size, struct error *err);

/* Prints `text` and a line end to stdout, with `column` columns of the line already filled. It
 * breaks lines between words, so that no line is longer than 100 columns unless a word is, and
 * begins each further line in the same column. */
void text_print_wrapped(const char *text, int column);

/* Parses a duration, "90" or "90s", "15m", "2h" or "1d", as seconds. Returns false for anything
 * else, or for more than a hundred years. */
bool text_seconds(const char *text, int64_t *out);

#endif
