/* stated_direction - what an input says about the direction of its edges (ingest.direction:
 * auto). */
#ifndef STAGES_TABLES_STATED_DIRECTION_H
#define STAGES_TABLES_STATED_DIRECTION_H

enum stated_direction {
    STATED_DIRECTED,
    STATED_UNDIRECTED,   /* each edge of the input stands for both directions */
    STATED_NOTHING,      /* taken as directed; it is remarked when no edge is listed both ways */
    STATED_ONCE_IS_BOTH, /* nothing, but when no edge is listed both ways each stands for both */
};

#endif
