/*
 * remote_input - input files that lie in a bucket: a setting of ingest that has an address s3://...
 * gets the path of a copy in scratch instead.
 *
 * Any setting that names a file or a folder may have such an address. A setting that may name
 * several files may also have a pattern of objects (s3_files.h), or a list of addresses, patterns
 * and paths. Once a dataset is made, the sizes and ETags of its objects are noted in the store
 * under current/remote/<digits>. As long as none of them changes, the objects are not downloaded
 * again. If a part of the input is local, nothing is noted: only the bytes of the local files tell
 * whether they changed.
 *
 * The files of an update may have such addresses, too. The content of these files determines the
 * version, so they are downloaded each time.
 */
#ifndef STAGES_INGEST_REMOTE_INPUT_H
#define STAGES_INGEST_REMOTE_INPUT_H

#include "common/base/error.h"
#include "common/files/file.h"
#include "stages/plan/settings/pipeline_settings.h"
#include "stages/plan/settings/update_request.h"
#include "store/objects/keys.h"
#include "store/objects/store.h"

#include <stdbool.h>

struct s3_files;

enum { REMOTE_INPUT_MAX = 64 };

struct remote_item {  /* an address */
    const char *name; /* the setting's */
    char *path;       /* the setting's value as given: this address, or a list with it */
    char address[SETTING_PATH_SIZE];
    struct s3_files *files;
    char folder[FILE_PATH_SIZE]; /* the folder of the copy; "": there is none yet */
    char copy[FILE_PATH_SIZE];   /* or a pattern of copies */
};

struct remote_input {  /* {0} is closed */
    int count;         /* number of addresses; 0: the whole input is local */
    bool is_part_here; /* some input files are local */
    struct remote_item item[REMOTE_INPUT_MAX];
    struct key note;
    char folder[FILE_PATH_SIZE]; /* the folder of all copies; "": there is none */
};

/* Lists the objects at the addresses among the settings. The settings are borrowed until
 * remote_input_close(). Fails: as s3_files_list(), naming the setting. */
MUST_CHECK enum error_code remote_input_find(struct pipeline_settings *settings,
                                             struct remote_input *out, struct error *err);
/* Writes to `id` the first id of the dataset that was made of exactly these objects. Returns false
 * if no such dataset is known, or if a part of the input is local. */
bool remote_input_recall(const struct remote_input *remote, struct store *store, char id[ID_SIZE]);
/* Notes that the dataset `id` was made of these objects. If the note cannot be stored, the objects
 * are downloaded again the next time; that is no error. */
void remote_input_remember(const struct remote_input *remote, struct store *store, const char *id);
/* Copies all objects into scratch and puts the paths of the copies into the settings. Fails: as
 * s3_files_fetch(). */
MUST_CHECK enum error_code remote_input_fetch(struct remote_input *remote, struct store *store,
                                              struct error *err);

struct remote_update { /* {0} is closed */
    struct remote_input files;
    char path[UPDATE_KIND_COUNT][UPDATE_FILES_SIZE];
    struct update_request request; /* the paths of the copies replace the addresses */
};

/* Copies the objects whose addresses are among the files of an update. `given` is borrowed; *out is
 * closed on entry. Fails: as the functions above, naming the option; ERROR_INVALID for a folder of
 * objects. */
MUST_CHECK enum error_code remote_update_fetch(const struct update_request *given,
                                               struct store *store, struct remote_update *out,
                                               struct error *err);
/* Replaces the paths of copies in a message by the addresses that the user gave. */
void remote_input_name_origin(const struct remote_input *remote, struct error *err);
/* Removes the copies. */
void remote_input_close(struct remote_input *remote);

#endif
