#include "stages/ingest/formats/collections/ogb_split_arrays.h"

#include "common/formats/arrays/torch_members.h"
#include "stages/ingest/formats/shared/input_files.h"

#include <string.h>

static const char *const stem[SPLIT_COUNT] = {"train", "valid", "test"};

static enum error_code find_file(const char *folder, const char *name, char path[FILE_PATH_SIZE],
                                 struct error *err)
{
    bool found = false;
    enum error_code rc = file_path(path, err, "%s/%s.pt", folder, name);
    if (rc == ERROR_NONE)
        rc = file_is_there(path, &found, err);
    if (!found)
        path[0] = '\0';
    return rc;
}

/* Refuses a text file beside the torch file of a split, because one of them would be ignored. */
static enum error_code check_text(const char *folder, const char *name, const char *torch_file,
                                  struct error *err)
{
    static const char *const endings[] = {".csv.gz", ".csv.zst", ".csv", NULL};
    char path[FILE_PATH_SIZE];
    const enum error_code rc = input_files_find(folder, name, endings, path, err);
    if (rc != ERROR_NONE || !path[0] || strcmp(path, torch_file) == 0)
        return rc;
    return error_set(err, ERROR_INPUT,
                     "expected one of %s and %s, found both: " ADVICE "remove one of them", path,
                     torch_file);
}

enum error_code ogb_split_arrays_find(struct ogb_split_arrays *splits, const char *folder,
                                      struct error *err)
{
    char one[FILE_PATH_SIZE], own[FILE_PATH_SIZE];
    *splits = (struct ogb_split_arrays){0};
    if (!folder[0])
        return ERROR_NONE;
    enum error_code rc = find_file(folder, "split_dict", one, err);
    splits->is_one = rc == ERROR_NONE && one[0];
    splits->is_there = splits->is_one;
    for (int s = 0; rc == ERROR_NONE && s < SPLIT_COUNT; s++) {
        rc = find_file(folder, stem[s], own, err);
        if (rc == ERROR_NONE && own[0] && splits->is_one)
            return error_set(err, ERROR_INPUT,
                             "expected one of %s and %s, found both: " ADVICE "remove one of them",
                             one, own);
        memcpy(splits->file[s], splits->is_one ? one : own, FILE_PATH_SIZE);
        splits->is_there |= own[0] != '\0';
        if (rc == ERROR_NONE && splits->file[s][0])
            rc = check_text(folder, stem[s], splits->file[s], err);
    }
    return rc;
}

enum error_code ogb_split_arrays_open(struct ogb_split_arrays *splits,
                                      struct dataset_builder *builder, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (int s = 0; rc == ERROR_NONE && s < SPLIT_COUNT; s++) {
        struct npz_folder *arrays = &splits->arrays[s];
        if (!splits->file[s][0])
            continue;
        arrays->archive = splits->file[s];
        if (s > 0 && splits->is_one) {
            memcpy(arrays->path, splits->arrays[0].path, sizeof arrays->path);
            continue;
        }
        rc = dataset_builder_folder(builder, splits->is_one ? "split_dict" : stem[s], arrays->path,
                                    err);
        if (rc == ERROR_NONE)
            rc = torch_members_unpack(splits->file[s], arrays->path, err);
    }
    return rc;
}

enum error_code ogb_split_arrays_path(const struct ogb_split_arrays *splits, enum split split,
                                      const char *name, char path[FILE_PATH_SIZE],
                                      char where[FILE_PATH_SIZE], struct error *err)
{
    char array[FILE_PATH_SIZE];
    path[0] = where[0] = '\0';
    if (!splits->file[split][0])
        return ERROR_NONE;
    enum error_code rc =
        splits->is_one ? file_path(array, err, "%s%s%s", stem[split], name[0] ? "." : "", name)
                       : file_path(array, err, "%s", name[0] ? name : TORCH_MEMBERS_ALONE);
    if (rc == ERROR_NONE)
        rc = npz_folder_find(&splits->arrays[split], "", array, path, err);
    return rc == ERROR_NONE ? file_path(where, err, "%s/%s", splits->file[split], array) : rc;
}

enum error_code ogb_split_arrays_blame(const struct ogb_split_arrays *splits, enum error_code rc,
                                       struct error *err)
{
    for (int s = 0; s < SPLIT_COUNT; s++)
        rc = npz_folder_blame(&splits->arrays[s], rc, err);
    return rc;
}
