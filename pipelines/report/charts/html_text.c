#include "pipelines/report/charts/html_text.h"

#include "common/base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Makes room for `more` bytes and a NUL. */
static bool grow(struct html_text *html, size_t more)
{
    if (memory_grow(&html->text, &html->capacity, html->size + more + 1, "a report", NULL) !=
        ERROR_NONE)
        html->failed = true;
    return !html->failed;
}

static void append(struct html_text *html, const char *text, size_t size)
{
    if (html->failed || !grow(html, size))
        return;
    memcpy(html->text + html->size, text, size);
    html->size += size;
    html->text[html->size] = '\0';
}

void html_put(struct html_text *html, const char *format, ...)
{
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    const int size = vsnprintf(NULL, 0, format, list);
    if (size > 0 && !html->failed && grow(html, (size_t)size)) {
        (void)vsnprintf(html->text + html->size, (size_t)size + 1, format, again);
        html->size += (size_t)size;
    }
    va_end(again);
    va_end(list);
}

static const char *escape_of(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

void html_put_escaped(struct html_text *html, const char *text)
{
    const char *plain = text;
    for (; *text; text++) {
        const char *escape = escape_of(*text);
        if (!escape)
            continue;
        append(html, plain, (size_t)(text - plain));
        append(html, escape, strlen(escape));
        plain = text + 1;
    }
    append(html, plain, (size_t)(text - plain));
}

void html_put_element(struct html_text *html, const char *tag, const char *text)
{
    html_put(html, "<%s>", tag);
    html_put_escaped(html, text);
    html_put(html, "</%s>", tag);
}

enum error_code html_text_finish(const struct html_text *html, struct error *err)
{
    return html->failed
               ? error_set(err, ERROR_NO_MEMORY, "no memory for a report of %zu bytes", html->size)
               : ERROR_NONE;
}

void html_text_release(struct html_text *html)
{
    memory_free(html->text);
    *html = (struct html_text){0};
}
