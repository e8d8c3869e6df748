/*
 * edge_shape - recognises, by the first rows, texts that have rows and columns but are no edge
 * list.
 *
 *   0,1,0,1               a dense matrix: as many columns as nodes, refused
 *   a b c d               rows of unequal length: an adjacency list, refused
 *   a b {'weight': 1}     attributes in braces, as networkx writes them: refused
 *   3 / 0 5 1 / ...       OpenKE's count and triples; HGB's link.dat: refused, naming the format
 *                         that reads their folder
 */
#ifndef STAGES_INGEST_FORMATS_SHARED_EDGE_SHAPE_H
#define STAGES_INGEST_FORMATS_SHARED_EDGE_SHAPE_H

#include "common/base/error.h"

/* Checks the file. Fails: ERROR_INPUT naming the file, what it is and what to do instead;
 * ERROR_NOT_FOUND, ERROR_IO. */
MUST_CHECK enum error_code edge_shape_check(const char *path, struct error *err);

#endif
