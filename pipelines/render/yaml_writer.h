/*
 * yaml_writer - YAML to a stream, line by line, indented by how deep it stands.
 *
 *   yaml_line(&w, "spec:");                       spec:
 *   yaml_in(&w);
 *   yaml_text(&w, "image", "a:1");                  image: "a:1"
 *   yaml_line(&w, "args:");                         args:
 *   yaml_item(&w, "--threads=2");                   - "--threads=2"
 *
 * What comes from outside goes through yaml_text(), yaml_item() and yaml_block() alone, which quote it.
 */
#ifndef PIPELINES_RENDER_YAML_WRITER_H
#define PIPELINES_RENDER_YAML_WRITER_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stdio.h>

struct yaml_writer {
    FILE *out;   /* borrowed */
    int depth;   /* two spaces each */
    int dash;    /* the next line begins an item: "- " in place of its last two spaces */
    bool failed; /* for want of memory; what was written is not whole */
};

void yaml_in(struct yaml_writer *w);
void yaml_out(struct yaml_writer *w, int levels);
/* The next line begins an item of a sequence; what follows of it stands at the same depth. */
void yaml_dash(struct yaml_writer *w);
void yaml_line(struct yaml_writer *w, const char *format, ...) PRINTF_LIKE(2, 3);
/* key: "value" */
void yaml_text(struct yaml_writer *w, const char *key, const char *value);
/* - "value" */
void yaml_item(struct yaml_writer *w, const char *value);
/* key: and `text` below it, line for line. A line feed is added where the last line has none. */
void yaml_block(struct yaml_writer *w, const char *key, const char *text);

#endif
