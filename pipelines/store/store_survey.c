#include "pipelines/store/store_survey.h"

#include "common/base/memory.h"
#include "common/base/stop_signal.h"
#include "common/base/text.h"
#include "stages/plan/chain/chain.h"
#include "stages/plan/chain/unit_row.h"
#include "stages/plan/run/promised_records.h"
#include "stages/plan/run/run_binding.h"
#include "stages/plan/run/run_recheck.h"
#include "stages/plan/run/run_rewind.h"
#include "store/open/artifact_kinds.h"
#include "store/records/dataset/dataset_delta.h"
#include "store/records/dataset/dataset_merge.h"
#include "store/records/partition/partition_delta.h"

#include <stdio.h>
#include <string.h>

/* --- what is noted --- */

static enum error_code note_flaw(struct store_survey *s, enum flaw_kind kind, bool is_switch,
                                 const char *key, const char *text, struct error *err)
{
    const enum error_code rc = memory_grow(&s->flaw, &s->flaw_capacity, s->flaw_count + 1,
                                           "a list of damaged records", err);
    if (rc != ERROR_NONE)
        return rc;
    struct flaw *flaw = &s->flaw[s->flaw_count];
    *flaw = (struct flaw){.kind = kind, .is_switch = is_switch};
    if (!text_copy(flaw->key, sizeof flaw->key, key))
        return error_set(err, ERROR_CORRUPT, "%.60s... is no key", key);
    s->flaw_count++;
    if (s->on_flaw)
        s->on_flaw(s->context, flaw, text);
    return ERROR_NONE;
}

static struct survey_piece *find_piece(const struct survey_pieces *pieces, const char *id)
{
    /* keys are listed in order, so it is mostly the last piece */
    for (size_t i = pieces->count; i-- > 0;)
        if (strcmp(pieces->piece[i].id, id) == 0)
            return &pieces->piece[i];
    return NULL;
}

static enum error_code add_piece(struct survey_pieces *pieces, const char *id, bool needed,
                                 struct error *err)
{
    struct survey_piece *piece = find_piece(pieces, id);
    if (piece) {
        piece->needed = piece->needed || needed;
        return ERROR_NONE;
    }
    const enum error_code rc =
        memory_grow(&pieces->piece, &pieces->capacity, pieces->count + 1, "a list of runs", err);
    if (rc != ERROR_NONE)
        return rc;
    struct survey_piece added = {.needed = needed};
    if (!text_copy(added.id, sizeof added.id, id))
        return error_set(err, ERROR_CORRUPT, "%.60s... is no id", id);
    pieces->piece[pieces->count++] = added;
    return ERROR_NONE;
}

/* Finds the id in <family>/<id>/...; returns false for a key of another family. */
static bool id_in(const char *key, const char *family, char id[ID_SIZE])
{
    const size_t front = strlen(family);
    if (strncmp(key, family, front) != 0 || key[front] != '/')
        return false;
    const size_t size = strcspn(key + front + 1, "/");
    if (size == 0 || size >= ID_SIZE)
        return false;
    memcpy(id, key + front + 1, size);
    id[size] = '\0';
    return true;
}

static enum error_code note_piece(struct store_survey *s, const char *key, struct error *err)
{
    char id[ID_SIZE];
    if (id_in(key, "dataset", id))
        return add_piece(&s->datasets, id, false, err);
    if (id_in(key, "partition", id))
        return add_piece(&s->partitions, id, false, err);
    if (id_in(key, "run", id))
        return add_piece(&s->runs, id, false, err);
    return ERROR_NONE;
}

/* --- what is there --- */

static enum error_code read_record(struct store_survey *s, const char *key, struct error *err)
{
    struct record_view view = {0};
    const enum error_code rc = store_get(s->store, key, NULL, &view, err);
    if (rc != ERROR_NONE)
        return rc;
    s->records++;
    s->bytes += view.size;
    if (s->on_record)
        s->on_record(s->context, &view);
    store_release_record(&view);
    return ERROR_NONE;
}

static enum error_code read_artifact(struct store_survey *s, const char *key, struct error *err)
{
    bool still_there = false;
    s->artifacts++;
    const enum error_code rc = artifact_verify(s->store, key, err);
    if (rc == ERROR_NOT_FOUND && store_has(s->store, key, &still_there, NULL) == ERROR_NONE &&
        still_there)
        return ERROR_CORRUPT; /* a file of an artifact, or its manifest */
    return rc;
}

/* Reads a listed record. One that a running run pruned in the meantime is no flaw. */
static enum error_code visit(void *context, const char *key, bool is_artifact, struct error *err)
{
    struct store_survey *s = context;
    struct error cause = {0};
    if (stop_signal_seen())
        return error_set(err, ERROR_UNAVAILABLE, "stopped");
    enum error_code rc = note_piece(s, key, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = is_artifact ? read_artifact(s, key, &cause) : read_record(s, key, &cause);
    if (rc == ERROR_CORRUPT || rc == ERROR_IO || rc == ERROR_INPUT)
        return note_flaw(s, FLAW_DAMAGED, false, key, cause.message, err);
    if (rc == ERROR_NONE || rc == ERROR_NOT_FOUND)
        return ERROR_NONE;
    *err = cause;
    return rc;
}

struct switch_search {
    struct store_survey *survey;
    const char *run_id; /* NULL: all runs */
};

/* Checks a ref that names the next or newest version of a dataset: that version must exist. */
static enum error_code expect_version(struct store_survey *s, const char *key, const char *id,
                                      struct error *err)
{
    static const char next[] = "current/next/", newest[] = "current/version/";
    const bool names =
        strncmp(key, next, sizeof next - 1) == 0 || strncmp(key, newest, sizeof newest - 1) == 0;
    return names ? add_piece(&s->datasets, id, true, err) : ERROR_NONE;
}

static enum error_code visit_switch(void *context, const char *key, bool is_artifact,
                                    struct error *err)
{
    const struct switch_search *search = context;
    struct error cause = {0};
    char value[4096], id[ID_SIZE];
    (void)is_artifact;
    if (search->run_id && (!id_in(key, "run", id) || strcmp(id, search->run_id) != 0))
        return ERROR_NONE;
    search->survey->switches++;
    const enum error_code rc =
        store_switch_get(search->survey->store, key, value, sizeof value, &cause);
    if (rc != ERROR_NONE)
        return note_flaw(search->survey, FLAW_DAMAGED, true, key, cause.message, err);
    return search->run_id ? ERROR_NONE : expect_version(search->survey, key, value, err);
}

static enum error_code read_all(struct store_survey *s, const char *run_id, struct error *err)
{
    struct switch_search search = {s, run_id};
    enum error_code rc = ERROR_NONE;
    if (!run_id)
        rc = store_list(s->store, "", visit, s, err);
    for (size_t i = 0; run_id && rc == ERROR_NONE && i < s->datasets.count; i++)
        rc = store_list(s->store, key_dataset(s->datasets.piece[i].id, "").text, visit, s, err);
    for (size_t i = 0; run_id && rc == ERROR_NONE && i < s->partitions.count; i++)
        rc = store_list(s->store, key_partition(s->partitions.piece[i].id, "").text, visit, s, err);
    if (run_id && rc == ERROR_NONE)
        rc = store_list(s->store, key_run(run_id, "").text, visit, s, err);
    return rc == ERROR_NONE ? store_switch_list(s->store, visit_switch, &search, err) : rc;
}

/* --- what is missing --- */

struct missing {
    struct store_survey *survey;
    enum error_code rc;
    struct error *err;
};

static void visit_missing(void *context, const char *key)
{
    struct missing *missing = context;
    char id[ID_SIZE];
    const bool is_switch = id_in(key, "run", id) && strcmp(key_current_snapshot(id).text, key) == 0;
    if (missing->rc == ERROR_NONE)
        missing->rc = note_flaw(missing->survey, FLAW_MISSING, is_switch, key,
                                is_switch ? "the switch is missing" : "is missing", missing->err);
}

static bool is_lost(enum error_code rc)
{
    return rc == ERROR_NOT_FOUND || rc == ERROR_CORRUPT;
}

/* Looks for missing records of a run. Without its plan or book the expected records are not known;
 * the lost plan or book is the flaw then. */
static enum error_code seek_in_run(struct store_survey *s, struct survey_piece *piece,
                                   struct run_binding *run, struct error *err)
{
    struct missing missing = {.survey = s, .err = err};
    struct run_plan *plan = &run->plan;
    bool found = false;
    enum error_code rc = store_has(s->store, key_run_plan(piece->id).text, &found, err);
    if (rc == ERROR_NONE && !found)
        visit_missing(&missing, key_run_plan(piece->id).text);
    if (rc == ERROR_NONE && found && run_plan_get(s->store, piece->id, plan, NULL) == ERROR_NONE)
        rc = add_piece(&s->partitions, plan->partition_id, true, err);
    if (rc != ERROR_NONE || !found)
        return rc == ERROR_NONE ? missing.rc : rc;
    rc = run_open(s->store, piece->id, run, err);
    if (rc == ERROR_NONE)
        rc = promised_by_run(s->store, run, visit_missing, &missing, &piece->whole, err);
    run_close(run);
    piece->unread = is_lost(rc);
    if (is_lost(rc))
        rc = ERROR_NONE;
    return rc == ERROR_NONE ? missing.rc : rc;
}

/* Adds the partition that a delta is based on. If the record is damaged, the survey finds and names
 * that separately. */
static enum error_code add_base(struct store_survey *s, const char *partition_id, struct error *err)
{
    char base[ID_SIZE], id[ID_SIZE];
    must(text_copy(id, sizeof id, partition_id)); /* pieces move when one is added */
    if (partition_delta_base(s->store, id, base, NULL) != ERROR_NONE || !*base)
        return ERROR_NONE;
    return add_piece(&s->partitions, base, true, err);
}

static enum error_code seek_in_partition(struct store_survey *s, struct survey_piece *piece,
                                         struct error *err)
{
    struct missing missing = {.survey = s, .err = err};
    struct partition_book book = {0};
    enum error_code rc = promised_by_partition(s->store, piece->id, piece->needed, visit_missing,
                                               &missing, &piece->whole, err);
    if (rc == ERROR_NONE && partition_book_get(s->store, piece->id, &book, NULL) == ERROR_NONE)
        rc = add_piece(&s->datasets, book.dataset_id, true, err);
    store_release_record(&book.view);
    if (rc == ERROR_NONE && piece->whole)
        rc = add_base(s, piece->id, err);
    return rc == ERROR_NONE ? missing.rc : rc;
}

/* Adds the version that a merged version is based on. If the record is damaged, the survey finds
 * and names that separately. */
static enum error_code add_version_before(struct store_survey *s, const char *dataset_id,
                                          struct error *err)
{
    char base[ID_SIZE];
    struct dataset_delta delta;
    if (dataset_merge_base(s->store, dataset_id, base, NULL) != ERROR_NONE || !*base ||
        dataset_delta_get(s->store, dataset_id, &delta, NULL) != ERROR_NONE)
        return ERROR_NONE;
    must(text_copy(base, sizeof base, delta.base));
    store_release_record(&delta.view);
    return add_piece(&s->datasets, base, true, err);
}

static enum error_code seek_in_dataset(struct store_survey *s, struct survey_piece *piece,
                                       struct error *err)
{
    struct missing missing = {.survey = s, .err = err};
    char id[ID_SIZE];
    must(text_copy(id, sizeof id, piece->id)); /* pieces move when one is added */
    enum error_code rc = promised_by_dataset(s->store, id, piece->needed, visit_missing, &missing,
                                             &piece->whole, err);
    if (rc == ERROR_NONE)
        rc = add_version_before(s, id, err);
    return rc == ERROR_NONE ? missing.rc : rc;
}

/* Looks for missing records. A piece comes before the pieces that it depends on. */
static enum error_code seek_missing(struct store_survey *s, struct error *err)
{
    struct run_binding *run = NULL;
    enum error_code rc = memory_new(&run, 1, "a run", err);
    for (size_t i = 0; rc == ERROR_NONE && i < s->runs.count; i++)
        rc = seek_in_run(s, &s->runs.piece[i], run, err);
    for (size_t i = 0; rc == ERROR_NONE && i < s->partitions.count; i++)
        rc = seek_in_partition(s, &s->partitions.piece[i], err);
    for (size_t i = 0; rc == ERROR_NONE && i < s->datasets.count; i++)
        rc = seek_in_dataset(s, &s->datasets.piece[i], err);
    memory_free(run);
    return rc;
}

/* --- one run --- */

/* Selects one run and what it depends on. A part that cannot be read is found again, and named,
 * when its records are read. */
static enum error_code choose_run(struct store_survey *s, const char *run_id, struct error *err)
{
    struct run_plan *plan = NULL;
    struct partition_book book = {0};
    enum error_code rc = memory_new(&plan, 1, "a run", err);
    if (rc == ERROR_NONE)
        rc = run_plan_get(s->store, run_id, plan, err);
    if (rc == ERROR_NONE || rc == ERROR_CORRUPT) {
        const bool known = rc == ERROR_NONE;
        rc = add_piece(&s->runs, run_id, false, err);
        if (rc == ERROR_NONE && known)
            rc = add_piece(&s->partitions, plan->partition_id, true, err);
        if (rc == ERROR_NONE && known &&
            partition_book_get(s->store, plan->partition_id, &book, NULL) == ERROR_NONE)
            rc = add_piece(&s->datasets, book.dataset_id, true, err);
        if (rc == ERROR_NONE && known)
            rc = add_base(s, plan->partition_id, err);
        for (size_t i = 0; rc == ERROR_NONE && i < s->datasets.count; i++) {
            char id[ID_SIZE];
            must(text_copy(id, sizeof id, s->datasets.piece[i].id));
            rc = add_version_before(s, id, err);
        }
    }
    store_release_record(&book.view);
    memory_free(plan);
    return rc;
}

enum error_code store_survey_read(struct store_survey *survey, const char *run_id,
                                  struct error *err)
{
    enum error_code rc = run_id ? choose_run(survey, run_id, err) : ERROR_NONE;
    if (rc == ERROR_NONE)
        rc = read_all(survey, run_id, err);
    return rc == ERROR_NONE ? seek_missing(survey, err) : rc;
}

/* --- away with it --- */

/* Removes an artifact together with its manifest. */
static enum error_code remove_flaw(struct store *store, const struct flaw *flaw, struct error *err)
{
    struct key other;
    if (flaw->is_switch)
        return store_switch_remove(store, flaw->key, err);
    enum error_code rc = store_remove(store, flaw->key, err);
    if (rc == ERROR_NONE && artifact_counterpart(flaw->key, &other))
        rc = store_remove(store, other.text, err);
    return rc;
}

/* Lists the keys of the run among the flaws, and removes them. */
static enum error_code remove_of_run(struct store_survey *s, const char *run_id, const char **key,
                                     size_t *count, struct error *err)
{
    char id[ID_SIZE];
    enum error_code rc = ERROR_NONE;
    *count = 0;
    for (size_t i = 0; i < s->flaw_count && rc == ERROR_NONE; i++) {
        if (!id_in(s->flaw[i].key, "run", id) || strcmp(id, run_id) != 0)
            continue;
        rc = remove_flaw(s->store, &s->flaw[i], err);
        if (!s->flaw[i].is_switch)
            key[(*count)++] = s->flaw[i].key;
    }
    return rc;
}

static enum error_code remove_visited(void *context, const char *key, bool is_artifact,
                                      struct error *err)
{
    (void)is_artifact;
    return store_remove(context, key, err);
}

/* Returns whether the key is that of a record of a layer, in a folder with records of that kind
 * only. */
static bool is_of_layer(const char *run_id, const char *key)
{
    for (enum unit_kind kind = UNIT_UNKNOWN + 1; kind < UNIT_KIND_COUNT; kind++) {
        const struct unit_row *row = unit_row_of(kind);
        if (!row->folder || !row->has_layer)
            continue;
        const struct key folder = key_run(run_id, row->folder);
        const size_t size = strlen(folder.text);
        if (strncmp(key, folder.text, size) == 0 && key[size] == '/')
            return true;
    }
    return false;
}

/* Removes all inference records of a run if one of its layers is lost. Plan or book is lost too, so
 * it is not known which layers depend on the lost one. Lost rounds are found when the run can be
 * read again (run_recheck.h). */
static enum error_code remove_inference(struct store *store, const char *run_id, const char **key,
                                        size_t count, struct error *err)
{
    bool is_lost_layer = false;
    enum error_code rc = ERROR_NONE;
    for (size_t i = 0; i < count; i++)
        is_lost_layer = is_lost_layer || is_of_layer(run_id, key[i]);
    /* Kinds that depend on others come later in the list, and are removed first. */
    for (enum unit_kind kind = UNIT_KIND_COUNT - 1; is_lost_layer && kind > UNIT_UNKNOWN; kind--) {
        const struct unit_row *row = unit_row_of(kind);
        if (rc == ERROR_NONE && row->folder && row->line == LINE_WEIGHTS)
            rc = store_list(store, key_run(run_id, row->folder).text, remove_visited, store, err);
    }
    return rc;
}

static enum error_code set_back_run(struct store_survey *s, const char *run_id, const char **key,
                                    struct run_binding *run, struct error *err)
{
    struct kept_rounds kept = {0};
    struct chain_state state = {0};
    size_t count = 0;
    enum error_code rc = run_open(s->store, run_id, run, err);
    const bool is_bound = rc == ERROR_NONE;
    if (is_bound)
        rc = kept_rounds_read(s->store, run, &kept, err);
    else if (is_lost(rc))
        rc = run_recheck_ask(s->store, run_id, err);
    if (rc == ERROR_NONE)
        rc = remove_of_run(s, run_id, key, &count, err);
    if (rc == ERROR_NONE && !is_bound)
        rc = remove_inference(s->store, run_id, key, count, err);
    if (rc == ERROR_NONE && is_bound && count)
        rc = run_rewind(s->store, run, &kept, key, count, err);
    if (rc == ERROR_NONE && is_bound)
        rc = chain_state_read(&run->schedule, s->store, run_id, &state, err);
    if (rc == ERROR_NONE && is_bound)
        rc = chain_state_mend(s->store, run_id, &state, err);
    run_close(run);
    return rc;
}

/* Removes the record that completes a dataset or partition, so that ingest or partition makes the
 * piece again. */
static enum error_code reopen(struct store *store, const char *key, struct error *err)
{
    char id[ID_SIZE];
    if (id_in(key, "dataset",
              /* a version cannot be made again without its delta, and an intact one does not need
             * it */
              id))
        return strcmp(key, key_dataset(id, "delta").text) == 0
                   ? ERROR_NONE
                   : store_remove(store, key_dataset(id, "schema").text, err);
    if (id_in(key, "partition", id))
        return store_remove(store, key_partition(id, "book").text, err);
    return ERROR_NONE;
}

/* Removes damaged refs. Some runs can be read after that, so their missing records are looked for
 * now. */
static enum error_code remove_switches(struct store_survey *s, struct run_binding *run,
                                       struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (size_t i = 0; i < s->flaw_count && rc == ERROR_NONE; i++)
        if (s->flaw[i].is_switch)
            rc = remove_flaw(s->store, &s->flaw[i], err);
    for (size_t i = 0; i < s->runs.count && rc == ERROR_NONE; i++)
        if (s->runs.piece[i].unread &&
            run_open(s->store, s->runs.piece[i].id, run, NULL) == ERROR_NONE) {
            run_close(run);
            rc = seek_in_run(s, &s->runs.piece[i], run, err);
        }
    return rc;
}

/* Sets back the runs first, because that reads the books of their partitions, which are removed
 * afterwards. */
enum error_code store_survey_remove(struct store_survey *s, struct error *err)
{
    struct run_binding *run = NULL;
    const char **key = NULL;
    char id[ID_SIZE];
    enum error_code rc = memory_new(&run, 1, "a run", err);
    if (rc == ERROR_NONE)
        rc = remove_switches(s, run, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&key, s->flaw_count + 1, "a list of damaged records", err);
    for (size_t i = 0; rc == ERROR_NONE && i < s->runs.count; i++)
        rc = set_back_run(s, s->runs.piece[i].id, key, run, err);
    for (size_t i = 0; rc == ERROR_NONE && i < s->flaw_count; i++) {
        if (id_in(s->flaw[i].key, "run", id) && find_piece(&s->runs, id))
            continue;
        rc = reopen(s->store, s->flaw[i].key, err);
        if (rc == ERROR_NONE)
            rc = remove_flaw(s->store, &s->flaw[i], err);
    }
    memory_free(key);
    memory_free(run);
    return rc;
}

void store_survey_release(struct store_survey *survey)
{
    memory_free(survey->datasets.piece);
    memory_free(survey->partitions.piece);
    memory_free(survey->runs.piece);
    memory_free(survey->flaw);
    *survey = (struct store_survey){0};
}
