/*
 * s3_backend - a store in a bucket of S3, or of whatever speaks its protocol: "s3://BUCKET[/PREFIX][?...]" (s3_address.h).
 *
 * The first writer wins by If-None-Match: *, what is damaged goes by If-Match, and so are refs exchanged; a server that knows neither
 * cannot hold a store (`graphmill doctor --store` tells). Objects lie as s3_place.h says.
 */
#ifndef STORE_BACKENDS_S3_BACKEND_H
#define STORE_BACKENDS_S3_BACKEND_H

#include "store/objects/object_store.h"

extern const struct object_backend s3_backend;

/* For tests. Puts `size` bytes where the record lies, as a broken server would. */
void s3_store_damage(void *state, const char *key, const void *bytes, size_t size);
/* For tests: makes the bucket; one that is there is fine. */
MUST_CHECK enum error_code s3_bucket_make(const char *place, struct error *err);

#endif
