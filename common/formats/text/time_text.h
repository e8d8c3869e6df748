/*
 * time_text - converts the times of edges and nodes from text to a 64-bit integer, by the rule in
 * ingest.time_format.
 *
 *   auto           integers unchanged, in the unit of the file, or dates of ISO 8601; a column has
 *                  only one of the two
 *   number         integers unchanged
 *   number*1000    numbers times a power of ten, rounded to the nearest integer: seconds with a
 *                  fraction become milliseconds
 *   unix           seconds since 1970, with a fraction or without, as dates
 *   iso            dates of ISO 8601, 2019-01-31 or 2019-01-31T12:30:59.123456+02:00
 *   %d.%m.%Y %H:%M another pattern of dates (common/formats/text/date_text.h)
 *
 * Dates become nanoseconds since 1970-01-01T00:00:00 UTC, which cover 1677-09-21 to 2262-04-11;
 * with " in seconds", " in milliseconds" or " in microseconds" after unix, iso or a pattern they
 * become that unit, and cover more. Only number*1000 rounds; otherwise a fraction finer than the
 * unit is refused. A date without a zone is UTC; either all dates of a column have a zone, or none
 * has.
 */
#ifndef COMMON_FORMATS_TEXT_TIME_TEXT_H
#define COMMON_FORMATS_TEXT_TIME_TEXT_H

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
    TIME_ZONED_DATES, /* ISO 8601 with a zone */
    TIME_PATTERN,
};

struct time_format {
    enum time_kind kind;
    /* for TIME_DATES: a zone is accepted, too, because no value has been seen */
    bool may_have_zone;
    int scale; /* numbers: times 10^scale; dates: decimals of a second, 0, 3, 6 or 9 */
    char pattern[TIME_PATTERN_SIZE];
};

/* Says why a format does not accept a text. Both are fixed texts for messages. */
struct time_fault {
    const char *expected;
    const char *advice; /* begins with ": " or "; "; NULL: there is none */
};
/* Adds the advice to the message in `err`, which says what was expected and found, and returns
 * `code`. */
enum error_code time_fault_advise(const struct time_fault *fault, enum error_code code,
                                  struct error *err);

/* Parses a setting; an empty one is auto. Returns NULL, or what was expected, for a message. */
const char *time_format_read(const char *setting, struct time_format *out);
/* Narrows a format by the first value of a column: `auto` to numbers or dates, and dates to those
 * with a zone or without. A text that is neither changes nothing. All values of the column are then
 * read by the narrowed format, so a mixed column is refused. */
void time_format_narrow(struct time_format *format, const char *text, size_t size);
/* Writes the meaning of the integers: "number", "number*1000", "nanoseconds since 1970". Values of
 * formats with the same meaning are comparable. Returns `text`. */
const char *time_format_meaning(const struct time_format *format, char text[32]);
/* Returns a format with that meaning, which reads plain numbers or dates of ISO 8601; an empty
 * meaning is "number". Returns false for another text. */
bool time_format_of_meaning(const char *meaning, struct time_format *out);
/* Converts one text. Returns false and sets *fault if it is no time. */
bool time_text_value(const struct time_format *format, const char *text, size_t size, int64_t *out,
                     struct time_fault *fault);
/* Does the same for a number of a binary file. */
bool time_number_value(const struct time_format *format, double number, int64_t *out,
                       struct time_fault *fault);
bool time_integer_value(const struct time_format *format, int64_t number, int64_t *out,
                        struct time_fault *fault);
/* Returns whether a field is a date of ISO 8601; a column of such fields is a column of times. */
bool time_text_is_date(const char *text, size_t size);

#endif
