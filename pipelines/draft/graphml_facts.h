/*
 * graphml_facts - finds the key of a GraphML file that holds the classes of nodes, and the
 * direction of its edges.
 */
#ifndef PIPELINES_DRAFT_GRAPHML_FACTS_H
#define PIPELINES_DRAFT_GRAPHML_FACTS_H

#include "pipelines/draft/input_facts.h"

/* Fills targets, has_split, direction and label_columns of `facts`. A key may hold classes if it
 * has 2 to 100 different words, each in two nodes on average. If several keys may, the one called
 * label, class, ... is taken, otherwise the one with the fewest words.
 * Fails: ERROR_INPUT naming line and column of what is not XML. */
MUST_CHECK enum error_code graphml_facts_find(struct input_facts *facts, struct error *err);

#endif
