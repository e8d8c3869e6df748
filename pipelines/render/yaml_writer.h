/*
 * yaml_writer - writes YAML to a stream, line by line, with indentation.
 *
 *   yaml_line(&w, "spec:");                       spec:
 *   yaml_in(&w);
 *   yaml_text(&w, "image", "a:1");                  image: "a:1"
 *   yaml_line(&w, "args:");                         args:
 *   yaml_item(&w, "--threads=2");                   - "--threads=2"
 *
 * Text from outside must go through yaml_text(), yaml_item() or yaml_block(), which quote it.
 */
#ifndef PIPELINES_RENDER_YAML_WRITER_H
#define PIPELINES_RENDER_YAML_WRITER_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stdio.h>

struct yaml_writer {
    FILE *out;   /* borrowed */
    int depth;   /* levels of two spaces */
    int dash;    /* the next line begins an item: "- " replaces its last two spaces */
    bool failed; /* out of memory: the output is incomplete */
};

void yaml_in(struct yaml_writer *w);
void yaml_out(struct yaml_writer *w, int levels);
/* Makes the next line the start of a sequence item; its other lines have the same depth. */
void yaml_dash(struct yaml_writer *w);
void yaml_line(struct yaml_writer *w, const char *format, ...) PRINTF_LIKE(2, 3);
/* Writes key: "value". */
void yaml_text(struct yaml_writer *w, const char *key, const char *value);
/* Writes - "value". */
void yaml_item(struct yaml_writer *w, const char *value);
/* Writes key: and `text` below it, line by line. A line feed is added if the last line has none. */
void yaml_block(struct yaml_writer *w, const char *key, const char *text);

#endif
