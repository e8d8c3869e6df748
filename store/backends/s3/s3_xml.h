/*
 * s3_xml - reads the XML answers of S3 with Expat.
 */
#ifndef STORE_BACKENDS_S3_S3_XML_H
#define STORE_BACKENDS_S3_S3_XML_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* A visitor is called at the end of each element with the text directly inside it, cut at
 * S3_XML_TEXT_MAX bytes. */
enum { S3_XML_TEXT_MAX = 2048 };
typedef enum error_code (*s3_xml_visitor)(void *context, const char *element, const char *text,
                                          struct error *err);

/* Visits all elements. Fails: ERROR_CORRUPT for bytes that are not XML, naming line and column;
 * ERROR_NO_MEMORY; as the visitor. */
MUST_CHECK enum error_code s3_xml_visit(const void *bytes, size_t size, s3_xml_visitor visit,
                                        void *context, struct error *err);

/* Reads <Error><Code>..</Code><Message>..</Message></Error>. Returns false, with empty texts, for
 * anything else. */
struct s3_failure {
    char code[64], message[256];
};
bool s3_xml_failure(const void *bytes, size_t size, struct s3_failure *out);

/* Copies the text of the first `element` that is not empty to `out` [out_size]; "" if there is
 * none. */
MUST_CHECK enum error_code s3_xml_find(const void *bytes, size_t size, const char *element,
                                       char *out, size_t out_size, struct error *err);

#endif
