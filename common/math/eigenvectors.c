#include "common/math/eigenvectors.h"

#include "common/base/memory.h"
#include "common/math/blas.h"
#include "common/numbers/random.h"

#include <arpack/arpack.h>
#include <math.h>
#include <string.h>

_Static_assert(sizeof(a_int) == sizeof(int32_t),
               "built for ARPACK with 32-bit integers, as Debian's");

enum { RESTARTS = 1000, MULTIPLY = 1, MULTIPLY_AGAIN = -1, DONE = 99, NOT_ALL_CONVERGED = 1 };

/* The working memory of ARPACK; owned. */
struct iteration {
    a_int size, count, basis_size, work_size;
    double *start;   /* [size] */
    double *basis;   /* [basis_size, size] */
    double *vectors; /* [3, size], the vector to multiply, and the product */
    double *work;    /* [work_size] */
    double *value;   /* [count] ascending */
    a_int *chosen;   /* [basis_size] */
    a_int parameter[11], place[14];
};

static a_int basis_of(uint64_t size, int count)
{
    const uint64_t wanted = 2 * (uint64_t)count + 20;
    return (a_int)(wanted < size ? wanted : size);
}

uint64_t eigenvectors_bytes(uint64_t size, int count)
{
    return size * sizeof(double) * ((uint64_t)basis_of(size, count) + 4);
}

static void release(struct iteration *it)
{
    memory_free(it->start);
    memory_free(it->basis);
    memory_free(it->vectors);
    memory_free(it->work);
    memory_free(it->value);
    memory_free(it->chosen);
}

static enum error_code init(struct iteration *it, int32_t size, int count, int64_t seed,
                            struct error *err)
{
    const struct random_stream stream =
        random_stream_of((uint64_t)seed, RANDOM_STREAM_ORDER, 0, 2, 0);
    const size_t n = (size_t)size;
    *it = (struct iteration){.size = size, .count = count, .basis_size = basis_of(n, count)};
    it->work_size = it->basis_size * (it->basis_size + 8);
    enum error_code rc = memory_new(&it->start, n, "eigenvectors", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&it->basis, n * (size_t)it->basis_size, "eigenvectors", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&it->vectors, 3 * n, "eigenvectors", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&it->work, (size_t)it->work_size, "eigenvectors", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&it->value, (size_t)count, "eigenvectors", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&it->chosen, (size_t)it->basis_size, "eigenvectors", err);
    for (size_t i = 0; rc == ERROR_NONE && i < n; i++)
        it->start[i] = random_unit_double(&stream, i, 0) - 0.5;
    it->parameter[0] = 1;        /* ARPACK chooses the shifts */
    it->parameter[2] = RESTARTS; /* maximum */
    it->parameter[6] = 1;        /* the problem A x = lambda x */
    return rc;
}

static enum error_code iterate(struct iteration *it, const struct symmetric_matrix *matrix,
                               double tolerance, struct error *err)
{
    a_int wanted = 0, info = 1; /* start from it->start */
    while (wanted != DONE) {
        dsaupd_c(&wanted, "I", it->size, "LA", it->count, tolerance, it->start, it->basis_size,
                 it->basis, it->size, it->parameter, it->place, it->vectors, it->work,
                 it->work_size, &info);
        if (wanted == MULTIPLY || wanted == MULTIPLY_AGAIN)
            matrix->product(matrix->context, &it->vectors[it->place[0] - 1],
                            &it->vectors[it->place[1] - 1]);
        else if (wanted != DONE)
            return error_set(err, ERROR_BUG, "ARPACK wants %d, which it does not here", wanted);
    }
    if (info < 0)
        return error_set(err, ERROR_BUG, "ARPACK's dsaupd refuses, status %d", info);
    return ERROR_NONE;
}

/* Copies the vectors to it->basis, one after another, by ascending eigenvalue. */
static enum error_code extract(struct iteration *it, double tolerance, struct error *err)
{
    a_int info = 0;
    dseupd_c(1, "A", it->chosen, it->value, it->basis, it->size, 0.0, "I", it->size, "LA",
             it->count, tolerance, it->start, it->basis_size, it->basis, it->size, it->parameter,
             it->place, it->vectors, it->work, it->work_size, &info);
    if (info != 0)
        return error_set(err, ERROR_BUG, "ARPACK's dseupd refuses, status %d", info);
    return ERROR_NONE;
}

static void put_vector(const double *from, int32_t size, double *to)
{
    double farthest = 0.0;
    for (int32_t i = 0; i < size; i++)
        if (fabs(from[i]) > fabs(farthest))
            farthest = from[i];
    for (int32_t i = 0; i < size; i++)
        to[i] = farthest < 0.0 ? -from[i] : from[i];
}

enum error_code eigenvectors_largest(const struct symmetric_matrix *matrix, int count,
                                     double tolerance, int64_t seed, double *vector, double *value,
                                     int *found, struct error *err)
{
    const size_t n = (size_t)matrix->size;
    struct iteration it = {0};
    must(count >= 1 && count < matrix->size - 1);
    blas_start();
    *found = 0;
    memset(vector, 0, (size_t)count * n * sizeof *vector);
    memset(value, 0, (size_t)count * sizeof *value);
    enum error_code rc = init(&it, matrix->size, count, seed, err);
    if (rc == ERROR_NONE)
        rc = iterate(&it, matrix, tolerance, err);
    const int converged = rc == ERROR_NONE ? it.parameter[4] : 0;
    if (rc == ERROR_NONE && converged > 0)
        rc = extract(&it, tolerance, err);
    for (int i = 0; rc == ERROR_NONE && i < converged && i < count; i++) {
        const int from = converged - 1 - i;
        put_vector(&it.basis[(size_t)from * n], matrix->size, &vector[(size_t)i * n]);
        value[i] = it.value[from];
        *found = i + 1;
    }
    release(&it);
    return rc;
}
