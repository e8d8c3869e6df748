/*
 * draft_text - the lines of a pipeline file that graphmill init writes.
 *
 * Comments begin in one column. json_writer_finish() reports a failure to allocate memory.
 */
#ifndef PIPELINES_DRAFT_DRAFT_TEXT_H
#define PIPELINES_DRAFT_DRAFT_TEXT_H

#include "common/base/error.h"
#include "common/base/json.h"

#include <stdbool.h>

void draft_put(struct json_writer *out, const char *format, ...) PRINTF_LIKE(2, 3);
/* Writes "  key: value", then "# " and the comment in the comment column. */
void draft_put_setting(struct json_writer *out, const char *key, const char *value,
                       const char *comment, ...) PRINTF_LIKE(4, 5);
/* Writes a text in the quotes of YAML. */
void draft_put_quoted(struct json_writer *out, const char *text);
/* Writes "  key: " and the text in quotes. */
void draft_put_text(struct json_writer *out, const char *key, const char *text);

/* Writes the first lines. `seen` says what the file was made from. */
void draft_begin(struct json_writer *out, const char *seen, const char *name, bool links);
/* Writes the section `partition`. */
void draft_put_partition(struct json_writer *out);
/* Writes the sections after `partition` for a model that samples neighbours, for links or for
 * classes. */
void draft_put_sampled_model(struct json_writer *out, bool links);

#endif
