/* Sums and scans, in which no number is a NaN or infinite: the only file that is compiled with loose
 * arithmetic, and it tests nothing for either. Eight partial sums are kept whatever a register
 * holds, so that the order of additions is that of the text. */
#include "core.h"

enum { SUMS = 8, PARTS = SUMS / LANES };

#define SUM_OF(sums, lane) ((sums)[(lane) / LANES][(lane) % LANES])

static inline double all_of(const Lanes *sums)
{
    double a = SUM_OF(sums, 0) + SUM_OF(sums, 4), b = SUM_OF(sums, 1) + SUM_OF(sums, 5);
    double c = SUM_OF(sums, 2) + SUM_OF(sums, 6), d = SUM_OF(sums, 3) + SUM_OF(sums, 7);
    return (a + c) + (b + d);
}

static inline Lanes lanes_at(const double *numbers, int part)
{
    return *(const Lanes *)(numbers + part * LANES);
}

typedef float Narrow __attribute__((vector_size(LANES * sizeof(float)), aligned(4), may_alias));

static inline Narrow narrow_at(const float *numbers, int part)
{
    return *(const Narrow *)(numbers + part * LANES);
}

double dot(const double *restrict a, const double *restrict b, Index n)
{
    Lanes sums[PARTS] = {{0.0}};
    double rest = 0.0;
    Index k = 0;
    for (; k + SUMS <= n; k += SUMS)
        for (int part = 0; part < PARTS; part++)
            sums[part] += lanes_at(a + k, part) * lanes_at(b + k, part);
    for (; k < n; k++)
        rest = fused(a[k], b[k], rest);
    return all_of(sums) + rest;
}

/* Four rows with one other: it is read once, and no sum waits for another. */
void dot_four(const double *a, Index stride, const double *restrict b, Index n, double *totals)
{
    Lanes sums[4][PARTS] = {{{0.0}}};
    double rest[4] = {0.0};
    Index k = 0;
    for (; k + SUMS <= n; k += SUMS)
        for (int row = 0; row < 4; row++)
            for (int part = 0; part < PARTS; part++)
                sums[row][part] += lanes_at(a + row * stride + k, part) * lanes_at(b + k, part);
    for (; k < n; k++)
        for (int row = 0; row < 4; row++)
            rest[row] = fused(a[row * stride + k], b[k], rest[row]);
    for (int row = 0; row < 4; row++)
        totals[row] = all_of(sums[row]) + rest[row];
}

#define REAL float
#define NAMED(name) name##_float
#include "scans.inc"
#undef REAL
#undef NAMED
#define REAL double
#define NAMED(name) name##_double
#include "scans.inc"
#undef REAL
#undef NAMED

/* out[i] += tile[i] . weights[groups[i]], added up in double precision. */
#define WEIGHTED(TILE, WEIGHT, suffix, PRODUCT)                                                    \
    static void weighted_##suffix(const Argument *tile, const Argument *weights,                   \
                                  const Index *groups, double *restrict out)                       \
    {                                                                                              \
        for (Index i = 0; i < tile->rows; i++) {                                                   \
            const TILE *restrict row = (const TILE *)tile->data + i * tile->stride;                \
            const WEIGHT *restrict weight =                                                        \
                (const WEIGHT *)weights->data + groups[i] * weights->stride;                       \
            Lanes sums[2 * PARTS] = {{0.0}};                                                       \
            double rest = 0.0;                                                                     \
            Index j = 0;                                                                           \
            for (; j + 2 * SUMS <= tile->columns; j += 2 * SUMS)                                   \
                for (int part = 0; part < 2 * PARTS; part++)                                       \
                    sums[part] += PRODUCT(row + j, weight + j, part);                              \
            for (; j < tile->columns; j++)                                                         \
                rest = sizeof(TILE) + sizeof(WEIGHT) == 2 * sizeof(float)                          \
                           ? rest + row[j] * weight[j]                                             \
                           : fused(row[j], weight[j], rest);                                       \
            out[i] += (all_of(sums) + all_of(sums + PARTS)) + rest;                                \
        }                                                                                          \
    }
#define WIDENED(lanes) __builtin_convertvector(lanes, Lanes)
#define SINGLE(a, b, part) WIDENED(narrow_at(a, part) * narrow_at(b, part))
#define MIXED(a, b, part) WIDENED(narrow_at(a, part)) * lanes_at(b, part)
#define TURNED(a, b, part) lanes_at(a, part) * WIDENED(narrow_at(b, part))
#define DOUBLE(a, b, part) lanes_at(a, part) * lanes_at(b, part)
WEIGHTED(float, float, ff, SINGLE)
WEIGHTED(float, double, fd, MIXED)
WEIGHTED(double, float, df, TURNED)
WEIGHTED(double, double, dd, DOUBLE)

int AT_LEVEL(weighted_row_sums)(Call *call)
{
    const Argument *tile = &call->arguments[0], *weights = &call->arguments[1];
    const Index *groups = INDICES(call, 2);
    double *out = DOUBLES(call, 3);
    if (tile->type == 'f' && weights->type == 'f')
        weighted_ff(tile, weights, groups, out);
    else if (tile->type == 'f')
        weighted_fd(tile, weights, groups, out);
    else if (weights->type == 'f')
        weighted_df(tile, weights, groups, out);
    else
        weighted_dd(tile, weights, groups, out);
    return DONE;
}
