/*
 * tiered_backend - two stores as one: "tiered:FAST^DURABLE".
 *
 *   tiered:redis+cluster://10.0.0.7:7000/graphs^s3://graphs/products
 *   tiered:dir:/local/rounds^dir:/shared/store
 *
 * FAST and DURABLE are addresses of stores as store_open() takes them. The '^' between them is in no URI (RFC 3986) and
 * means nothing to YAML, nor to a shell in the middle of a word; the first one in the address divides it.
 *
 * Records of rounds lie in the fast store, all else in the durable one (tiered_keys.h). A record of both is flushed by a copy
 * into the durable one; so a snapshot is there before the switch names it, and the fast store may be lost at any moment, with all
 * that it has, also while programs work: what is gone is made again from the last snapshot on, as after a power cut. A fast
 * store that is gone when it is written to is made again.
 *
 * What both have is read from the fast one. A record that was flushed and has gone there may be put again; whether it is equal to
 * the flushed one is decided when it is flushed the next time. Switches, notes and artifacts are the durable store's.
 */
#ifndef STORE_BACKENDS_TIERED_BACKEND_H
#define STORE_BACKENDS_TIERED_BACKEND_H

#include "store/objects/object_store.h"

/* Between the two addresses. */
#define TIERED_SEPARATOR '^'

extern const struct object_backend tiered_backend;

#endif
