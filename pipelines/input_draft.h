/*
 * input_draft - the pipeline file that graphmill init writes for an input that is no table.
 */
#ifndef PIPELINES_INPUT_DRAFT_H
#define PIPELINES_INPUT_DRAFT_H

#include "common/base/json.h"
#include "pipelines/input_facts.h"

/* Appends the file to `out`. `path`: the input as the file names it. A failure to grow is reported
 * by json_writer_finish(). */
void input_draft_write(const struct input_facts *facts, const char *name, const char *path,
                       struct json_writer *out);

#endif
