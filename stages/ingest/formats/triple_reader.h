/*
 * triple_reader - a graph whose lines are head, relation and tail by name, in N-Triples (format:
 * ntriples) or SIF (format: sif).
 *
 *   <http://a/1> <http://a/knows> <http://a/2> .    N-Triples: the ids are http://a/1 and http://a/2, the relation http://a/knows
 *   <http://a/1> <http://a/name> "Ann" .            a literal is no node: such lines are counted, said, and left out
 *   TP53 pp MDM2 CDK2                               SIF (Cytoscape): two edges of the relation pp; TP53 alone is a node without edges
 *
 * Nodes and relations are numbered in the order in which they appear. The file is read twice: names first.
 * Formats: https://www.w3.org/TR/n-triples/, https://manual.cytoscape.org (Supported Network File Formats).
 */
#ifndef STAGES_INGEST_FORMATS_TRIPLE_READER_H
#define STAGES_INGEST_FORMATS_TRIPLE_READER_H

#include "common/base/error.h"
#include "stages/ingest/build/dataset_builder.h"

/* Pushes everything of settings->ingest.path into `builder`, which the caller finishes.
 * Fails: ERROR_NOT_FOUND; ERROR_INPUT naming file and line, what was expected and found. */
MUST_CHECK enum error_code ntriples_reader_run(const struct pipeline_settings *settings,
                                               uint64_t memory_bytes,
                                               struct dataset_builder *builder, struct error *err);
MUST_CHECK enum error_code sif_reader_run(const struct pipeline_settings *settings,
                                          uint64_t memory_bytes, struct dataset_builder *builder,
                                          struct error *err);

#endif
