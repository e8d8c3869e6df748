#include "store/backends/s3_xml.h"

#include "common/base/text.h"

#include <expat.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

struct reading {
    XML_Parser parser;
    s3_xml_visitor visit;
    void *context;
    struct error *err;
    enum error_code rc;
    size_t size; /* of `text` */
    char text[S3_XML_TEXT_MAX + 1];
};

static void XMLCALL begin_element(void *context, const XML_Char *name, const XML_Char **attribute)
{
    struct reading *r = context;
    (void)name;
    (void)attribute;
    r->size = 0;
}

static void XMLCALL take_text(void *context, const XML_Char *text, int size)
{
    struct reading *r = context;
    const size_t room = S3_XML_TEXT_MAX - r->size;
    const size_t taken = (size_t)size < room ? (size_t)size : room;
    memcpy(r->text + r->size, text, taken);
    r->size += taken;
}

static void XMLCALL end_element(void *context, const XML_Char *name)
{
    struct reading *r = context;
    if (r->rc != ERROR_NONE)
        return;
    r->text[r->size] = '\0';
    r->size = 0;
    r->rc = r->visit(r->context, name, r->text, r->err);
    if (r->rc != ERROR_NONE)
        (void)XML_StopParser(r->parser, XML_FALSE);
}

enum error_code s3_xml_visit(const void *bytes, size_t size, s3_xml_visitor visit, void *context,
                             struct error *err)
{
    struct reading reading = {.visit = visit, .context = context, .err = err};
    if (size > INT_MAX)
        return error_set(err, ERROR_CORRUPT, "an answer of S3 has %zu bytes", size);
    reading.parser = XML_ParserCreate(NULL);
    if (!reading.parser)
        return error_set(err, ERROR_NO_MEMORY, "no memory to read an answer of S3");
    XML_SetUserData(reading.parser, &reading);
    XML_SetElementHandler(reading.parser, begin_element, end_element);
    XML_SetCharacterDataHandler(reading.parser, take_text);
    const enum XML_Status status = XML_Parse(reading.parser, bytes ? bytes : "", (int)size, 1);
    enum error_code rc = reading.rc;
    if (rc == ERROR_NONE && status != XML_STATUS_OK)
        rc = error_set(err, ERROR_CORRUPT, "an answer of S3 is no XML: line %lu, column %lu: %s",
                       XML_GetCurrentLineNumber(reading.parser),
                       XML_GetCurrentColumnNumber(reading.parser),
                       XML_ErrorString(XML_GetErrorCode(reading.parser)));
    XML_ParserFree(reading.parser);
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
    search->found = strcmp(element, "Error") == 0; /* the last to end */
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
