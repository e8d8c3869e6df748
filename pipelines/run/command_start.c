/* start - prepares a run up to a filled queue that workers on other machines can process. */
#include "common/base/json.h"
#include "pipelines/run/pipeline_options.h"
#include "pipelines/run/queue_fill.h"
#include "pipelines/run/run_preview.h"
#include "pipelines/shared/commands.h"
#include "pipelines/shared/own_command.h"
#include "pipelines/shared/redis_note.h"
#include "pipelines/shared/run_state.h"
#include "stages/engine/stage_list.h"

#include <stdio.h>

static enum error_code fill_queue(const struct pipeline_options *options,
                                  const struct run_folder *folder, struct error *err)
{
    struct work_queue *queue = NULL;
    enum error_code rc = queue_open_own(folder, options->redis, options->redis_password_file,
                                        "graphmill-start", &queue, err);
    if (rc == ERROR_NONE)
        rc = queue_fill(folder, queue, err);
    work_queue_close(queue);
    if (rc == ERROR_NONE)
        redis_note_write(folder->path, options->redis, options->redis_password_file);
    return rc;
}

static enum error_code answer(const struct pipeline_options *options,
                              const struct run_folder *folder, struct error *err)
{
    struct json_writer json = {0};
    if (!options->json) {
        printf("run=%s store=%s\n", folder->run.plan.id, folder->store_uri);
        return ERROR_NONE;
    }
    json_open_object(&json, NULL);
    json_put_string(&json, "run", folder->run.plan.id);
    json_put_string(&json, "store", folder->store_uri);
    json_close_object(&json);
    return json_writer_print(&json, err);
}

/* Prints " --redis URL", quoted for a shell, with the password file if there is one. */
static void print_redis(const struct pipeline_options *options)
{
    char word[SHELL_WORD_SIZE];
    (void)fprintf(stderr, " --redis %s",
                  options->redis ? shell_word(options->redis, word) : "redis://HOST:6379");
    if (options->redis_password_file)
        (void)fprintf(stderr, " --redis-password-file %s",
                      shell_word(options->redis_password_file, word));
}

/* Prints the next command lines for the user to paste. */
static void print_next(const struct pipeline_options *options, const struct run_folder *folder)
{
    char word[SHELL_WORD_SIZE];
    (void)fflush(stdout);
    (void)fprintf(stderr, "next, wherever the store is seen, any number of each:\n");
    for (int i = 0; i < STAGE_LOOP_COUNT; i++) {
        (void)fprintf(stderr, "    %s-%s --store %s --run %s", own_command(), stage_loop[i].name,
                      shell_word(folder->store_uri, word), folder->run.plan.id);
        print_redis(options);
        (void)fprintf(stderr, " &\n");
    }
    (void)fprintf(stderr,
                  "then, until it is finished; it links %s/outputs at the end:\n    %s status %s",
                  folder->path, own_command(), shell_word(folder->path, word));
    print_redis(options);
    (void)fprintf(stderr, " --watch\n");
}

enum error_code command_start(int argc, char **argv, struct error *err)
{
    static struct pipeline_options options;
    static struct run_folder folder;
    bool shown = false;
    enum error_code rc =
        pipeline_options_parse(&options, "ingest, partition and queue a run for workers elsewhere",
                               argc, argv, &shown, err);
    if (rc != ERROR_NONE || shown)
        return rc;
    if (options.dry_run)
        return run_preview(&options, err);
    rc = pipeline_prepare(&options, &folder, err);
    if (rc == ERROR_NONE && options.redis)
        rc = fill_queue(&options, &folder, err);
    if (rc == ERROR_NONE)
        rc = answer(&options, &folder, err);
    run_state_settle(&folder, rc, err);
    if (rc == ERROR_NONE && !options.quiet)
        print_next(&options, &folder);
    run_folder_close(&folder);
    return rc;
}
