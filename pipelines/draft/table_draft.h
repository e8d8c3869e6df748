/*
 * table_draft - the pipeline file that graphmill init writes for tables of edges and nodes.
 *
 * Each choice has a comment that says what it was made from, so that a person sees what to change.
 */
#ifndef PIPELINES_DRAFT_TABLE_DRAFT_H
#define PIPELINES_DRAFT_TABLE_DRAFT_H

#include "common/base/json.h"
#include "pipelines/draft/table_facts.h"

/* Appends the file to `out`. `edges` and `nodes` are the tables as the pipeline file names them.
 * json_writer_finish() reports a failure to allocate memory. */
void table_draft_write(const struct table_facts *facts, const char *name, const char *edges,
                       const char *nodes, struct json_writer *out);

#endif
