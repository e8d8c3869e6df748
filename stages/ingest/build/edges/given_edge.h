/* given_edge - an edge that a file of held-out edges lists. */
#ifndef STAGES_INGEST_BUILD_EDGES_GIVEN_EDGE_H
#define STAGES_INGEST_BUILD_EDGES_GIVEN_EDGE_H

#include <stdint.h>

struct given_edge {
    const char *where; /* the file; borrowed */
    int64_t line, source, target;
    uint16_t type; /* 0 where edges have none */
};

#endif
