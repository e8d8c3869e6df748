/* start - everything up to a queue that workers elsewhere can empty. */
#include "pipelines/commands.h"
#include "pipelines/pipeline_options.h"
#include "pipelines/queue_fill.h"
#include "pipelines/run_preview.h"

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
    return rc;
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
    if (rc == ERROR_NONE && options.json)
        printf("{\"run\":\"%s\",\"store\":\"%s\"}\n", folder.run.plan.id, folder.store_uri);
    else if (rc == ERROR_NONE)
        printf("run=%s store=%s\n", folder.run.plan.id, folder.store_uri);
    run_folder_close(&folder);
    return rc;
}
