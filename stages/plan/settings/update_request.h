/*
 * update_request - the files of the user from which an update of a dataset is made
 * (stages/ingest/update/update_reader.h describes their content).
 *
 * Each kind of files is a path, a pattern, or a list of both (common/files/file_pattern.h). Its
 * files are read one after the other, those of a pattern in the order of their names, as if they
 * were one file.
 */
#ifndef STAGES_PLAN_SETTINGS_UPDATE_REQUEST_H
#define STAGES_PLAN_SETTINGS_UPDATE_REQUEST_H

#include "common/base/error.h"
#include "common/base/options.h"
#include "stages/plan/settings/pipeline_settings.h"
#include "store/records/dataset/dataset_schema.h"

#include <stdbool.h>

/* The answer of graphmill-ingest when files of an update do not fit. It tells this case from a
 * damaged store. */
#define UPDATE_REFUSED "refused"

enum { UPDATE_KIND_COUNT = 5, UPDATE_FILES_SIZE = SETTING_PATH_SIZE };

struct update_request { /* NULL: no such file; borrowed */
    const char *add_edges, *remove_edges, *add_nodes, *remove_nodes, *features;
    const char *base; /* the version that the update applies to; NULL: the newest */
    /* Replaces a path in a stored text by the user's name for it, if the files are copies; NULL:
     * they are not. */
    void (*name_origin)(const void *origin, char *text, size_t room);
    const void *origin;
};

/* A kind of files. */
struct update_kind {
    const char *option; /* "--add-edges" */
    size_t offset;      /* of its files in struct update_request */
};
extern const struct update_kind update_kind_table[UPDATE_KIND_COUNT];
/* Returns the files of a kind. */
const char **update_request_files(struct update_request *request, size_t kind);

/* Appends one more path, pattern or list to those in `text`, where "" is none. Fails: ERROR_INVALID
 * if it does not fit, or for a path with a comma among several. */
MUST_CHECK enum error_code update_files_add(char text[UPDATE_FILES_SIZE], const char *more,
                                            struct error *err);

/* The same as options of a program. Each may be given several times. */
struct update_options {
    struct option_list add_edges, remove_edges, add_nodes, remove_nodes, features;
    const char *base;
    char text[UPDATE_KIND_COUNT][UPDATE_FILES_SIZE];
};

/* Reads the options. `out` borrows from them. Fails: ERROR_USAGE naming the option. */
MUST_CHECK enum error_code update_options_read(struct update_options *options,
                                               struct update_request *out, struct error *err);

/* Checks that this dataset can have versions. Fails: ERROR_INVALID; the message says why not. */
MUST_CHECK enum error_code update_check_dataset(const struct dataset_schema *schema,
                                                struct error *err);

/* Returns the number of relations that files of an update may name: all but the reverses that
 * ingest adds. */
uint32_t update_relation_count(const struct dataset_schema *schema,
                               const struct pipeline_settings *settings);

/* Returns whether the request has any file. */
static inline bool update_request_is_given(const struct update_request *request)
{
    return request->add_edges || request->remove_edges || request->add_nodes ||
           request->remove_nodes || request->features;
}

/* clang-format off */
/* Rows of a table of options. PLACE(field) is the offset of the field. */
#define UPDATE_OPTIONS(PLACE) \
    {"add-edges", OPTION_LIST, PLACE(add_edges), NULL, 0, 0, "FILES", \
        "new edges: source,target and the columns that edges have, with etype for several " \
        "relations; a file, a pattern such as 'edges-*.csv', or several: all options of files " \
        "may be repeated"}, \
    {"remove-edges", OPTION_LIST, PLACE(remove_edges), NULL, 0, 0, "FILES", \
        "edges to remove: source,target[,etype]"}, \
    {"add-nodes", OPTION_LIST, PLACE(add_nodes), NULL, 0, 0, "FILES", \
        "new nodes: id[,split[,label]], with several node types id,type[,split[,label]], in a " \
        "set of graphs id,graph[,split[,label]]"}, \
    {"remove-nodes", OPTION_LIST, PLACE(remove_nodes), NULL, 0, 0, "FILES", \
        "nodes to remove, with their edges: an id a line"}, \
    {"features", OPTION_LIST, PLACE(features), NULL, 0, 0, "FILES", \
        "features of new nodes, and new features of others: id,x1,x2,..."}, \
    {"base", OPTION_TEXT, PLACE(base), NULL, 0, 0, "ID", \
        "the version of the dataset that the files are for (default: the newest)"},
/* clang-format on */

#endif
