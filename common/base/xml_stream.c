#include "common/base/xml_stream.h"

#include "common/base/memory.h"

#include <expat.h>
#include <limits.h>
#include <string.h>

enum { HELD_BYTES_MAX = 1 << 28 };

struct xml_stream {
    XML_Parser parser;
    struct xml_visitor visitor;
    struct error *err; /* of the current call */
    enum error_code rc;
    int depth;
    size_t size;       /* of `text` */
    uint64_t seen;     /* number of elements and pieces of text so far */
    size_t unfinished; /* bytes since the parser last reported one */
    uint8_t *held;     /* bytes that the parser gets later */
    size_t held_size, held_capacity;
    bool is_cut;
    char *text; /* [text_max + 1] */
};

static void stop(struct xml_stream *stream, enum error_code rc)
{
    stream->rc = rc;
    if (rc != ERROR_NONE)
        (void)XML_StopParser(stream->parser, XML_FALSE);
}

static enum error_code refuse(struct xml_stream *stream, const char *what)
{
    return error_set(stream->err, stream->visitor.malformed, "%s:%lu: %s", stream->visitor.name,
                     XML_GetCurrentLineNumber(stream->parser), what);
}

static void XMLCALL begin_element(void *context, const XML_Char *name, const XML_Char **attribute)
{
    struct xml_stream *stream = context;
    stream->size = 0;
    stream->is_cut = false;
    stream->seen++;
    if (stream->rc != ERROR_NONE)
        return;
    if (++stream->depth > XML_DEPTH_MAX)
        stop(stream, refuse(stream, "expected at most 64 elements in each other, found more"));
    else if (stream->visitor.begin)
        stop(stream, stream->visitor.begin(stream->visitor.context, name,
                                           (const char *const *)attribute, stream->err));
}

static void XMLCALL take_text(void *context, const XML_Char *text, int size)
{
    struct xml_stream *stream = context;
    stream->seen++;
    const size_t room = stream->visitor.text_max - stream->size;
    const size_t taken = (size_t)size < room ? (size_t)size : room;
    memcpy(stream->text + stream->size, text, taken);
    stream->size += taken;
    stream->is_cut |= taken < (size_t)size;
}

static void XMLCALL end_element(void *context, const XML_Char *name)
{
    struct xml_stream *stream = context;
    stream->seen++;
    if (stream->rc != ERROR_NONE)
        return;
    stream->text[stream->size] = '\0';
    stream->size = 0;
    stream->depth--;
    stop(stream, stream->visitor.end(stream->visitor.context, name, stream->text, stream->is_cut,
                                     stream->err));
    stream->is_cut = false;
}

static void XMLCALL begin_doctype(void *context, const XML_Char *name, const XML_Char *system_id,
                                  const XML_Char *public_id, int has_internal_subset)
{
    struct xml_stream *stream = context;
    (void)name;
    (void)system_id;
    (void)public_id;
    (void)has_internal_subset;
    if (stream->rc == ERROR_NONE)
        stop(stream, error_add(stream->err,
                               refuse(stream, "expected no DOCTYPE, which could define entities, "
                                              "found one"),
                               ": " ADVICE "remove it"));
}

enum error_code xml_stream_new(const struct xml_visitor *visitor, struct xml_stream **out,
                               struct error *err)
{
    enum error_code rc = memory_new(out, 1, "a reader of XML", err);
    if (rc != ERROR_NONE)
        return rc;
    struct xml_stream *stream = *out;
    stream->visitor = *visitor;
    rc = memory_new(&stream->text, visitor->text_max + 1, "the text of an element", err);
    if (rc == ERROR_NONE)
        stream->parser = XML_ParserCreate(NULL);
    if (rc == ERROR_NONE && !stream->parser)
        rc = error_set(err, ERROR_NO_MEMORY, "no memory for a reader of XML");
    if (rc != ERROR_NONE)
        return rc;
    XML_SetUserData(stream->parser, stream);
    XML_SetElementHandler(stream->parser, begin_element, end_element);
    XML_SetCharacterDataHandler(stream->parser, take_text);
    XML_SetStartDoctypeDeclHandler(stream->parser, begin_doctype);
    return ERROR_NONE;
}

void xml_stream_free(struct xml_stream *stream)
{
    if (!stream)
        return;
    if (stream->parser)
        XML_ParserFree(stream->parser);
    memory_free(stream->held);
    memory_free(stream->text);
    memory_free(stream);
}

static enum error_code parse(struct xml_stream *stream, const void *bytes, size_t size,
                             bool is_last, struct error *err)
{
    const uint64_t before = stream->seen;
    must(size <= INT_MAX);
    stream->err = err;
    const enum XML_Status status =
        XML_Parse(stream->parser, bytes ? bytes : "", (int)size, is_last ? 1 : 0);
    stream->unfinished = stream->seen == before ? stream->unfinished + size : 0;
    if (stream->rc != ERROR_NONE || status == XML_STATUS_OK)
        return stream->rc;
    return error_set(err, stream->visitor.malformed,
                     "%s is no XML: line %lu, column %lu: expected it to go on, found: %s",
                     stream->visitor.name, XML_GetCurrentLineNumber(stream->parser),
                     XML_GetCurrentColumnNumber(stream->parser),
                     XML_ErrorString(XML_GetErrorCode(stream->parser)));
}

/* Feeds the parser. expat reads an unfinished tag from its start again with each piece, which takes
 * time that grows with the square of its size. So after a piece in which nothing ended, the parser
 * gets no bytes until as many are waiting as it already has of the tag. */
enum error_code xml_stream_feed(struct xml_stream *stream, const void *bytes, size_t size,
                                bool is_last, struct error *err)
{
    const size_t wait = stream->unfinished < HELD_BYTES_MAX ? stream->unfinished : HELD_BYTES_MAX;
    const bool holds = stream->held_size || (!is_last && size < wait);
    if (!holds)
        return parse(stream, bytes, size, is_last, err);
    enum error_code rc = memory_grow(&stream->held, &stream->held_capacity,
                                     stream->held_size + size, "a tag of XML", err);
    if (rc != ERROR_NONE)
        return rc;
    if (size)
        memcpy(stream->held + stream->held_size, bytes, size);
    stream->held_size += size;
    if (!is_last && stream->held_size < wait)
        return ERROR_NONE;
    rc = parse(stream, stream->held, stream->held_size, is_last, err);
    stream->held_size = 0;
    return rc;
}

int64_t xml_stream_line(const struct xml_stream *stream)
{
    return (int64_t)XML_GetCurrentLineNumber(stream->parser);
}
