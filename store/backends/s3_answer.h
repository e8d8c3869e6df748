/* s3_answer - what an answer of S3 says: its header lines, and what a status and a code of failure mean. No state. */
#ifndef STORE_BACKENDS_S3_ANSWER_H
#define STORE_BACKENDS_S3_ANSWER_H

#include "common/base/error.h"
#include "store/backends/s3_client.h"

#include <stdbool.h>
#include <stddef.h>

/* Sets back what an attempt before has left in a request; `answer` keeps its room. */
void s3_answer_forget(struct s3_request *request);

/* Takes what a header line [size] says of the object: its ETag, its writer, the bytes of the whole. */
void s3_answer_header(struct s3_request *request, const char *line, size_t size);

/* Whether a failure may pass by itself, by its HTTP status and its code ("" when there is none). */
bool s3_answer_may_pass(int status, const char *code);

/* What a failure that does not pass is called here. */
enum error_code s3_answer_code(int status, const char *code);

#endif
