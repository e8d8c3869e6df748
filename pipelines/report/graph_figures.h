/*
 * graph_figures - figures about a graph and its parts from the stored topology: degrees, and which
 * part reads from which.
 *
 * It takes one pass over all edges, part by part, so it costs as much as reading the topology.
 */
#ifndef PIPELINES_REPORT_GRAPH_FIGURES_H
#define PIPELINES_REPORT_GRAPH_FIGURES_H

#include "common/base/error.h"
#include "store/objects/store.h"
#include "store/records/partition/partition_book.h"

#include <stdint.h>

enum { DEGREE_BINS = 34, CUT_PARTS_MAX = 64 };

struct graph_figures { /* {0} is empty */
    /* nodes of in-degree 0, 1, 2..3, 4..7 and so on, over all relations together */
    uint64_t nodes_of_degree[DEGREE_BINS];
    uint64_t nodes, edges, largest_degree;
    double *cut;   /* [cut_parts, cut_parts]: edges from part j to part i; owned */
    int cut_parts; /* 0: there are more than CUT_PARTS_MAX parts */
};

/* Reads the topology. Fails: as topology_open_part(); ERROR_UNAVAILABLE when asked to stop. */
MUST_CHECK enum error_code graph_figures_read(struct store *store,
                                              const struct partition_book *book,
                                              struct graph_figures *out, struct error *err);
/* Returns the bin of a degree: 0 for 0, otherwise 1 + floor(log2(degree)). */
int graph_figures_bin(uint64_t degree);
void graph_figures_release(struct graph_figures *figures);

#endif
