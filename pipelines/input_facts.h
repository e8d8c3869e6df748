/*
 * input_facts - what an input that is no table shows of itself, as far as a pipeline file for it
 * needs to know.
 *
 *   a folder with node-label.csv, train.csv    classes of nodes and a split of its own
 *   graph.mtx, "symmetric" in its first line   edges alone, each of which stands for both ways
 */
#ifndef PIPELINES_INPUT_FACTS_H
#define PIPELINES_INPUT_FACTS_H

#include "common/base/error.h"
#include "stages/plan/format_detect.h"

#include <stdbool.h>
#include <stdint.h>

enum input_targets {
    TARGETS_NONE, /* links are learnt */
    TARGETS_NODES,
    TARGETS_GRAPHS,
    TARGETS_GRAPH_NUMBERS
};

enum { FACT_SIZE = 200 };

struct input_facts {
    const char *path;
    bool is_table; /* a table of edges: nothing else is found here */
    char format_name[32];
    char seen[FORMAT_SEEN_SIZE];
    enum input_targets targets;
    bool has_split;            /* of nodes or graphs, or held-out edges where links are learnt */
    bool names_types;          /* several types of nodes or edges, each with a name */
    bool has_triples;          /* one type of nodes, several of edges */
    char direction[FACT_SIZE]; /* what the input says of it; "": nothing */
    char label_columns[FACT_SIZE]; /* of GraphML: the key of the classes */
};

/* Fails: ERROR_NOT_FOUND; ERROR_INPUT if the format is not clear, or the input is damaged. */
MUST_CHECK enum error_code input_facts_find(const char *path, struct input_facts *out,
                                            struct error *err);
/* Does the same for an input whose format, the place of its row in dataset_format.h, is known. The
 * caller has set out->path. */
MUST_CHECK enum error_code input_facts_look(int64_t format, struct input_facts *out,
                                            struct error *err);

#endif
