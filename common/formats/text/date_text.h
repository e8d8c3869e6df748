/*
 * date_text - dates with or without a time of day, as seconds and nanoseconds since 1970-01-01 UTC.
 *
 * Dates are read by a pattern like strptime's, in English and independent of the locale:
 *   %Y              four digits
 *   %y              two digits; 69 to 99 are of the 20th century
 *   %m %d %e %H %I %M %S   one or two digits
 *   %j              one to three digits
 *   %b %B           the name of a month
 *   %a %A           the name of a weekday, which is not checked
 *   %p              AM or PM
 *   %f              a fraction of a second of 1 to 9 digits
 *   %z              a zone: Z, UTC, GMT, +02, +0200, +02:00
 *   %F %T %D %R     %Y-%m-%d, %H:%M:%S, %m/%d/%y and %H:%M
 *   %%              a percent sign
 * A run of blanks matches any run of blanks; every other character matches itself. A date without a
 * zone is UTC.
 */
#ifndef COMMON_FORMATS_TEXT_DATE_TEXT_H
#define COMMON_FORMATS_TEXT_DATE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct date {
    int64_t seconds;     /* since 1970-01-01T00:00:00 UTC; negative before that */
    int32_t nanoseconds; /* 0 to 999,999,999, to be added */
    bool has_zone;
};

/* Reads ISO 8601: 2019-01-31, optionally followed by a T or a blank and 12:30 or 12:30:59 or
 * 12:30:59.123456789, and by a zone. */
bool date_text_iso(const char *text, size_t size, struct date *out);
/* Reads the whole of `text` by `pattern`, which date_pattern_fault() must accept. Returns false if
 * it does not match, or names a day that the month does not have. */
bool date_text_read(const char *text, size_t size, const char *pattern, struct date *out);
/* Returns NULL, or the error in a pattern, for messages that say what was expected: "a year
 * (%Y)". */
const char *date_pattern_fault(const char *pattern);

#endif
