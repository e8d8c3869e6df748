/*
 * html_text - a growing text of HTML and SVG.
 *
 * Markup is put as it is, text from outside escaped. A failure to grow is kept and told once, by html_text_finish().
 *
 *     html_put(&page, "<td>%d</td><td>", count);
 *     html_put_escaped(&page, name);
 */
#ifndef PIPELINES_REPORT_HTML_TEXT_H
#define PIPELINES_REPORT_HTML_TEXT_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct html_text { /* {0} is empty */
    char *text;    /* [size] and a NUL, owned */
    size_t size, capacity;
    bool failed;
};

/* Appends as printf() does: the format is markup, so no %s of it may come from outside. */
void html_put(struct html_text *html, const char *format, ...) PRINTF_LIKE(2, 3);
/* Appends text with &, <, >, " and ' escaped: good between tags and inside quoted attributes. */
void html_put_escaped(struct html_text *html, const char *text);
/* "<TAG>", the text escaped, "</TAG>". `tag`: a name such as "td". */
void html_put_element(struct html_text *html, const char *tag, const char *text);
/* Fails: ERROR_NO_MEMORY when any call before could not grow the text. */
MUST_CHECK enum error_code html_text_finish(const struct html_text *html, struct error *err);
void html_text_release(struct html_text *html);

#endif
