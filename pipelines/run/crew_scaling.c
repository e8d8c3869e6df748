#include "pipelines/run/crew_scaling.h"

#include "common/base/clock.h"
#include "pipelines/run/workers_log.h"
#include "pipelines/shared/scale_request.h"

#include <inttypes.h>
#include <stdio.h>

enum { LOOK_PERIOD_MS = 200 };

static enum error_code follow(const struct crew_scaling *scaling, struct stage_crew *crew,
                              const struct scale_request *request, struct scale_answer *answer,
                              struct error *err)
{
    const struct pipeline_options *options = scaling->options;
    const bool embeddings = options->settings.train_step.embedding > 0;
    struct memory_shares shares;
    struct error why = {0};
    int count[STAGE_LOOP_COUNT];
    stage_crew_count(crew, count);
    answer->before = answer->now = count[request->stage];
    if (answer->before == 0) {
        (void)snprintf(answer->refused, sizeof answer->refused, "this run has no workers of %s",
                       stage_loop[request->stage].name);
        return ERROR_NONE;
    }
    if (request->workers < 1 || request->workers > WORKERS_MAX) {
        (void)snprintf(answer->refused, sizeof answer->refused,
                       "expected 1 to %d workers, found %" PRId64, WORKERS_MAX, request->workers);
        return ERROR_NONE;
    }
    count[request->stage] = (int)request->workers;
    if (memory_shares_divide_each(options->memory, count, embeddings, &shares, &why) !=
        ERROR_NONE) {
        (void)snprintf(answer->refused, sizeof answer->refused, "%s", why.message);
        return ERROR_NONE;
    }
    answer->now = request->workers;
    return stage_crew_scale(crew, count, &shares, err);
}

static void tell(const struct crew_scaling *scaling, const struct scale_request *request,
                 const struct scale_answer *answer)
{
    char text[SCALE_TEXT_SIZE + 128];
    const char *stage = stage_loop[request->stage].name;
    if (answer->refused[0])
        (void)snprintf(text, sizeof text, "%" PRId64 " of %s were asked for: %s", request->workers,
                       stage, answer->refused);
    else
        (void)snprintf(text, sizeof text, "%" PRId64 " of %s, where %" PRId64 " were: as asked for",
                       answer->now, stage, answer->before);
    workers_log_tell(scaling->folder, scaling->options->quiet, text);
}

enum error_code crew_scaling_turn(struct crew_scaling *scaling, struct stage_crew *crew,
                                  struct error *err)
{
    const int64_t now = clock_ms();
    const char *folder = scaling->folder->path;
    struct scale_request request = {0};
    struct scale_answer answer = {0};
    bool found = false;
    if (now - scaling->look_ms < LOOK_PERIOD_MS)
        return ERROR_NONE;
    scaling->look_ms = now;
    scale_request_take(folder, &found, &request);
    if (!found)
        return ERROR_NONE;
    const enum error_code rc = follow(scaling, crew, &request, &answer, err);
    if (rc != ERROR_NONE)
        return rc;
    scaling->is_by_hand = scaling->is_by_hand || !answer.refused[0];
    tell(scaling, &request, &answer);
    scale_answer_put(folder, &request, &answer);
    return ERROR_NONE;
}
