/*
 * openke_reader - a knowledge graph as OpenKE keeps it: a folder of text files, each with a count
 * in its first line (format: openke).
 *
 *   train2id.txt      3                  so many lines follow
 *                     0 5 1              head, tail, relation: the relation stands last
 *   valid2id.txt, test2id.txt            the same; held out with ingest.edge_split: given
 *   entity2id.txt     14541              and a line `name id` for each entity; without it entities are called by their numbers
 *   relation2id.txt   237                the same of relations; without it they are called edge-0, edge-1, ...
 *
 * Entities and relations keep their numbers. Format: https://github.com/thunlp/OpenKE.
 */
#ifndef STAGES_INGEST_FORMATS_OPENKE_READER_H
#define STAGES_INGEST_FORMATS_OPENKE_READER_H

#include "common/base/error.h"
#include "stages/ingest/build/dataset_builder.h"

/* Pushes everything of the folder settings->ingest.path into `builder`, which the caller finishes.
 * Fails: ERROR_NOT_FOUND; ERROR_INPUT naming file and line, what was expected and found. */
MUST_CHECK enum error_code openke_reader_run(const struct pipeline_settings *settings,
                                             struct dataset_builder *builder, struct error *err);

#endif
