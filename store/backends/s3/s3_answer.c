#include "store/backends/s3/s3_answer.h"

#include "common/base/text.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

void s3_answer_forget(struct s3_request *r)
{
    r->answer_size = 0;
    r->total = 0;
    r->status = 0;
    r->modified_s = r->now_s = 0;
    r->no_bucket = false;
    r->etag[0] = r->found_writer[0] = '\0';
}

/* Copies the value of a header line without blanks at its ends. Returns NULL if the line has
 * another name, or is too long. */
static const char *header_value(const char *line, size_t size, const char *name, char *out,
                                size_t out_size)
{
    const size_t name_size = strlen(name);
    if (size <= name_size || strncasecmp(line, name, name_size) != 0 || line[name_size] != ':')
        return NULL;
    const char *value = line + name_size + 1;
    size -= name_size + 1;
    while (size && strchr(" \r\n", value[size - 1]))
        size--;
    for (; size && *value == ' '; value++)
        size--;
    if (size >= out_size)
        return NULL;
    memcpy(out, value, size);
    out[size] = '\0';
    return out;
}

static void take_number(const char *text, uint64_t *out)
{
    int64_t number = 0;
    if (text_int64(text, strlen(text), &number) && number >= 0)
        *out = (uint64_t)number;
}

/* Parses "Wed, 21 Oct 2015 07:28:00 GMT", the only form that HTTP allows for new dates. */
static void take_date(const char *text, int64_t *out)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    struct tm date = {0};
    char month[4] = "";
    /* No field has more than four digits. NOLINTNEXTLINE(cert-err34-c) */
    if (sscanf(text, "%*3[A-Za-z], %2d %3[A-Za-z] %4d %2d:%2d:%2d GMT", &date.tm_mday, month,
               &date.tm_year, &date.tm_hour, &date.tm_min, &date.tm_sec) != 6)
        return;
    const char *at = strlen(month) == 3 ? strstr(months, month) : NULL;
    if (!at)
        return;
    date.tm_mon = (int)(at - months) / 3;
    date.tm_year -= 1900;
    *out = (int64_t)timegm(&date);
}

void s3_answer_header(struct s3_request *request, const char *line, size_t size)
{
    char value[S3_ETAG_SIZE];
    if (header_value(line, size, "etag", value, sizeof value))
        must(text_copy(request->etag, sizeof request->etag, value));
    if (header_value(line, size, "x-amz-meta-writer", value, sizeof value) &&
        !text_copy(request->found_writer, sizeof request->found_writer, value))
        request->found_writer[0] = '\0';
    if (header_value(line, size, "last-modified", value, sizeof value))
        take_date(value, &request->modified_s);
    if (header_value(line, size, "date", value, sizeof value))
        take_date(value, &request->now_s);
    if (!request->has_range && header_value(line, size, "content-length", value, sizeof value))
        take_number(value, &request->total);
    if (header_value(line, size, "content-range", value, sizeof value) && strchr(value, '/'))
        take_number(strchr(value, '/') + 1, &request->total);
}

bool s3_answer_may_pass(int status, const char *code)
{
    static const int passing[] = {408, 425, 429, 500, 502, 503, 504};
    static const char *const passing_code[] = {"ConditionalRequestConflict", "OperationAborted",
                                               "RequestTimeout", "SlowDown", "InternalError"};
    for (size_t i = 0; i < sizeof passing / sizeof *passing; i++)
        if (status == passing[i])
            return true;
    for (size_t i = 0; i < sizeof passing_code / sizeof *passing_code; i++)
        if (strcmp(code, passing_code[i]) == 0)
            return true;
    return false;
}

enum error_code s3_answer_code(int status, const char *code)
{
    if (status == 404 || status == 410)
        return ERROR_NOT_FOUND;
    if (status == 412)
        return ERROR_BUSY;
    if (status == 401 || status == 403)
        return strcmp(code, "QuotaExceeded") == 0 ? ERROR_NO_SPACE : ERROR_DENIED;
    if (status == 507 || strcmp(code, "QuotaExceeded") == 0)
        return ERROR_NO_SPACE;
    return status >= 300 && status < 500 ? ERROR_INVALID : ERROR_IO;
}
