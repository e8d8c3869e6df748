/*
 * verify - compares every stored byte with its hash, and checks that nothing is missing.
 *
 * Records are checked by their header, artifacts by their manifest, refs by their checksum. A
 * record that the store should have but does not is a flaw as well (promised_records.h). Each flaw
 * is one line; the command goes on to the end and then fails. It reads the whole store, or one run
 * with the data that it depends on.
 *
 * --remove removes what is damaged, so that the next `graphmill run` makes it and what is missing
 * again (store_survey.h). Nothing else in a store ever has to be repaired by hand.
 */
#include "common/base/json.h"
#include "common/base/options.h"
#include "common/base/text.h"
#include "pipelines/shared/commands.h"
#include "pipelines/shared/run_folder.h"
#include "pipelines/store/store_survey.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct verify_options {
    const char *run, *store;
    bool json, list, remove;
};

/* clang-format off */
#define AT(field) offsetof(struct verify_options, field)
static const struct option_spec option_table[] = {
    {"store", OPTION_TEXT, AT(store), NULL, 0, 0, "URI",
     "instead of RUN: the store that has the run"},
    {"run", OPTION_TEXT, AT(run), NULL, 0, 0, "ID",
     "one run, with its partition and dataset (default: the whole store)"},
    {"list", OPTION_FLAG, AT(list), NULL, 0, 0, NULL,
     "print the manifest: each record with its kind, size and content hash"},
    {"remove", OPTION_FLAG, AT(remove), NULL, 0, 0, NULL,
     "remove damaged records, so that graphmill run makes them and missing ones again"},
    {"json", OPTION_FLAG, AT(json), NULL, 0, 0, NULL, "print the answer as JSON"},
    {.name = NULL},
};
/* clang-format on */

struct answer {
    const struct verify_options *options;
    int64_t damaged, missing;
    char first[512]; /* the first flaw, or "" */
    char delta
        [ID_SIZE]; /* a version whose delta is damaged, or "": a run cannot make that delta again */
};

static void note_delta(struct answer *answer, const char *key)
{
    static const char front[] = "dataset/";
    const char *id = key + sizeof front - 1;
    if (answer->delta[0] || strncmp(key, front, sizeof front - 1) != 0)
        return;
    const size_t size = strcspn(id, "/");
    if (strcmp(id + size, "/delta") == 0 && size < sizeof answer->delta)
        (void)snprintf(answer->delta, sizeof answer->delta, "%.*s", (int)size, id);
}

static void note_flaw(void *context, const struct flaw *flaw, const char *text)
{
    struct answer *answer = context;
    char line[sizeof answer->first];
    const bool named = strstr(text, flaw->key) != NULL;
    (void)snprintf(line, sizeof line, "%.190s%s%.300s", named ? "" : flaw->key, named ? "" : ": ",
                   text);
    if (answer->damaged + answer->missing == 0)
        memcpy(answer->first, line, sizeof line);
    note_delta(answer, flaw->key);
    ++*(flaw->kind == FLAW_DAMAGED ? &answer->damaged : &answer->missing);
    if (!answer->options->json)
        printf("%s %s\n", flaw->kind == FLAW_DAMAGED ? "DAMAGED" : "MISSING", line);
}

static void list_record(void *context, const struct record_view *view)
{
    char digits[CHECKSUM_TEXT_SIZE];
    (void)context;
    checksum_text(&view->content, digits);
    printf("%s %s %zu %s\n", digits, record_kind_name(view->kind), view->size, view->key);
}

static const char *verdict(const struct answer *answer)
{
    return answer->damaged || answer->missing ? "DAMAGED" : "OK";
}

/* Prints " run=a,b"; an incomplete piece has a '*' after it. */
static void print_pieces(const char *name, const struct survey_pieces *pieces)
{
    printf(" %s=%s", name, pieces->count ? "" : "none");
    for (size_t i = 0; i < pieces->count; i++)
        printf("%s%s%s", i ? "," : "", pieces->piece[i].id, pieces->piece[i].whole ? "" : "*");
}

static void print_text(const struct answer *answer, const struct store_survey *survey)
{
    char size[32];
    printf("%s", verdict(answer));
    print_pieces("run", &survey->runs);
    print_pieces("partition", &survey->partitions);
    print_pieces("dataset", &survey->datasets);
    printf(" records=%" PRId64 " artifacts=%" PRId64 " switches=%" PRId64 " bytes=%" PRIu64
           " (%s) damaged=%" PRId64 " missing=%" PRId64 "\n",
           survey->records, survey->artifacts, survey->switches, survey->bytes,
           text_size(survey->bytes, size), answer->damaged, answer->missing);
}

static void put_pieces(struct json_writer *json, const char *name,
                       const struct survey_pieces *pieces)
{
    json_open_array(json, name);
    for (size_t i = 0; i < pieces->count; i++) {
        json_open_object(json, NULL);
        json_put_string(json, "id", pieces->piece[i].id);
        json_put_bool(json, "finished", pieces->piece[i].whole);
        json_close_object(json);
    }
    json_close_array(json);
}

static enum error_code print_json(const struct answer *answer, const struct store_survey *survey,
                                  struct error *err)
{
    struct json_writer json = {0};
    json_open_object(&json, NULL);
    json_put_string(&json, "verdict", verdict(answer));
    put_pieces(&json, "runs", &survey->runs);
    put_pieces(&json, "partitions", &survey->partitions);
    put_pieces(&json, "datasets", &survey->datasets);
    json_put_int64(&json, "records", survey->records);
    json_put_int64(&json, "artifacts", survey->artifacts);
    json_put_int64(&json, "switches", survey->switches);
    json_put_int64(&json, "bytes", (int64_t)survey->bytes);
    json_put_int64(&json, "damaged", answer->damaged);
    json_put_int64(&json, "missing", answer->missing);
    json_put_string(&json, "first_flaw", answer->first);
    json_put_bool(&json, "removed",
                  answer->options->remove && answer->damaged + answer->missing > 0);
    json_close_object(&json);
    const enum error_code rc = json_writer_finish(&json, err);
    if (rc == ERROR_NONE)
        printf("%s\n", json.text);
    json_writer_release(&json);
    return rc;
}

static enum error_code conclude(const struct answer *answer, struct error *err)
{
    if (answer->damaged + answer->missing == 0)
        return ERROR_NONE;
    if (answer->delta[0])
        return error_set(
            err, ERROR_CORRUPT,
            "%" PRId64 " damaged, %" PRId64
            " missing; first: %s; %sgraphmill update with the files that version %s was "
            "made of makes its delta again, and graphmill run the rest",
            answer->damaged, answer->missing, answer->first,
            answer->options->remove ? "removed: " : "verify --remove, then ", answer->delta);
    return error_set(err, ERROR_CORRUPT, "%" PRId64 " damaged, %" PRId64 " missing; first: %s; %s",
                     answer->damaged, answer->missing, answer->first,
                     answer->options->remove ? "removed: graphmill run makes them again"
                                             : "verify --remove, then run, makes them again");
}

static enum error_code verify(struct store *store, const struct verify_options *options,
                              struct error *err)
{
    struct answer answer = {.options = options};
    struct store_survey survey = {.store = store,
                                  .on_flaw = note_flaw,
                                  .on_record = options->list ? list_record : NULL,
                                  .context = &answer};
    store_cache_bypass(store);
    enum error_code rc = store_survey_read(&survey, options->run, err);
    if (rc == ERROR_NONE && options->remove) {
        rc = store_survey_remove(&survey, err);
        if (rc != ERROR_NONE)
            rc = error_context(err, rc, "what is damaged cannot be removed");
    }
    if (rc == ERROR_NONE && options->json)
        rc = print_json(&answer, &survey, err);
    else if (rc == ERROR_NONE)
        print_text(&answer, &survey);
    store_survey_release(&survey);
    return rc == ERROR_NONE ? conclude(&answer, err) : rc;
}

enum error_code command_verify(int argc, char **argv, struct error *err)
{
    static struct run_folder folder;
    struct verify_options options = {0};
    struct option_list rest = {0};
    if (options_want_help(argc, argv)) {
        printf("graphmill verify RUN|--store URI [options] - check every stored byte, and that all "
               "is there\n\n");
        options_print_help(option_table);
        return ERROR_NONE;
    }
    enum error_code rc = options_parse(option_table, argc, argv, &options, &rest, err);
    if (rc == ERROR_NONE)
        rc = run_folder_word(&rest, options.store, err);
    if (rc == ERROR_NONE && rest.count != 1)
        rc = error_set(err, ERROR_USAGE, "graphmill verify takes one run's folder, or --store");
    if (rc == ERROR_NONE)
        rc =
            run_folder_open_store(&folder, rest.item[0], options.remove ? 0 : STORE_READ_ONLY, err);
    if (rc == ERROR_NONE)
        rc = verify(folder.store, &options, err);
    run_folder_close(&folder);
    return rc;
}
