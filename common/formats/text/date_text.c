#include "common/formats/text/date_text.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* A text that is being parsed, and the values found so far. */
struct reading {
    const char *at, *end;
    int year, month, day, day_of_year; /* 0: not given */
    int hour, minute, second;
    bool is_pm, has_half_day, has_zone;
    int zone; /* seconds east of UTC */
    int32_t nanoseconds;
};

/* Reads `least` to `most` digits that form a number from `low` to `high`. */
static bool digits(struct reading *r, int least, int most, int low, int high, int *out)
{
    int value = 0, count = 0;
    for (; count < most && r->at < r->end && isdigit((unsigned char)*r->at); count++)
        value = value * 10 + (*r->at++ - '0');
    *out = value;
    return count >= least && value >= low && value <= high;
}

static bool literal(struct reading *r, char c)
{
    if (r->at == r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

static bool blanks(struct reading *r)
{
    const char *from = r->at;
    while (r->at < r->end && isspace((unsigned char)*r->at))
        r->at++;
    return r->at > from;
}

/* Reads one of `names` in full, or its first three letters; *out is its number from 1. */
static bool name(struct reading *r, const char *const *names, int *out)
{
    for (int i = 0; names[i]; i++) {
        const size_t full = strlen(names[i]), left = (size_t)(r->end - r->at);
        const size_t size = left >= full && strncasecmp(r->at, names[i], full) == 0 ? full : 3;
        if (left < size || strncasecmp(r->at, names[i], size) != 0)
            continue;
        r->at += size;
        *out = i + 1;
        return true;
    }
    return false;
}

static bool month_name(struct reading *r)
{
    static const char *const months[] = {"January",  "February", "March",  "April",     "May",
                                         "June",     "July",     "August", "September", "October",
                                         "November", "December", NULL};
    return name(r, months, &r->month);
}

static bool weekday_name(struct reading *r)
{
    static const char *const days[] = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                       "Friday", "Saturday", "Sunday",    NULL};
    int ignored = 0;
    return name(r, days, &ignored);
}

static bool half_day(struct reading *r)
{
    static const char *const halves[] = {"AM", "PM", NULL};
    for (int i = 0; i < 2; i++)
        if (r->end - r->at >= 2 && strncasecmp(r->at, halves[i], 2) == 0) {
            r->at += 2;
            r->is_pm = i == 1;
            r->has_half_day = true;
            return true;
        }
    return false;
}

static bool fraction(struct reading *r)
{
    int count = 0;
    r->nanoseconds = 0;
    for (; count < 9 && r->at < r->end && isdigit((unsigned char)*r->at); count++)
        r->nanoseconds = r->nanoseconds * 10 + (*r->at++ - '0');
    for (int i = count; i < 9; i++)
        r->nanoseconds *= 10;
    return count > 0;
}

static bool zone(struct reading *r)
{
    static const char *const utc[] = {"UTC", "GMT", "Z"};
    int hours = 0, minutes = 0;
    r->has_zone = true;
    for (size_t i = 0; i < sizeof utc / sizeof *utc; i++) {
        const size_t size = strlen(utc[i]);
        if ((size_t)(r->end - r->at) >= size && strncasecmp(r->at, utc[i], size) == 0) {
            r->at += size;
            return true;
        }
    }
    const bool is_west = r->at < r->end && *r->at == '-';
    if (!(literal(r, '+') || literal(r, '-')) || !digits(r, 2, 2, 0, 23, &hours))
        return false;
    const bool has_minutes = literal(r, ':') || (r->at < r->end && isdigit((unsigned char)*r->at));
    if (has_minutes && !digits(r, 2, 2, 0, 59, &minutes))
        return false;
    r->zone = (hours * 60 + minutes) * (is_west ? -60 : 60);
    return true;
}

static bool short_year(struct reading *r)
{
    if (!digits(r, 2, 2, 0, 99, &r->year))
        return false;
    r->year += r->year >= 69 ? 1900 : 2000;
    return true;
}

/* Returns the longer form of a conversion that stands for several, or NULL. */
static const char *expansion(char conversion)
{
    switch (conversion) {
    case 'F':
        return "%Y-%m-%d";
    case 'T':
        return "%H:%M:%S";
    case 'D':
        return "%m/%d/%y";
    case 'R':
        return "%H:%M";
    default:
        return NULL;
    }
}

static bool by_pattern(struct reading *r, const char *pattern);

static bool convert(struct reading *r, char conversion)
{
    switch (conversion) {
    case 'Y':
        return digits(r, 4, 4, 1, 9999, &r->year);
    case 'y':
        return short_year(r);
    case 'm':
        return digits(r, 1, 2, 1, 12, &r->month);
    case 'e':
        blanks(r);
        return digits(r, 1, 2, 1, 31, &r->day);
    case 'd':
        return digits(r, 1, 2, 1, 31, &r->day);
    case 'j':
        return digits(r, 1, 3, 1, 366, &r->day_of_year);
    case 'H':
        return digits(r, 1, 2, 0, 23, &r->hour);
    case 'I':
        return digits(r, 1, 2, 1, 12, &r->hour);
    case 'M':
        return digits(r, 1, 2, 0, 59, &r->minute);
    case 'S':
        return digits(r, 1, 2, 0, 59, &r->second);
    case 'f':
        return fraction(r);
    case 'b':
    case 'B':
        return month_name(r);
    case 'a':
    case 'A':
        return weekday_name(r);
    case 'p':
        return half_day(r);
    case 'z':
        return zone(r);
    case '%':
        return literal(r, '%');
    default:
        return expansion(conversion) && by_pattern(r, expansion(conversion));
    }
}

static bool by_pattern(struct reading *r, const char *pattern)
{
    for (; *pattern; pattern++) {
        if (isspace((unsigned char)*pattern)) {
            while (isspace((unsigned char)pattern[1]))
                pattern++;
            if (!blanks(r))
                return false;
        } else if (*pattern == '%') {
            if (!convert(r, *++pattern))
                return false;
        } else if (!literal(r, *pattern)) {
            return false;
        }
    }
    return true;
}

static bool is_leap(int year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static int days_of(int month, int year)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && is_leap(year) ? 1 : 0);
}

/* Returns the days from 1970-01-01 to the first day of a year, in the Gregorian calendar. */
static int64_t days_before(int year)
{
    const int64_t y = year - 1;
    return y * 365 + y / 4 - y / 100 + y / 400 - 719162;
}

static bool finish(struct reading *r, struct date *out)
{
    if (r->at != r->end)
        return false;
    int64_t days = days_before(r->year);
    if (r->day_of_year) {
        if (r->day_of_year > (is_leap(r->year) ? 366 : 365))
            return false;
        days += r->day_of_year - 1;
    } else {
        const int month = r->month ? r->month : 1, day = r->day ? r->day : 1;
        if (day > days_of(month, r->year))
            return false;
        for (int m = 1; m < month; m++)
            days += days_of(m, r->year);
        days += day - 1;
    }
    if (r->has_half_day)
        r->hour = r->hour % 12 + (r->is_pm ? 12 : 0);
    out->seconds = ((days * 24 + r->hour) * 60 + r->minute) * 60 + r->second - r->zone;
    out->nanoseconds = r->nanoseconds;
    out->has_zone = r->has_zone;
    return true;
}

static bool iso_day(struct reading *r)
{
    return digits(r, 4, 4, 1, 9999, &r->year) && literal(r, '-') &&
           digits(r, 2, 2, 1, 12, &r->month) && literal(r, '-') && digits(r, 2, 2, 1, 31, &r->day);
}

static bool iso_clock(struct reading *r)
{
    if (!literal(r, 'T') && !literal(r, 't') && !literal(r, ' '))
        return false;
    if (!digits(r, 2, 2, 0, 23, &r->hour) || !literal(r, ':') ||
        !digits(r, 2, 2, 0, 59, &r->minute))
        return false;
    if (literal(r, ':') && !digits(r, 2, 2, 0, 59, &r->second))
        return false;
    if ((literal(r, '.') || literal(r, ',')) && !fraction(r))
        return false;
    while (r->at < r->end && *r->at == ' ')
        r->at++;
    return r->at == r->end || zone(r);
}

bool date_text_iso(const char *text, size_t size, struct date *out)
{
    struct reading r = {.at = text, .end = text + size};
    return iso_day(&r) && (r.at == r.end || iso_clock(&r)) && finish(&r, out);
}

bool date_text_read(const char *text, size_t size, const char *pattern, struct date *out)
{
    struct reading r = {.at = text, .end = text + size};
    return by_pattern(&r, pattern) && finish(&r, out);
}

/* Lists the conversions of a pattern by their letters. */
static bool has_any(const char *pattern, const char *letters)
{
    for (; *pattern; pattern++)
        if (*pattern == '%' && *++pattern && strchr(letters, *pattern))
            return true;
    return false;
}

const char *date_pattern_fault(const char *pattern)
{
    for (const char *at = pattern; *at; at++)
        if (*at == '%' && (!*++at || !strchr("YymdejHIMSfbBaApzFTDR%", *at)))
            return "one of %Y %y %m %d %e %j %H %I %M %S %f %b %a %p %z %F %T %D %R %% behind a "
                   "percent sign";
    if (!has_any(pattern, "YyFD"))
        return "a year (%Y or %y)";
    if (has_any(pattern, "I") != has_any(pattern, "p"))
        return "%I and %p together";
    return NULL;
}
