/*
 * tiered_backend - two stores used as one: "tiered:FAST^DURABLE".
 *
 *   tiered:redis+cluster://10.0.0.7:7000/graphs^s3://graphs/products
 *   tiered:dir:/local/rounds^dir:/shared/store
 *
 * FAST and DURABLE are addresses of stores as store_open() accepts them. The first '^' in the
 * address separates them. It is not allowed in a URI (RFC 3986) and means nothing to YAML, nor to a
 * shell in the middle of a word.
 *
 * The fast store holds the records of rounds, the durable store everything else (tiered_keys.h).
 * Flushing a record that belongs to both copies it into the durable store, so a snapshot is there
 * before the ref names it. The fast store may be lost with its content at any moment, also while
 * programs work: what was lost is computed again from the last snapshot on, as after a power cut. A
 * write makes a lost fast store anew.
 *
 * A record that is in both is read from the fast store. If the fast store lost a record that was
 * flushed, it may be put again; it is compared with the flushed one at the next flush. Refs, notes
 * and artifacts are in the durable store.
 */
#ifndef STORE_BACKENDS_TIERED_TIERED_BACKEND_H
#define STORE_BACKENDS_TIERED_TIERED_BACKEND_H

#include "store/objects/object_store.h"

/* Separates the two addresses. */
#define TIERED_SEPARATOR '^'

extern const struct object_backend tiered_backend;

#endif
