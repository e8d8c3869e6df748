/*
 * input_draft - the pipeline file that graphmill init writes for an input that is not a table.
 */
#ifndef PIPELINES_DRAFT_INPUT_DRAFT_H
#define PIPELINES_DRAFT_INPUT_DRAFT_H

#include "common/base/json.h"
#include "pipelines/draft/input_facts.h"

/* Appends the file to `out`. `path` is the input as the pipeline file names it.
 * json_writer_finish() reports a failure to allocate memory. */
void input_draft_write(const struct input_facts *facts, const char *name, const char *path,
                       struct json_writer *out);

#endif
