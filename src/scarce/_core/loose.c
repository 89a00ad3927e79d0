/* Sums and scans in which the order of additions is free and no number is a NaN or infinite: the
 * only file that is compiled with loose arithmetic, and it tests nothing for either. */
#include "core.h"

double dot(const double *restrict a, const double *restrict b, Index n)
{
    double total = 0.0;
    for (Index k = 0; k < n; k++)
        total += a[k] * b[k];
    return total;
}

/* Four rows with one other: it is read once, and no sum waits for another. */
void dot_four(const double *a, Index stride, const double *restrict b, Index n, double *sums)
{
    const double *restrict p = a, *restrict q = a + stride;
    const double *restrict r = a + 2 * stride, *restrict s = a + 3 * stride;
    double one = 0.0, two = 0.0, three = 0.0, four = 0.0;
    for (Index k = 0; k < n; k++) {
        double other = b[k];
        one += p[k] * other;
        two += q[k] * other;
        three += r[k] * other;
        four += s[k] * other;
    }
    sums[0] = one, sums[1] = two, sums[2] = three, sums[3] = four;
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

/* out[i] += tile[i] . weights[groups[i]], in double precision. */
#define WEIGHTED(TILE, WEIGHT, suffix)                                                             \
    static void weighted_##suffix(const Argument *tile, const Argument *weights,                   \
                                  const Index *groups, double *restrict out)                       \
    {                                                                                              \
        for (Index i = 0; i < tile->rows; i++) {                                                   \
            const TILE *restrict row = (const TILE *)tile->data + i * tile->stride;                \
            const WEIGHT *restrict weight =                                                        \
                (const WEIGHT *)weights->data + groups[i] * weights->stride;                       \
            double total = 0.0;                                                                    \
            for (Index j = 0; j < tile->columns; j++)                                              \
                total += row[j] * weight[j];                                                       \
            out[i] += total;                                                                       \
        }                                                                                          \
    }
WEIGHTED(float, float, ff)
WEIGHTED(float, double, fd)
WEIGHTED(double, float, df)
WEIGHTED(double, double, dd)

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
