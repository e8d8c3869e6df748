#include "stages/ingest/formats/collections/ogb_split.h"

#include <stdio.h>
#include <string.h>

struct search { /* the state of one run */
    const char *parent, *name;
    char *path;      /* [FILE_PATH_SIZE] */
    char found[512]; /* the names that exist */
};

static enum error_code note(void *context, const char *name, struct error *err)
{
    struct search *search = context;
    enum file_kind kind = FILE_ABSENT;
    char path[FILE_PATH_SIZE];
    enum error_code rc = file_path(path, err, "%s/%s", search->parent, name);
    if (rc == ERROR_NONE)
        rc = file_look(path, &kind, err);
    if (rc != ERROR_NONE || kind != FILE_FOLDER)
        return rc;
    const size_t size = strlen(search->found);
    (void)snprintf(search->found + size, sizeof search->found - size, "%s%s", size ? ", " : "",
                   name);
    if (search->name[0] && strcmp(search->name, name) != 0)
        return ERROR_NONE;
    if (search->path[0])
        return error_set(err, ERROR_INPUT,
                         "expected one folder of splits, found %s and %s: " ADVICE
                         "write `split_name: %s` or "
                         "another of them below `ingest:`",
                         search->path, path, name);
    memcpy(search->path, path, sizeof path);
    return ERROR_NONE;
}

enum error_code ogb_split_find(const char *set, const char *name, char path[FILE_PATH_SIZE],
                               struct error *err)
{
    char parent[FILE_PATH_SIZE];
    struct search search = {.parent = parent, .name = name, .path = path};
    bool is_there = false;
    path[0] = '\0';
    enum error_code rc = file_path(parent, err, "%s/split", set);
    if (rc == ERROR_NONE)
        rc = file_is_there(parent, &is_there, err);
    if (rc == ERROR_NONE && is_there)
        rc = file_list(parent, note, &search, err);
    if (rc == ERROR_NONE && name[0] && !path[0])
        rc = error_set(err, ERROR_INPUT,
                       "%s: ingest.split_name is '%s', expected one of the folders "
                       "in it: %s",
                       parent, name, search.found[0] ? search.found : "there is none");
    return rc;
}
