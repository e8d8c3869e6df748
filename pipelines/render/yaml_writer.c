#include "pipelines/render/yaml_writer.h"

#include <string.h>

void yaml_in(struct yaml_writer *w)
{
    w->depth++;
}

void yaml_out(struct yaml_writer *w, int levels)
{
    w->depth -= levels;
}

void yaml_dash(struct yaml_writer *w)
{
    w->dash = 1;
}

static void begin(struct yaml_writer *w)
{
    const int spaces = 2 * (w->depth - w->dash);
    (void)fprintf(w->out, "%*s%s", spaces, "", w->dash ? "- " : "");
    w->dash = 0;
}

void yaml_line(struct yaml_writer *w, const char *format, ...)
{
    va_list args;
    begin(w);
    va_start(args, format);
    (void)vfprintf(w->out, format, args);
    va_end(args);
    (void)fputc('\n', w->out);
}

static void put_quoted(struct yaml_writer *w, const char *value)
{
    (void)fputc('"', w->out);
    for (const char *c = value; *c; c++)
        if (*c == '"' || *c == '\\')
            (void)fprintf(w->out, "\\%c", *c);
        else if ((unsigned char)*c < 0x20 || *c == 0x7f)
            (void)fprintf(w->out, "\\x%02x", (unsigned)*c);
        else
            (void)fputc(*c, w->out);
    (void)fputs("\"\n", w->out);
}

void yaml_text(struct yaml_writer *w, const char *key, const char *value)
{
    begin(w);
    (void)fprintf(w->out, "%s: ", key);
    put_quoted(w, value);
}

void yaml_item(struct yaml_writer *w, const char *value)
{
    begin(w);
    (void)fputs("- ", w->out);
    put_quoted(w, value);
}

void yaml_block(struct yaml_writer *w, const char *key, const char *text)
{
    yaml_line(w, "%s: |2+", key);
    w->depth++;
    while (*text) {
        const size_t size = strcspn(text, "\n");
        if (size)
            (void)fprintf(w->out, "%*s%.*s", 2 * w->depth, "", (int)size, text);
        (void)fputc('\n', w->out);
        text += size + (text[size] == '\n');
    }
    w->depth--;
}
