/*
 * remote_input - input files that lie in a bucket: settings of ingest that say s3://... get the path of a copy in scratch.
 *
 * Any setting that names a file or a folder may be such an address. What came of a list of objects, with their sizes and ETags, is noted in
 * the store under current/remote/<digits>: while nothing of it changes, nothing is brought here again.
 */
#ifndef STAGES_INGEST_REMOTE_INPUT_H
#define STAGES_INGEST_REMOTE_INPUT_H

#include "common/base/error.h"
#include "common/base/file.h"
#include "stages/plan/pipeline_settings.h"
#include "store/objects/keys.h"
#include "store/objects/store.h"

#include <stdbool.h>

struct s3_files;

enum { REMOTE_INPUT_MAX = 16 };

struct remote_input { /* {0} is closed */
    int count;        /* of settings that are addresses; 0: all of the input is here */
    struct {
        const char *name; /* of the setting */
        char *path;       /* its value, in the settings that were given */
        char address[SETTING_PATH_SIZE];
        struct s3_files *files;
        char copy[FILE_PATH_SIZE];
    } item[REMOTE_INPUT_MAX];
    struct key note;
    char folder[FILE_PATH_SIZE]; /* the copies; "": none is here */
};

/* Looks what lies at the addresses among the settings; those are borrowed until remote_input_close(). Fails: as s3_files_list(), naming the
 * setting. */
MUST_CHECK enum error_code remote_input_find(struct pipeline_settings *settings,
                                             struct remote_input *out, struct error *err);
/* The dataset that was made of just this, by its first id; false: it is not known. */
bool remote_input_recall(const struct remote_input *remote, struct store *store, char id[ID_SIZE]);
/* A note that cannot be kept costs the way here the next time. */
void remote_input_remember(const struct remote_input *remote, struct store *store, const char *id);
/* Copies all into scratch and puts the paths of the copies into the settings. Fails: as s3_files_fetch(). */
MUST_CHECK enum error_code remote_input_fetch(struct remote_input *remote, struct store *store,
                                              struct error *err);
/* Calls the copies in a message what the user calls them. */
void remote_input_name_origin(const struct remote_input *remote, struct error *err);
/* Removes the copies. */
void remote_input_close(struct remote_input *remote);

#endif
