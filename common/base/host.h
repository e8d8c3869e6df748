/* host - the resources of this machine, or of the container we are in. */
#ifndef COMMON_BASE_HOST_H
#define COMMON_BASE_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the number of cores that are online, that this process may run on (taskset, cpuset), and
 * that the quota of its control group allows; at least 1. */
int host_core_count(void);
/* Functions that end in _below() read control groups and /proc below `root` (control_group.h). */
int host_core_count_below(const char *root);
/* Returns the number of cores that the quota of the control group in `folder` allows, rounded up:
 * cpu.max of version 2, or cpu.cfs_quota_us and cpu.cfs_period_us of version 1. 0: there is no
 * quota. */
int host_cores_of_quota(const char *folder);
/* Writes the processor's name for itself, or "an unknown processor", into `text` [size]. */
void host_processor_name(char *text, size_t size);
/* Returns the memory in bytes: the smallest of physical memory, the limits of our control groups
 * and of those above them, and the limits of this process (ulimit -v and -d). */
uint64_t host_memory_bytes(void);
uint64_t host_memory_bytes_below(const char *root);
/* Returns how many bytes the control group in `folder` may use: the smaller of memory.max and
 * memory.high of version 2, or memory.limit_in_bytes of version 1. 0: no limit. */
uint64_t host_memory_of_limit(const char *folder);
/* Returns the limit of this process for addresses in bytes (ulimit -v); 0: no limit. */
uint64_t host_address_limit(void);
/* Returns how many bytes of addresses this process may still take; UINT64_MAX: no limit. */
uint64_t host_addresses_left(void);
/* Writes "; this process may have 300 MiB of addresses (ulimit -v)" for a message; "" without a
 * limit. */
enum { HOST_NOTE_SIZE = 96 };
void host_address_note(char text[HOST_NOTE_SIZE]);
/* Writes to *count how many processes of our control group, or else of this machine, the kernel has
 * killed for lack of memory so far. Only a change of the number means something. Returns false if
 * the kernel does not report it. */
bool host_oom_kills(uint64_t *count);
bool host_oom_kills_below(const char *root, uint64_t *count);
/* Returns the resident memory of this process now, in bytes. */
uint64_t host_resident_bytes(void);

/* Returns random bits of the system. They are for unique names, never for anything that is
 * computed. */
uint64_t host_random_64(void);

/* Resources that this process has used since its start. */
struct host_usage {
    uint64_t peak_bytes; /* peak of resident memory */
    double user_seconds, system_seconds;
    uint64_t disk_bytes_read, disk_bytes_written; /* excluding what the page cache served */
};
struct host_usage host_usage(void);
/* Returns the peak resident memory of the largest child process that this process has waited
 * for. */
uint64_t host_children_peak_bytes(void);

#endif
