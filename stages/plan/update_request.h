/*
 * update_request - what an update of a dataset is made of: files of the user (stages/ingest/update/update_reader.h says what
 * stands in them). NULL: no such file.
 */
#ifndef STAGES_PLAN_UPDATE_REQUEST_H
#define STAGES_PLAN_UPDATE_REQUEST_H

#include "common/base/error.h"
#include "stages/plan/pipeline_settings.h"
#include "store/records/dataset_schema.h"

#include <stdbool.h>

/* The answer of graphmill-ingest when files of an update do not fit, by which that is told from a store that is damaged. */
#define UPDATE_REFUSED "refused"

struct update_request {
    const char *add_edges, *remove_edges, *add_nodes, *remove_nodes, *features;
    const char
        *add_edges_name; /* what is said to hold the edges that come; NULL: the file itself */
    const char *base;    /* the version that it is for; NULL: the newest */
};

/* Can there be versions of this dataset? Fails: ERROR_INVALID saying what it is. */
MUST_CHECK enum error_code update_check_dataset(const struct dataset_schema *schema,
                                                struct error *err);

/* The relations, or types of edges, that files of an update may name: all but the reverses that ingest adds. */
uint32_t update_relation_count(const struct dataset_schema *schema,
                               const struct pipeline_settings *settings);

/* Whether there is any file. */
static inline bool update_request_is_given(const struct update_request *request)
{
    return request->add_edges || request->remove_edges || request->add_nodes ||
           request->remove_nodes || request->features;
}

/* clang-format off */
/* Rows of a table of options. PLACE(field): its offset. */
#define UPDATE_OPTIONS(PLACE) \
    {"add-edges", OPTION_TEXT, PLACE(add_edges), NULL, 0, 0, "FILE", "edges that are new: source,target and the columns that edges have, of several relations with etype"}, \
    {"remove-edges", OPTION_TEXT, PLACE(remove_edges), NULL, 0, 0, "FILE", "edges that go: source,target[,etype]"}, \
    {"add-nodes", OPTION_TEXT, PLACE(add_nodes), NULL, 0, 0, "FILE", "nodes that are new: id[,split[,label]], of several types id,type[,split[,label]]"}, \
    {"remove-nodes", OPTION_TEXT, PLACE(remove_nodes), NULL, 0, 0, "FILE", "nodes that go, with their edges: an id a line"}, \
    {"features", OPTION_TEXT, PLACE(features), NULL, 0, 0, "FILE", "features of new nodes, and new ones of others: id,x1,x2,..."}, \
    {"base", OPTION_TEXT, PLACE(base), NULL, 0, 0, "ID", "the version of the dataset that the files are for (default: the newest)"},
/* clang-format on */

#endif
