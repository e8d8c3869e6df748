/*
 * remote_input - input files that lie in a bucket: settings of ingest that say s3://... get the path of a copy in scratch.
 *
 * Any setting that names a file or a folder may be such an address; where several files may be named, a pattern of objects (s3_files.h), or
 * a list of addresses, patterns and paths. What came of objects, with their sizes and ETags, is noted in the store under
 * current/remote/<digits>: while nothing of it changes, nothing is brought here again. Input that lies here in part is no such case: whether
 * that changed only its bytes tell.
 *
 * Files of an update may be such addresses, too: what they say is what makes the version, so they are fetched each time.
 */
#ifndef STAGES_INGEST_REMOTE_INPUT_H
#define STAGES_INGEST_REMOTE_INPUT_H

#include "common/base/error.h"
#include "common/base/file.h"
#include "stages/plan/pipeline_settings.h"
#include "stages/plan/update_request.h"
#include "store/objects/keys.h"
#include "store/objects/store.h"

#include <stdbool.h>

struct s3_files;

enum { REMOTE_INPUT_MAX = 64 };

struct remote_item {  /* an address */
    const char *name; /* of the setting */
    char *path; /* its value, in the settings that were given: this address, or a list with it */
    char address[SETTING_PATH_SIZE];
    struct s3_files *files;
    char folder[FILE_PATH_SIZE]; /* the copy is in there; "": there is none yet */
    char copy[FILE_PATH_SIZE];   /* or a pattern of copies */
};

struct remote_input {  /* {0} is closed */
    int count;         /* of addresses; 0: all of the input is here */
    bool is_part_here; /* other files are not in a bucket */
    struct remote_item item[REMOTE_INPUT_MAX];
    struct key note;
    char folder[FILE_PATH_SIZE]; /* of all copies; "": none is here */
};

/* Looks what lies at the addresses among the settings; those are borrowed until remote_input_close(). Fails: as s3_files_list(), naming the
 * setting. */
MUST_CHECK enum error_code remote_input_find(struct pipeline_settings *settings,
                                             struct remote_input *out, struct error *err);
/* The dataset that was made of just this, by its first id; false: it is not known, or the input is here in part. */
bool remote_input_recall(const struct remote_input *remote, struct store *store, char id[ID_SIZE]);
/* A note that cannot be kept costs the way here the next time. */
void remote_input_remember(const struct remote_input *remote, struct store *store, const char *id);
/* Copies all into scratch and puts the paths of the copies into the settings. Fails: as s3_files_fetch(). */
MUST_CHECK enum error_code remote_input_fetch(struct remote_input *remote, struct store *store,
                                              struct error *err);

struct remote_update { /* {0} is closed */
    struct remote_input files;
    char path[UPDATE_KIND_COUNT][UPDATE_FILES_SIZE];
    struct update_request request; /* with copies in the place of addresses */
};

/* Copies what lies at the addresses among the files of an update; `given` is borrowed, and *out is closed before. Fails: as the functions above, naming the option;
 * ERROR_INVALID for a folder of objects. */
MUST_CHECK enum error_code remote_update_fetch(const struct update_request *given,
                                               struct store *store, struct remote_update *out,
                                               struct error *err);
/* Calls the copies in a message what the user calls them. */
void remote_input_name_origin(const struct remote_input *remote, struct error *err);
/* Removes the copies. */
void remote_input_close(struct remote_input *remote);

#endif
