#include "common/formats/text/time_text.h"

#include "common/formats/text/date_text.h"
#include "common/formats/text/scaled_decimal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SCALE_MAX = 18, DATE_SCALE = 9 };

static const struct {
    const char *name;
    int scale;
} units[] = {{"seconds", 0}, {"milliseconds", 3}, {"microseconds", 6}, {"nanoseconds", 9}};
enum { UNIT_COUNT = sizeof units / sizeof *units };

static const char other_dates[] = "; add a line `time_format: \"%d.%m.%Y %H:%M\"` below `ingest:` "
                                  "with the pattern of other dates";

static bool refuse(struct time_fault *fault, const char *expected, const char *advice)
{
    *fault = (struct time_fault){expected, advice};
    return false;
}

enum error_code time_fault_advise(const struct time_fault *fault, enum error_code code,
                                  struct error *err)
{
    const char *advice = fault->advice;
    return advice ? error_add(err, code, "%.2s" ADVICE "%s", advice, advice + 2) : code;
}

static int64_t power_of_ten(int exponent)
{
    int64_t power = 1;
    for (int i = 0; i < exponent; i++)
        power *= 10;
    return power;
}

/* Cuts " in seconds" off a setting of `size` bytes, and sets its scale. */
static void take_unit(const char *setting, size_t *size, int *scale)
{
    for (int u = 0; u < UNIT_COUNT; u++) {
        char end[24];
        const size_t length = (size_t)snprintf(end, sizeof end, " in %s", units[u].name);
        if (*size > length && strcmp(setting + *size - length, end) == 0) {
            *size -= length;
            *scale = units[u].scale;
            return;
        }
    }
}

/* Returns the power of ten after the star of number*1000, or -1. */
static int scale_of(const char *text)
{
    int zeros = 0;
    if (*text++ != '1')
        return -1;
    for (; *text == '0'; text++)
        zeros++;
    return *text || zeros > SCALE_MAX ? -1 : zeros;
}

static bool is_word(const char *setting, size_t size, const char *word)
{
    return size == strlen(word) && memcmp(setting, word, size) == 0;
}

static const char *read_dates(const char *setting, struct time_format *out)
{
    size_t size = strlen(setting);
    out->scale = DATE_SCALE;
    take_unit(setting, &size, &out->scale);
    if (is_word(setting, size, "unix")) {
        out->kind = TIME_UNIX;
        return NULL;
    }
    if (is_word(setting, size, "iso")) {
        out->kind = TIME_DATES;
        out->may_have_zone = true;
        return NULL;
    }
    if (!memchr(setting, '%', size))
        return "auto, number, number*1000, unix, iso or a pattern of dates like %d.%m.%Y, and "
               "behind the last "
               "three ` in seconds`, milliseconds or microseconds";
    if (size >= sizeof out->pattern)
        return "a pattern of at most 127 bytes";
    memcpy(out->pattern, setting, size);
    out->pattern[size] = '\0';
    out->kind = TIME_PATTERN;
    return date_pattern_fault(out->pattern);
}

const char *time_format_read(const char *setting, struct time_format *out)
{
    *out = (struct time_format){.kind = TIME_AUTO};
    if (!*setting || strcmp(setting, "auto") == 0)
        return NULL;
    if (strncmp(setting, "number", 6) != 0)
        return read_dates(setting, out);
    out->kind = TIME_NUMBERS;
    if (!setting[6])
        return NULL;
    out->scale = setting[6] == '*' ? scale_of(setting + 7) : -1;
    return out->scale >= 0 ? NULL : "number* and a power of ten, 10 to 1000000000000000000";
}

void time_format_narrow(struct time_format *format, const char *text, size_t size)
{
    struct date date;
    int64_t number = 0;
    const bool may_be_date =
        format->kind == TIME_AUTO || (format->kind == TIME_DATES && format->may_have_zone);
    if (may_be_date && date_text_iso(text, size, &date)) {
        format->scale = format->kind == TIME_AUTO ? DATE_SCALE : format->scale;
        format->kind = date.has_zone ? TIME_ZONED_DATES : TIME_DATES;
        format->may_have_zone = false;
    } else if (format->kind == TIME_AUTO &&
               scaled_decimal_read(text, size, 0, &number) != SCALED_DECIMAL_NO_NUMBER) {
        format->kind = TIME_NUMBERS;
    }
}

const char *time_format_meaning(const struct time_format *format, char text[32])
{
    const char *unit = "";
    for (int u = 0; u < UNIT_COUNT; u++)
        unit = units[u].scale == format->scale ? units[u].name : unit;
    if (format->kind == TIME_AUTO || format->kind == TIME_NUMBERS)
        (void)snprintf(text, 32, format->scale ? "number*%.0f" : "number", pow(10, format->scale));
    else
        (void)snprintf(text, 32, "%s since 1970", unit);
    return text;
}

bool time_format_of_meaning(const char *meaning, struct time_format *out)
{
    static const char since[] = " since 1970";
    const size_t size = strlen(meaning);
    if (!size || strncmp(meaning, "number", 6) == 0)
        return !time_format_read(size ? meaning : "number", out);
    *out = (struct time_format){.kind = TIME_DATES, .may_have_zone = true};
    for (int u = 0; u < UNIT_COUNT; u++) {
        const size_t unit = strlen(units[u].name);
        out->scale = units[u].scale;
        if (strncmp(meaning, units[u].name, unit) == 0 && strcmp(meaning + unit, since) == 0)
            return true;
    }
    return false;
}

/* Converts a date to units of 10^-scale seconds. */
static bool in_units(const struct time_format *format, const struct date *date, int64_t *out,
                     struct time_fault *fault)
{
    const int64_t in_second = power_of_ten(format->scale);
    const int64_t unit = power_of_ten(DATE_SCALE - format->scale);
    int64_t seconds = date->seconds, rest = date->nanoseconds / unit, whole = 0;
    if (date->nanoseconds % unit)
        return refuse(fault, "a date without a finer fraction than the unit of ingest.time_format",
                      NULL);
    if (seconds < 0 && rest) { /* count from the next second, so that the least date fits */
        seconds++;
        rest -= in_second;
    }
    if (__builtin_mul_overflow(seconds, in_second, &whole) ||
        __builtin_add_overflow(whole, rest, out))
        return refuse(fault, "a date from 1677-09-21 to 2262-04-11, which nanoseconds reach",
                      "; for others add a line `time_format: iso in seconds` below `ingest:`, or "
                      "the pattern of the dates with ` in seconds` behind it");
    return true;
}

static bool number_value(const struct time_format *format, const char *text, size_t size,
                         int64_t *out, struct time_fault *fault)
{
    switch (scaled_decimal_read(text, size, format->scale, out)) {
    case SCALED_DECIMAL_EXACT:
        return true;
    case SCALED_DECIMAL_ROUNDED:
        if (format->kind == TIME_NUMBERS && format->scale)
            return true;
        return format->kind == TIME_UNIX
                   ? refuse(fault,
                            "seconds without a finer fraction than the unit of ingest.time_format",
                            NULL)
                   : refuse(fault, "an integer",
                            ": add a line `time_format: number*1000` below `ingest:`, with the "
                            "power of "
                            "ten that makes all times integers");
    case SCALED_DECIMAL_TOO_LARGE:
        return refuse(fault, "a time that fits 64 bits", NULL);
    case SCALED_DECIMAL_NO_NUMBER:
        break;
    }
    if (time_text_is_date(text, size))
        return refuse(fault, "a number, as the times before it or ingest.time_format say", NULL);
    return refuse(fault, "a number", other_dates);
}

static bool date_value(const struct time_format *format, const char *text, size_t size,
                       int64_t *out, struct time_fault *fault)
{
    struct date date;
    if (!date_text_iso(text, size, &date))
        return refuse(fault, "a date of ISO 8601, as the times before it or ingest.time_format say",
                      other_dates);
    if (date.has_zone && format->kind == TIME_DATES && !format->may_have_zone)
        return refuse(fault, "a date without a zone, as in the first line", NULL);
    if (!date.has_zone && format->kind == TIME_ZONED_DATES)
        return refuse(fault, "a date with a zone, as in the first line", NULL);
    return in_units(format, &date, out, fault);
}

bool time_text_value(const struct time_format *format, const char *text, size_t size, int64_t *out,
                     struct time_fault *fault)
{
    struct time_format narrowed;
    struct date date;
    switch (format->kind) {
    case TIME_AUTO:
        narrowed = *format;
        time_format_narrow(&narrowed, text, size);
        return narrowed.kind != TIME_AUTO
                   ? time_text_value(&narrowed, text, size, out, fault)
                   : refuse(fault, "an integer, or a date of ISO 8601 like 2019-01-31T12:30:00Z",
                            other_dates);
    case TIME_NUMBERS:
    case TIME_UNIX:
        return number_value(format, text, size, out, fault);
    case TIME_DATES:
    case TIME_ZONED_DATES:
        return date_value(format, text, size, out, fault);
    case TIME_PATTERN:
        break;
    }
    return date_text_read(text, size, format->pattern, &date)
               ? in_units(format, &date, out, fault)
               : refuse(fault, "a date as ingest.time_format has it", NULL);
}

bool time_integer_value(const struct time_format *format, int64_t number, int64_t *out,
                        struct time_fault *fault)
{
    char text[24];
    const int size = snprintf(text, sizeof text, "%lld", (long long)number);
    return time_text_value(format, text, (size_t)size, out, fault);
}

bool time_number_value(const struct time_format *format, double number, int64_t *out,
                       struct time_fault *fault)
{
    char text[32];
    if (!isfinite(number))
        return refuse(fault, "a finite number", ": write a number there");
    if (fabs(number) >= 0x1p63)
        return refuse(fault, "a time that fits 64 bits", NULL);
    if (number == trunc(number))
        return time_integer_value(format, (int64_t)number, out, fault);
    const int size = snprintf(text, sizeof text, "%.17g", number);
    return time_text_value(format, text, (size_t)size, out, fault);
}

bool time_text_is_date(const char *text, size_t size)
{
    struct date date;
    return date_text_iso(text, size, &date);
}
