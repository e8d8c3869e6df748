/*
 * ogb_split_arrays - the splits of an OGB data set that come in torch files instead of text files.
 *
 *   split/<name>/split_dict.pt               {'train': ..., 'valid': ..., 'test': ...}
 *   split/<name>/{train,valid,test}.pt       one split each, with the dictionary's value for it
 *
 * A split is an array of nodes (or graphs), or a dictionary: of such arrays by node type, or of the
 * arrays of links (ogb_links.h). The files are unpacked into the builder's scratch space, so memory
 * is bounded. Format: get_idx_split and get_edge_split of ogb/nodeproppred/dataset.py and
 * ogb/linkproppred/dataset.py.
 */
#ifndef STAGES_INGEST_FORMATS_COLLECTIONS_OGB_SPLIT_ARRAYS_H
#define STAGES_INGEST_FORMATS_COLLECTIONS_OGB_SPLIT_ARRAYS_H

#include "common/base/error.h"
#include "common/files/file.h"
#include "stages/ingest/build/dataset_builder.h"
#include "stages/ingest/formats/shared/npz_folder.h"
#include "store/records/dataset/node_splits.h"

#include <stdbool.h>

struct ogb_split_arrays { /* {0}: there are no torch files */
    bool is_there;
    bool is_one;                            /* the file is split_dict.pt */
    char file[SPLIT_COUNT][FILE_PATH_SIZE]; /* "": the split has no file */
    struct npz_folder arrays[SPLIT_COUNT];  /* borrows `file` */
};

/* Looks for the files in the folder of a split; `folder` "" has none. Fails: ERROR_INPUT when a
 * split has a text file, too. */
MUST_CHECK enum error_code ogb_split_arrays_find(struct ogb_split_arrays *splits,
                                                 const char *folder, struct error *err);
/* Unpacks the files. `splits` must not move afterwards. Fails: as torch_members_unpack(). */
MUST_CHECK enum error_code ogb_split_arrays_open(struct ogb_split_arrays *splits,
                                                 struct dataset_builder *builder,
                                                 struct error *err);
/* Returns the unpacked array `name` of a split, or with `name` "" the array that is the split; ""
 * when there is none. `where` is its name in messages: "<file>/<array>". */
MUST_CHECK enum error_code ogb_split_arrays_path(const struct ogb_split_arrays *splits,
                                                 enum split split, const char *name,
                                                 char path[FILE_PATH_SIZE],
                                                 char where[FILE_PATH_SIZE], struct error *err);
/* Replaces, in the message of a failure, the unpacked file by the user's file. Returns `rc`. */
enum error_code ogb_split_arrays_blame(const struct ogb_split_arrays *splits, enum error_code rc,
                                       struct error *err);

#endif
