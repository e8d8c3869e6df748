/*
 * generator - a graph of planted communities, of any size, from a seed (format: generated).
 *
 * Degrees follow a power law, a share `homophily` of the edges stays inside a community, communities
 * are the classes, features are a class's centre plus noise. The model is the degree-corrected
 * stochastic block model (Karrer and Newman 2011). Streamed: memory is bounded by a few numbers a class
 * and a node. The same settings and seed give the same bytes, whatever the memory and thread count.
 */
#ifndef STAGES_INGEST_GENERATE_GENERATOR_H
#define STAGES_INGEST_GENERATE_GENERATOR_H

#include "common/base/error.h"
#include "stages/ingest/build/dataset_builder.h"

/* Pushes nodes, edges, features, labels and splits; the caller finishes the builder. */
MUST_CHECK enum error_code generator_run(const struct pipeline_settings *settings,
                                         struct dataset_builder *builder, struct error *err);

#endif
