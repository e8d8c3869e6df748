#include "common/base/memory.h"

#include "common/base/host.h"

#include <stdatomic.h>
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <sys/mman.h>
#include <unistd.h>

static atomic_long countdown = -1;
static atomic_long live_blocks;
static atomic_long allocation_count;

static int allowed(void)
{
    const long left = atomic_load(&countdown);
    if (left == 0)
        return 0;
    if (left > 0)
        atomic_fetch_sub(&countdown, 1);
    atomic_fetch_add(&allocation_count, 1);
    return 1;
}

/* Returns whether an array is larger than a difference of pointers can be; some allocators abort on
 * such a request. */
static int is_too_large(size_t count, size_t size)
{
    return size && count > PTRDIFF_MAX / size;
}

void *memory_alloc(size_t count, size_t size)
{
    if (is_too_large(count, size) || !allowed())
        return NULL;
    void *p = calloc(count ? count : 1, size ? size : 1);
    if (p)
        atomic_fetch_add(&live_blocks, 1);
    return p;
}

/* Reports a failed allocation. The message names a limit of addresses too, because it is the only
 * hint why a machine with free memory refuses. */
static enum error_code refused(const char *what, size_t count, size_t size, struct error *err)
{
    char note[HOST_NOTE_SIZE];
    host_address_note(note);
    return error_set(err, ERROR_NO_MEMORY, "no memory for %s: %zu x %zu bytes%s", what, count, size,
                     note);
}

enum error_code memory_new_bytes(void **out, size_t count, size_t size, const char *what,
                                 struct error *err)
{
    *out = memory_alloc(count, size);
    return *out ? ERROR_NONE : refused(what, count, size, err);
}

void *memory_resize(void *p, size_t count, size_t size)
{
    if (is_too_large(count, size) || !allowed())
        return NULL;
    const size_t bytes = count * size;
    void *grown = realloc(p, bytes ? bytes : 1);
    if (grown && !p)
        atomic_fetch_add(&live_blocks, 1);
    return grown;
}

enum error_code memory_grow_bytes(void **array, size_t *capacity, size_t count, size_t size,
                                  const char *what, struct error *err)
{
    enum { LEAST = 16 };
    if (count <= *capacity)
        return ERROR_NONE;
    const size_t more = *capacity + *capacity / 2 + LEAST;
    const size_t wanted = more > count ? more : count;
    void *grown = memory_resize(*array, wanted, size);
    if (!grown)
        return refused(what, wanted, size, err);
    *array = grown;
    *capacity = wanted;
    return ERROR_NONE;
}

void memory_free(void *p)
{
    if (!p)
        return;
    atomic_fetch_sub(&live_blocks, 1);
    free(p);
}

void memory_trim(void)
{
#ifdef __GLIBC__
    (void)malloc_trim(0);
#endif
}

static void *map(size_t bytes, int protection, int flags)
{
    if (!allowed())
        return NULL;
    void *p = mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    atomic_fetch_add(&live_blocks, 1);
    return p;
}

void *memory_map(size_t bytes)
{
    void *p = map(bytes ? bytes : 1, PROT_READ | PROT_WRITE, 0);
    if (p)
        (void)madvise(p, bytes, MADV_HUGEPAGE); /* a hint; kernels without it refuse */
    return p;
}

void *memory_reserve(size_t bytes)
{
    return map(bytes, PROT_NONE, MAP_NORESERVE);
}

bool memory_commit(void *p, size_t bytes)
{
    if (!allowed() || mprotect(p, bytes, PROT_READ | PROT_WRITE) != 0)
        return false;
    (void)madvise(p, bytes, MADV_HUGEPAGE);
    return true;
}

void memory_unmap(void *p, size_t bytes)
{
    if (!p)
        return;
    atomic_fetch_sub(&live_blocks, 1);
    (void)munmap(p, bytes ? bytes : 1);
}

size_t memory_unmap_tail(void *p, size_t bytes, size_t kept)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t left = (kept + page - 1) / page * page;
    if (left >= bytes || left == 0 || munmap((char *)p + left, bytes - left) != 0)
        return bytes;
    return left;
}

void memory_fail_after(long n)
{
    atomic_store(&countdown, n);
}

long memory_live_blocks(void)
{
    return atomic_load(&live_blocks);
}

long memory_allocation_count(void)
{
    return atomic_load(&allocation_count);
}
