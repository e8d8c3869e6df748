/*
 * s3_xml - answers of S3, read by Expat.
 */
#ifndef STORE_BACKENDS_S3_XML_H
#define STORE_BACKENDS_S3_XML_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Called at the end of each element with the text that stands directly in it, cut at S3_XML_TEXT_MAX bytes. */
enum { S3_XML_TEXT_MAX = 2048 };
typedef enum error_code (*s3_xml_visitor)(void *context, const char *element, const char *text,
                                          struct error *err);

/* Fails: ERROR_CORRUPT for what is no XML, naming line and column; ERROR_NO_MEMORY; what the visitor says. */
MUST_CHECK enum error_code s3_xml_visit(const void *bytes, size_t size, s3_xml_visitor visit,
                                        void *context, struct error *err);

/* <Error><Code>..</Code><Message>..</Message></Error>; false for anything else, and the texts are "" then. */
struct s3_failure {
    char code[64], message[256];
};
bool s3_xml_failure(const void *bytes, size_t size, struct s3_failure *out);

/* The text of the first `element` that is not empty, into `out` [size]; "" when there is none. */
MUST_CHECK enum error_code s3_xml_find(const void *bytes, size_t size, const char *element,
                                       char *out, size_t out_size, struct error *err);

#endif
