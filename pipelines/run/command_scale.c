/*
 * scale - changes the number of workers of a stage while its run goes on. It asks the driver of a
 * local run; for a run on Kubernetes it prints the patch. No result depends on the number of
 * workers.
 */
#include "common/base/clock.h"
#include "common/base/options.h"
#include "common/base/stop_signal.h"
#include "common/base/text.h"
#include "pipelines/render/render_run.h"
#include "pipelines/run/pipeline_options.h"
#include "pipelines/shared/commands.h"
#include "pipelines/shared/run_folder.h"
#include "pipelines/shared/scale_request.h"
#include "stages/engine/stage_list.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { PODS_MAX = 10000, ANSWER_MS = 5000, ASK_MS = 20 };

struct scale_options {
    const char *form, *namespace;
};

/* clang-format off */
#define AT(field) offsetof(struct scale_options, field)
static const struct option_spec option_table[] = {
    {"form", OPTION_TEXT, AT(form), NULL, 0, 0, "FORM",
     "for a run on Kubernetes: jobs (RUN is its name from graphmill render) or base (k8s/base, "
     "without RUN); prints the patch"},
    {"namespace", OPTION_TEXT, AT(namespace), "graphmill", 0, 0, "NAME", "namespace of that run"},
    {.name = NULL},
};
/* clang-format on */

static void print_help(void)
{
    printf("graphmill scale RUN STAGE N - N workers of a stage, in mid-run\n"
           "graphmill scale NAME STAGE N --form jobs - the command that does it on Kubernetes\n\n");
    options_print_help(option_table);
    printf(
        "\nSTAGE is sample, train-step, aggregate, checkpoint or infer. The memory of a local run "
        "is divided anew.\n");
}

/* --- what is asked for --- */

struct scale_words {
    const char *run;
    int stage; /* index in stage_loop */
    int64_t workers;
};

static enum error_code find_stage(const char *name, int *stage, struct error *err)
{
    const char *names[STAGE_LOOP_COUNT + 1] = {NULL};
    for (int i = 0; i < STAGE_LOOP_COUNT; i++) {
        names[i] = stage_loop[i].name;
        if (strcmp(name, names[i]) == 0) {
            *stage = i;
            return ERROR_NONE;
        }
    }
    for (int i = 0; i < STAGE_ONCE_COUNT; i++)
        if (strcmp(name, stage_list[i].name) == 0)
            return error_set(err, ERROR_USAGE,
                             "%s is one unit of work, which more workers would not share; it "
                             "takes --threads",
                             name);
    const char *nearest = text_nearest(name, names);
    return error_set(err, ERROR_USAGE,
                     "expected a stage that has workers, sample, train-step, aggregate, checkpoint "
                     "or infer, found '%s'%s%s%s",
                     name, nearest ? "; did you mean '" : "", nearest ? nearest : "",
                     nearest ? "'?" : "");
}

static enum error_code read_words(const struct option_list *rest, bool has_run, int64_t most,
                                  struct scale_words *out, struct error *err)
{
    const int first = has_run ? 1 : 0;
    if (rest->count != first + 2)
        return error_set(err, ERROR_USAGE,
                         has_run ? "graphmill scale takes a run, a stage and a number of workers, "
                                   "such as runs/my train-step 6"
                                 : "graphmill scale --form base takes a stage and a number of "
                                   "workers, such as train-step 6");
    const char *number = rest->item[first + 1];
    out->run = rest->item[0];
    const enum error_code rc = find_stage(rest->item[first], &out->stage, err);
    if (rc != ERROR_NONE)
        return rc;
    if (!text_int64(number, strlen(number), &out->workers) || out->workers < 1 ||
        out->workers > most)
        return error_set(err, ERROR_USAGE,
                         "expected 1 to %" PRId64 " workers of %s, found '%s'; a run without any "
                         "would stand still",
                         most, stage_loop[out->stage].name, number);
    return ERROR_NONE;
}

/* --- on Kubernetes --- */

/* Prints the patch. The two numbers of an Indexed Job must change together, or Kubernetes refuses
 * the patch. */
static enum error_code print_patch(const struct scale_words *words, const char *run,
                                   const char *namespace, struct error *err)
{
    const char *stage = stage_loop[words->stage].name;
    if (!render_is_name(namespace, 63) || (run && !render_is_name(run, RENDER_NAME_SIZE - 1)))
        return error_set(err, ERROR_USAGE,
                         "expected the name of a run that graphmill render gave, and of a "
                         "namespace: lower-case letters, digits and '-' between them, found '%s' "
                         "and '%s'",
                         run ? run : "", namespace);
    printf("kubectl -n %s patch job %s%s%s --type=merge -p "
           "'{\"spec\":{\"parallelism\":%" PRId64 ",\"completions\":%" PRId64 "}}'\n",
           namespace, run ? run : "", run ? "-" : "", stage, words->workers, words->workers);
    return ERROR_NONE;
}

static enum error_code scale_on_cluster(const struct scale_options *options,
                                        const struct option_list *rest, struct error *err)
{
    struct scale_words words = {0};
    const bool is_base = strcmp(options->form, "base") == 0;
    if (strcmp(options->form, "argo") == 0 || strcmp(options->form, "indexed") == 0)
        return error_set(err, ERROR_USAGE,
                         "--form %s: its Pods are counted when it is applied; " ADVICE
                         "delete it, and apply "
                         "what graphmill render --workers N prints: what is done stays done",
                         options->form);
    if (!is_base && strcmp(options->form, "jobs") != 0)
        return error_set(err, ERROR_USAGE, "--form: expected jobs or base, found '%s'",
                         options->form);
    const enum error_code rc = read_words(rest, !is_base, PODS_MAX, &words, err);
    return rc == ERROR_NONE
               ? print_patch(&words, is_base ? NULL : words.run, options->namespace, err)
               : rc;
}

/* --- here --- */

static enum error_code tell(const struct scale_words *words, const struct scale_answer *answer,
                            struct error *err)
{
    if (answer->refused[0])
        return error_set(err, ERROR_INVALID, "%s: %s", words->run, answer->refused);
    printf("%s: %" PRId64 " workers, where %" PRId64 " were\n", stage_loop[words->stage].name,
           answer->now, answer->before);
    return ERROR_NONE;
}

static enum error_code scale_here(const struct scale_words *words, struct error *err)
{
    const int64_t until = clock_ms() + ANSWER_MS;
    struct scale_request request = {.stage = words->stage, .workers = words->workers};
    struct scale_answer answer = {0};
    bool driven = false, found = false;
    enum error_code rc = file_is_there(words->run, &found, err);
    if (rc == ERROR_NONE && !found)
        return error_set(err, ERROR_NOT_FOUND, "%s: there is no such folder", words->run);
    if (rc == ERROR_NONE)
        rc = run_folder_is_driven(words->run, &driven, err);
    if (rc == ERROR_NONE && !driven)
        return error_set(err, ERROR_UNAVAILABLE,
                         "%s: no graphmill run is at work there; the next one takes --workers, and "
                         "a run on Kubernetes --form jobs",
                         words->run);
    if (rc == ERROR_NONE)
        rc = scale_request_put(words->run, &request, err);
    while (rc == ERROR_NONE && driven && clock_ms() < until && !stop_signal_seen()) {
        if (scale_answer_read(words->run, &request, &answer))
            return tell(words, &answer, err);
        clock_sleep_ms(ASK_MS);
        rc = run_folder_is_driven(words->run, &driven, err);
    }
    if (rc == ERROR_NONE && !driven)
        return error_set(err, ERROR_UNAVAILABLE, "%s: the run ended meanwhile", words->run);
    if (rc == ERROR_NONE)
        printf("%s: %" PRId64 " workers as soon as there are any\n", stage_loop[words->stage].name,
               words->workers);
    return rc;
}

enum error_code command_scale(int argc, char **argv, struct error *err)
{
    struct scale_options options = {0};
    struct option_list rest = {0};
    struct scale_words words = {0};
    if (options_want_help(argc, argv)) {
        print_help();
        return ERROR_NONE;
    }
    enum error_code rc = options_parse(option_table, argc, argv, &options, &rest, err);
    if (rc == ERROR_NONE && options.form)
        return scale_on_cluster(&options, &rest, err);
    if (rc == ERROR_NONE)
        rc = read_words(&rest, true, WORKERS_MAX, &words, err);
    return rc == ERROR_NONE ? scale_here(&words, err) : rc;
}
