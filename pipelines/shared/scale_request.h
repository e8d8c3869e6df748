/*
 * scale_request - the files by which `graphmill scale` asks the driver of a run folder for a number
 * of workers of a stage.
 *
 *   RUN/scale/<stage>          the request, one line of JSON: stage, workers, token
 *   RUN/scale/<stage>.answer   the driver's answer: token, workers before and after, or why not
 *
 * The driver removes a request and then answers it. A request that arrives before the workers have
 * started waits until they have. A driver removes the requests and answers that an earlier driver
 * left. If the driver dies between removal and answer, the request is lost, and has to be made
 * again.
 */
#ifndef PIPELINES_SHARED_SCALE_REQUEST_H
#define PIPELINES_SHARED_SCALE_REQUEST_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum { SCALE_TOKEN_SIZE = 48, SCALE_TEXT_SIZE = 768 };

struct scale_request {
    int stage; /* index in stage_loop */
    int64_t workers;
    char token[SCALE_TOKEN_SIZE]; /* set by scale_request_put() */
};

struct scale_answer {
    char token[SCALE_TOKEN_SIZE];
    int64_t before, now;
    char refused[SCALE_TEXT_SIZE]; /* why nothing changed; "" if it did */
};

/* Writes a request; it replaces one for the same stage that the driver has not taken. Fails:
 * ERROR_IO. */
MUST_CHECK enum error_code scale_request_put(const char *folder, struct scale_request *request,
                                             struct error *err);
/* Takes the next request of any stage out of the folder. *found says whether *out is set. A request
 * that cannot be read is removed, too. */
void scale_request_take(const char *folder, bool *found, struct scale_request *out);
/* Writes the answer. A failure to write does not fail the run. */
void scale_answer_put(const char *folder, const struct scale_request *request,
                      const struct scale_answer *answer);
/* Returns whether the driver has answered this request; if so, *out is the answer. */
bool scale_answer_read(const char *folder, const struct scale_request *request,
                       struct scale_answer *out);
/* Removes all files that an earlier driver left. */
void scale_request_clear(const char *folder);

#endif
