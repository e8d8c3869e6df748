/* host - what this machine, or the container we are in, has. */
#ifndef COMMON_BASE_HOST_H
#define COMMON_BASE_HOST_H

#include <stdint.h>

/* Cores that are online; at least 1. */
int host_core_count(void);
/* Memory in bytes: the smaller of physical memory and the limit of our control group. */
uint64_t host_memory_bytes(void);
/* Resident memory of this process now, in bytes. */
uint64_t host_resident_bytes(void);

#endif
