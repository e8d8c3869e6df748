/*
 * dataset_summary - the resulting dataset in a few lines, and what in it looks like a slip.
 *
 * A graph may be read without an error and still not be what was meant: labels that begin at 1, an
 * id among the classes, edges listed once that were meant both ways, features that were not found.
 * The builder counts, and the lines are written from the counts. Counts and warnings are stored
 * beside the schema, for programs.
 */
#ifndef STAGES_INGEST_BUILD_DATASET_SUMMARY_H
#define STAGES_INGEST_BUILD_DATASET_SUMMARY_H

#include "common/base/error.h"
#include "common/base/json.h"
#include "common/formats/text/float_loss.h"
#include "stages/ingest/build/dataset_notes.h"
#include "stages/ingest/build/edges/edges_back.h"
#include "stages/ingest/build/holdout_overlap.h"
#include "stages/ingest/build/nodes/node_targets.h"
#include "stages/plan/settings/pipeline_settings.h"
#include "store/records/dataset/dataset_schema.h"

#include <stdbool.h>
#include <stdint.h>

enum { SUMMARY_LINE_SIZE = 512 };

struct dataset_summary { /* {0} is empty and releasable */
    /* the input does not say the direction, and no edge has its reverse */
    bool is_one_way;
    bool was_made_undirected; /* is_one_way made the graph undirected */
    uint64_t isolated_nodes;  /* nodes without an edge to another node */
    uint64_t labelled_nodes;  /* labelled nodes, or graphs; the same holds for the counts below */
    uint32_t graph_count;     /* for a task of graphs */
    /* for a task of pairs */
    struct edges_back back;
    struct holdout_overlap overlap;
    uint64_t merged_repeats, passed_sources; /* see edge_holdout.h */
    bool has_groups;  /* the nodes form two groups, and no edge joins two nodes of one group */
    uint32_t side[2]; /* for a bipartite graph (edge_sides.h): the nodes of each side */
    uint32_t class_count;
    uint64_t *class_nodes; /* [class_count] nodes with the label */
    uint64_t *class_train; /* [class_count] training nodes with the label */
    uint64_t feature_zeros, feature_numbers;
    const char *feature_origin[NODE_TYPE_COUNT_MAX]; /* one for each node type that stays apart */
    struct dataset_notes notes;                      /* the notes of the reader */
    const struct float_loss *loss;                   /* borrowed */
};

void dataset_summary_release(struct dataset_summary *summary);
/* Counts the labels. */
MUST_CHECK enum error_code dataset_summary_count(struct dataset_summary *summary,
                                                 const struct node_targets *targets,
                                                 struct error *err);

/* Is called for each line; `is_warning`: the line is about a likely slip. */
typedef void (*summary_visitor)(void *context, bool is_warning, const char *line);
/* Appends one JSON object:
 * {"isolated_nodes":12,"labelled_nodes":2708,"class_nodes":[351,217,..],"feature_zero_share":0.98,
 * "input":["ratings.csv: userId is the source, ..",..],"warnings":["labels begin at 1: ..",..]}. If
 * there are more than 1000 classes, only the first 1000 are listed. */
void dataset_summary_report(const struct dataset_summary *summary,
                            const struct dataset_schema *schema,
                            const struct pipeline_settings *settings, struct json_writer *json);
void dataset_summary_lines(const struct dataset_summary *summary,
                           const struct dataset_schema *schema,
                           const struct pipeline_settings *settings, summary_visitor visit,
                           void *context);

#endif
