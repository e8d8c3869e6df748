/*
 * xml_stream - parses an XML document as its bytes arrive (expat).
 *
 * It keeps nothing of the elements that have passed, so memory is bounded by the largest tag, and
 * the time is linear in its size too. It refuses a DOCTYPE, and with it entities that the document
 * defines, and elements nested deeper than XML_DEPTH_MAX.
 */
#ifndef COMMON_BASE_XML_STREAM_H
#define COMMON_BASE_XML_STREAM_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { XML_DEPTH_MAX = 64 };

struct xml_stream;

struct xml_visitor {
    void *context;
    /* An element begins: its name, and alternately names and values of its attributes,
     * NULL-terminated. NULL: not wanted. */
    enum error_code (*begin)(void *context, const char *element, const char *const *attribute,
                             struct error *err);
    /* An element ends: the text in it after the last element that began or ended, cut to text_max
     * bytes (is_cut). */
    enum error_code (*end)(void *context, const char *element, const char *text, bool is_cut,
                           struct error *err);
    size_t text_max;
    const char *name;          /* for messages, borrowed: a path, "an answer of S3" */
    enum error_code malformed; /* the code for a document that is not XML */
};

/* Owns: *out; the caller calls xml_stream_free(). The visitor is copied. */
MUST_CHECK enum error_code xml_stream_new(const struct xml_visitor *visitor,
                                          struct xml_stream **out, struct error *err);
void xml_stream_free(struct xml_stream *stream); /* NULL is allowed */
/* Parses the next bytes of the document; is_last: there are no more. Fails: as the visitor does;
 * visitor.malformed naming line and column. */
MUST_CHECK enum error_code xml_stream_feed(struct xml_stream *stream, const void *bytes,
                                           size_t size, bool is_last, struct error *err);
/* Returns the current line, from 1; for visitors. */
int64_t xml_stream_line(const struct xml_stream *stream);

#endif
