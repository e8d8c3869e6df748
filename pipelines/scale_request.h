/*
 * scale_request - how `graphmill scale` tells the driver of a run folder how many workers a stage is to have.
 *
 *   RUN/scale/<stage>          the request, one line of JSON: stage, workers, token
 *   RUN/scale/<stage>.answer   what the driver made of it: token, workers before and after, or why not
 *
 * The driver takes a request away and then answers. One that comes before its workers have begun waits until they do; what a
 * driver left that ended is removed by the next. A request whose driver dies over it is lost, and asked for again.
 */
#ifndef PIPELINES_SCALE_REQUEST_H
#define PIPELINES_SCALE_REQUEST_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum { SCALE_TOKEN_SIZE = 48, SCALE_TEXT_SIZE = 768 };

struct scale_request {
    int stage; /* in stage_loop */
    int64_t workers;
    char token[SCALE_TOKEN_SIZE]; /* made by scale_request_put() */
};

struct scale_answer {
    char token[SCALE_TOKEN_SIZE];
    int64_t before, now;
    char refused[SCALE_TEXT_SIZE]; /* why nothing changed; "" when it did */
};

/* In the place of one for the same stage that nobody has taken. Fails: ERROR_IO. */
MUST_CHECK enum error_code scale_request_put(const char *folder, struct scale_request *request,
                                             struct error *err);
/* *found: *out is the next request of any stage, which is gone from the folder. One that cannot be read is gone, too. */
void scale_request_take(const char *folder, bool *found, struct scale_request *out);
/* Failing to write is no failure of the run. */
void scale_answer_put(const char *folder, const struct scale_request *request,
                      const struct scale_answer *answer);
/* Whether the driver has answered this request. */
bool scale_answer_read(const char *folder, const struct scale_request *request,
                       struct scale_answer *out);
/* All that an earlier driver left. */
void scale_request_clear(const char *folder);

#endif
