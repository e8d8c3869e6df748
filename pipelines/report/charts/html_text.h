/*
 * html_text - a growing buffer of HTML and SVG.
 *
 * Markup is added as it is; text from outside is escaped. A failure to allocate is kept, and
 * html_text_finish() reports it once.
 *
 *     html_put(&page, "<td>%d</td><td>", count);
 *     html_put_escaped(&page, name);
 */
#ifndef PIPELINES_REPORT_CHARTS_HTML_TEXT_H
#define PIPELINES_REPORT_CHARTS_HTML_TEXT_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct html_text { /* {0} is empty */
    char *text;    /* [size] and a NUL, owned */
    size_t size, capacity;
    bool failed;
};

/* Appends as printf() does. The result is markup, so no %s argument may come from outside. */
void html_put(struct html_text *html, const char *format, ...) PRINTF_LIKE(2, 3);
/* Appends text with &, <, >, " and ' escaped; safe between tags and inside quoted attributes. */
void html_put_escaped(struct html_text *html, const char *text);
/* Appends "<TAG>", the escaped text and "</TAG>". `tag` is a name such as "td". */
void html_put_element(struct html_text *html, const char *tag, const char *text);
/* Fails: ERROR_NO_MEMORY when any earlier call could not grow the text. */
MUST_CHECK enum error_code html_text_finish(const struct html_text *html, struct error *err);
void html_text_release(struct html_text *html);

#endif
