/*
 * time_text - the times of edges and nodes: text to a 64-bit integer, by the rule that
 * ingest.time_format gives.
 *
 *   auto           integers as they are, in whatever unit the file has, or dates of ISO 8601; a
 *                  column has only one of the two
 *   number         integers as they are
 *   number*1000    numbers times a power of ten, rounded to the nearest integer: seconds with a
 *                  fraction become milliseconds
 *   unix           seconds since 1970, with a fraction or without, as dates
 *   iso            dates of ISO 8601, 2019-01-31 or 2019-01-31T12:30:59.123456+02:00
 *   %d.%m.%Y %H:%M another pattern of dates (common/formats/date_text.h)
 *
 * Dates become nanoseconds since 1970-01-01T00:00:00 UTC, which reach from 1677-09-21 to
 * 2262-04-11; with " in seconds", " in milliseconds" or " in microseconds" behind unix, iso or a
 * pattern they become that unit, and reach further. Nothing is rounded but by number*1000: a finer
 * fraction than the unit is refused. A date without a zone is UTC; a column has zones everywhere or
 * nowhere.
 */
#ifndef COMMON_FORMATS_TIME_TEXT_H
#define COMMON_FORMATS_TIME_TEXT_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TIME_PATTERN_SIZE = 128, TIME_UNIT_SIZE = 16 };

enum time_kind {
    TIME_AUTO, /* not known yet: the first value decides */
    TIME_NUMBERS,
    TIME_UNIX,
    TIME_DATES,       /* ISO 8601 without a zone */
    TIME_ZONED_DATES, /* ISO 8601 with one */
    TIME_PATTERN,
};

struct time_format {
    enum time_kind kind;
    bool may_have_zone; /* of TIME_DATES: a zone is taken, too, because no value has been seen */
    int scale;          /* numbers: times 10^scale; dates: decimals of a second, 0, 3, 6 or 9 */
    char pattern[TIME_PATTERN_SIZE];
};

/* Says why a text is no time by a format. Both are fixed texts for messages. */
struct time_fault {
    const char *expected;
    const char *advice; /* begins with ": " or "; "; NULL: there is none */
};
/* Adds the advice to the message in `err`, which says what was expected and found, and returns
 * `code`. */
enum error_code time_fault_advise(const struct time_fault *fault, enum error_code code,
                                  struct error *err);

/* Reads a setting; an empty one is auto. Returns NULL, or what was expected, for a message. */
const char *time_format_read(const char *setting, struct time_format *out);
/* Narrows a format by the first value of a column: `auto` to numbers or dates, and dates to those
 * with a zone or without. A text that is neither leaves it as it is. All values of the column are
 * then read by the narrowed format, and so a mixed column is refused. */
void time_format_narrow(struct time_format *format, const char *text, size_t size);
/* Writes what the integers mean: "number", "number*1000", "nanoseconds since 1970". Formats of
 * equal meaning can be compared with each other. Returns `text`. */
const char *time_format_meaning(const struct time_format *format, char text[32]);
/* A format of that meaning, which reads numbers as they are or dates of ISO 8601; an empty meaning
 * is "number". False for another text. */
bool time_format_of_meaning(const char *meaning, struct time_format *out);
/* The value of one text. False with *fault when it is none. */
bool time_text_value(const struct time_format *format, const char *text, size_t size, int64_t *out,
                     struct time_fault *fault);
/* The same for a number of a binary file. */
bool time_number_value(const struct time_format *format, double number, int64_t *out,
                       struct time_fault *fault);
bool time_integer_value(const struct time_format *format, int64_t number, int64_t *out,
                        struct time_fault *fault);
/* Whether a field is a date of ISO 8601, so that a column of such fields is a column of times. */
bool time_text_is_date(const char *text, size_t size);

#endif
