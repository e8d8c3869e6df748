/*
 * run - does everything: ingest, partition, the workers of the loop, outputs.
 *
 * Started again in the same folder, it resumes; it skips what is done, and says so.
 */
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "pipelines/run/local_run.h"
#include "pipelines/run/run_preview.h"
#include "pipelines/shared/commands.h"
#include "pipelines/shared/run_state.h"
#include "stages/plan/model/run_model.h"

static enum error_code run_all(struct local_run *run, struct error *err)
{
    const double before = clock_seconds();
    enum error_code rc = pipeline_prepare(&run->options, &run->folder, err);
    if (rc == ERROR_NONE)
        rc = local_run_go(run, before, err);
    run_state_settle(&run->folder, rc, err);
    return rc;
}

enum error_code command_run(int argc, char **argv, struct error *err)
{
    struct local_run *run = NULL;
    bool shown = false;
    enum error_code rc = memory_new(&run, 1, "the run", err);
    if (rc == ERROR_NONE)
        rc = pipeline_options_parse(&run->options,
                                    "do all of a pipeline, from raw files to outputs; resumes",
                                    argc, argv, &shown, err);
    if (rc == ERROR_NONE && !shown)
        rc = run_model_check_machine(&run->options.settings, err);
    if (rc == ERROR_NONE && !shown)
        rc = run->options.dry_run ? run_preview(&run->options, err) : run_all(run, err);
    if (run)
        local_run_close(run);
    memory_free(run);
    return rc;
}
