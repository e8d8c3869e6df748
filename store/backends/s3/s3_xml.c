#include "store/backends/s3/s3_xml.h"

#include "common/base/text.h"
#include "common/base/xml_stream.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

struct reading {
    s3_xml_visitor visit;
    void *context;
};

static enum error_code end_element(void *context, const char *element, const char *text,
                                   bool is_cut, struct error *err)
{
    const struct reading *reading = context;
    (void)is_cut; /* a text longer than any key is of no use here */
    return reading->visit(reading->context, element, text, err);
}

enum error_code s3_xml_visit(const void *bytes, size_t size, s3_xml_visitor visit, void *context,
                             struct error *err)
{
    struct reading reading = {visit, context};
    const struct xml_visitor visitor = {.context = &reading,
                                        .end = end_element,
                                        .text_max = S3_XML_TEXT_MAX,
                                        .name = "an answer of S3",
                                        .malformed = ERROR_CORRUPT};
    struct xml_stream *stream = NULL;
    if (size > INT_MAX)
        return error_set(err, ERROR_CORRUPT, "an answer of S3 has %zu bytes", size);
    enum error_code rc = xml_stream_new(&visitor, &stream, err);
    if (rc == ERROR_NONE)
        rc = xml_stream_feed(stream, bytes, size, true, err);
    xml_stream_free(stream);
    return rc;
}

struct failure_search {
    struct s3_failure *out;
    bool found;
};

static enum error_code look_for_failure(void *context, const char *element, const char *text,
                                        struct error *err)
{
    struct failure_search *search = context;
    struct s3_failure *out = search->out;
    (void)err;
    if (strcmp(element, "Code") == 0)
        (void)snprintf(out->code, sizeof out->code, "%.*s", (int)sizeof out->code - 1, text);
    else if (strcmp(element, "Message") == 0)
        (void)snprintf(out->message, sizeof out->message, "%.*s", (int)sizeof out->message - 1,
                       text);
    search->found = strcmp(element, "Error") == 0; /* the outermost element, which ends last */
    return ERROR_NONE;
}

bool s3_xml_failure(const void *bytes, size_t size, struct s3_failure *out)
{
    struct failure_search search = {.out = out};
    *out = (struct s3_failure){.code = ""};
    if (s3_xml_visit(bytes, size, look_for_failure, &search, NULL) == ERROR_NONE && search.found)
        return true;
    *out = (struct s3_failure){.code = ""};
    return false;
}

struct text_search {
    const char *element;
    char *out;
    size_t size;
};

static enum error_code look_for_text(void *context, const char *element, const char *text,
                                     struct error *err)
{
    const struct text_search *search = context;
    if (*search->out || strcmp(element, search->element) != 0)
        return ERROR_NONE;
    return text_copy(search->out, search->size, text)
               ? ERROR_NONE
               : error_set(err, ERROR_CORRUPT, "an answer of S3: <%s> is longer than %zu bytes",
                           element, search->size - 1);
}

enum error_code s3_xml_find(const void *bytes, size_t size, const char *element, char *out,
                            size_t out_size, struct error *err)
{
    struct text_search search = {element, out, out_size};
    *out = '\0';
    return s3_xml_visit(bytes, size, look_for_text, &search, err);
}
