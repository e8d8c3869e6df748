/*
 * input_facts - what graphmill init finds out about an input that is not a table, for the pipeline
 * file that it writes.
 *
 *   a folder with node-label.csv, train.csv    classes of nodes, and a split of its own
 *   graph.mtx, "symmetric" in its first line   edges only, each valid in both directions
 */
#ifndef PIPELINES_DRAFT_INPUT_FACTS_H
#define PIPELINES_DRAFT_INPUT_FACTS_H

#include "common/base/error.h"
#include "stages/plan/settings/format_detect.h"

#include <stdbool.h>
#include <stdint.h>

enum input_targets {
    TARGETS_NONE, /* links are learned */
    TARGETS_NODES,
    TARGETS_GRAPHS,
    TARGETS_GRAPH_NUMBERS
};

enum { FACT_SIZE = 200 };

struct input_facts {
    const char *path;
    bool is_table; /* a table of edges; input_facts finds nothing else about it */
    char format_name[32];
    char seen[FORMAT_SEEN_SIZE];
    enum input_targets targets;
    bool has_split;            /* of nodes or graphs, or of held-out edges when links are learned */
    bool names_types;          /* several named types of nodes or of edges */
    bool has_triples;          /* one type of nodes, several of edges */
    char direction[FACT_SIZE]; /* direction of edges that the input states; "": none */
    char label_columns[FACT_SIZE]; /* GraphML: the key of the classes */
};

/* Finds the facts of the input at `path`. Fails: ERROR_NOT_FOUND; ERROR_INPUT if the format is not
 * clear, or the input is damaged. */
MUST_CHECK enum error_code input_facts_find(const char *path, struct input_facts *out,
                                            struct error *err);
/* Does the same for an input of known format. `format` is the index of its row in dataset_format.h.
 * The caller has set out->path. */
MUST_CHECK enum error_code input_facts_look(int64_t format, struct input_facts *out,
                                            struct error *err);

#endif
