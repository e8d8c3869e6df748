/* s3_answer - interprets an answer of S3: its header lines, and its status and failure code. No
 * state. */
#ifndef STORE_BACKENDS_S3_S3_ANSWER_H
#define STORE_BACKENDS_S3_S3_ANSWER_H

#include "common/base/error.h"
#include "store/backends/s3/s3_client.h"

#include <stdbool.h>
#include <stddef.h>

/* Clears what an earlier attempt left in a request. `answer` keeps its memory. */
void s3_answer_forget(struct s3_request *request);

/* Reads what a header line [size] says about the object: its ETag, its writer, its whole size. */
void s3_answer_header(struct s3_request *request, const char *line, size_t size);

/* Returns whether a failure with this HTTP status and code ("" if none) may pass if the request is
 * repeated. */
bool s3_answer_may_pass(int status, const char *code);

/* Returns the error code for a failure that repeating the request does not cure. */
enum error_code s3_answer_code(int status, const char *code);

#endif
