/*
 * graph_figures - what the stored topology says of a graph and its parts: degrees, and which part reads of which.
 *
 * One pass over all edges, part by part, so it costs what reading the topology costs.
 */
#ifndef PIPELINES_REPORT_GRAPH_FIGURES_H
#define PIPELINES_REPORT_GRAPH_FIGURES_H

#include "common/base/error.h"
#include "store/objects/store.h"
#include "store/records/partition_book.h"

#include <stdint.h>

enum { DEGREE_BINS = 34, CUT_PARTS_MAX = 64 };

struct graph_figures { /* {0} is empty */
    uint64_t nodes_of_degree
        [DEGREE_BINS]; /* in-degree 0, 1, 2..3, 4..7, and so on, of all relations together */
    uint64_t nodes, edges, largest_degree;
    double *cut;   /* [cut_parts, cut_parts]: edges that end in part i and begin in part j; owned */
    int cut_parts; /* 0: more than CUT_PARTS_MAX */
};

/* Fails: as topology_open_part(); ERROR_UNAVAILABLE when asked to stop. */
MUST_CHECK enum error_code graph_figures_read(struct store *store,
                                              const struct partition_book *book,
                                              struct graph_figures *out, struct error *err);
/* The bin of a degree: 0 for 0, 1 + floor(log2(degree)) else. */
int graph_figures_bin(uint64_t degree);
void graph_figures_release(struct graph_figures *figures);

#endif
