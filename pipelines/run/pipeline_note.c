#include "pipelines/run/pipeline_note.h"

#include "common/base/json.h"
#include "common/base/memory.h"
#include "common/files/file.h"
#include "pipelines/run/pipeline_options.h"

#include <string.h>

enum { NOTE_BYTES_MAX = 1 << 20 };

static enum error_code note_path(const char *folder, char path[FILE_PATH_SIZE], struct error *err)
{
    return file_path(path, err, "%s/pipeline.json", folder);
}

static bool is_of_one_run(const char *setting)
{
    static const char name[] = "train-step.initial=";
    return strncmp(setting, name, sizeof name - 1) == 0;
}

enum error_code pipeline_note_write(const char *folder, const char *file,
                                    const struct option_list *set, struct error *err)
{
    char path[FILE_PATH_SIZE], absolute[FILE_PATH_SIZE];
    struct json_writer json = {0};
    enum error_code rc = note_path(folder, path, err);
    if (rc == ERROR_NONE)
        rc = file_absolute(absolute, file, err);
    if (rc != ERROR_NONE)
        return rc;
    json_open_object(&json, NULL);
    json_put_string(&json, "file", absolute);
    json_open_array(&json, "set");
    for (int i = 0; i < set->count; i++)
        if (!is_of_one_run(set->item[i]))
            json_put_string(&json, NULL, set->item[i]);
    json_close_array(&json);
    json_close_object(&json);
    json_put_raw(&json, "\n");
    rc = json_writer_finish(&json, err);
    if (rc == ERROR_NONE)
        rc = file_replace(path, json.text, json.size, false, err);
    json_writer_release(&json);
    return rc;
}

static enum error_code read_note(const char *folder, struct json_document **out, struct error *err)
{
    char path[FILE_PATH_SIZE], *text = NULL;
    size_t size = 0;
    enum error_code rc = note_path(folder, path, err);
    if (rc == ERROR_NONE)
        rc = file_read(path, NOTE_BYTES_MAX, &text, &size, err);
    if (rc == ERROR_NOT_FOUND)
        return error_set(err, rc,
                         "%s: expected the folder of a run, in which graphmill run noted its "
                         "pipeline file: " ADVICE "name that file",
                         folder);
    if (rc == ERROR_NONE)
        rc = json_parse(text, size, path, out, err);
    memory_free(text);
    return rc;
}

/* Puts the settings of the note first, so that those of --set override them. */
static enum error_code take_sets(struct pipeline_options *options, const struct json_node *set,
                                 struct error *err)
{
    const size_t count = json_count(set);
    struct option_list all = {0};
    if (count + (size_t)options->set.count > OPTION_LIST_MAX)
        return error_set(err, ERROR_USAGE, "more than %d --set, with those of the run folder",
                         OPTION_LIST_MAX);
    for (size_t i = 0; i < count; i++) {
        all.item[all.count] = json_text(json_at(set, i));
        if (!all.item[all.count++])
            return error_set(err, ERROR_CORRUPT, "pipeline.json: expected settings as strings");
    }
    for (int i = 0; i < options->set.count; i++)
        all.item[all.count++] = options->set.item[i];
    options->set = all;
    return ERROR_NONE;
}

enum error_code pipeline_note_take(struct pipeline_options *options, const char *word,
                                   struct json_document **out, struct error *err)
{
    enum file_kind kind = FILE_ABSENT;
    *out = NULL;
    options->file = word;
    enum error_code rc = file_look(word, &kind, err);
    if (rc != ERROR_NONE || kind != FILE_FOLDER)
        return rc;
    rc = read_note(word, out, err);
    if (rc != ERROR_NONE)
        return rc;
    options->file = json_text(json_get(json_root(*out), "file"));
    if (!options->directory)
        options->directory = word;
    rc = options->file ? take_sets(options, json_get(json_root(*out), "set"), err)
                       : error_set(err, ERROR_CORRUPT, "%s/pipeline.json: expected a file", word);
    return rc;
}
