/* stated_direction - what an input says about the direction of its edges (ingest.direction:
 * auto). */
#ifndef STAGES_TABLES_STATED_DIRECTION_H
#define STAGES_TABLES_STATED_DIRECTION_H

enum stated_direction {
    STATED_DIRECTED,
    STATED_UNDIRECTED, /* each edge of the input means both directions */
    /* Edges count as directed; the log remarks it if no edge is listed in both directions. */
    STATED_NOTHING,
    /* Nothing is stated, but if no edge is listed in both directions, each means both. */
    STATED_ONCE_IS_BOTH,
};

#endif
