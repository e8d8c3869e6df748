/*
 * s3_backend - a store in a bucket of S3 or a compatible server: "s3://BUCKET[/PREFIX][?...]"
 * (s3_address.h).
 *
 * Writes use "If-None-Match: *", so that the first writer wins. Damaged objects are removed, and
 * refs exchanged, with If-Match. A server that supports neither cannot hold a store; `graphmill
 * doctor --store` checks it. s3_place.h describes the layout of the objects.
 */
#ifndef STORE_BACKENDS_S3_S3_BACKEND_H
#define STORE_BACKENDS_S3_S3_BACKEND_H

#include "store/objects/object_store.h"

extern const struct object_backend s3_backend;

/* For tests: overwrites the object of a record with `size` bytes, as a broken server would. */
void s3_store_damage(void *state, const char *key, const void *bytes, size_t size);
/* For tests: makes the bucket. Succeeds if it exists. */
MUST_CHECK enum error_code s3_bucket_make(const char *place, struct error *err);

#endif
