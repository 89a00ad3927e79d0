/* Optimality scans over all variables, and questions to a block of the matrix. */
#include "core.h"

int AT_LEVEL(group_extremes)(Call *call)
{
    const double *gradient = DOUBLES(call, 0), *x = DOUBLES(call, 1), *lower = DOUBLES(call, 2);
    const double *upper = DOUBLES(call, 3);
    const Index *groups = INDICES(call, 4);
    double *m = DOUBLES(call, 5), *M = DOUBLES(call, 6);
    for (Index g = 0; g < LENGTH(call, 'g'); g++)
        m[g] = -INFINITY, M[g] = INFINITY;
    for (Index i = 0; i < LENGTH(call, 'n'); i++) {
        Index g = groups[i];
        double wanted = -gradient[i];
        if (x[i] < upper[i] && wanted > m[g])
            m[g] = wanted;
        if (x[i] > lower[i] && wanted < M[g])
            M[g] = wanted;
    }
    return DONE;
}

int AT_LEVEL(extreme_rows)(Call *call)
{
    const double *gradient = DOUBLES(call, 0), *x = DOUBLES(call, 1), *lower = DOUBLES(call, 2);
    const double *upper = DOUBLES(call, 3);
    const Index *groups = INDICES(call, 4);
    Index *top = INDICES(call, 5), *bottom = INDICES(call, 6);
    for (Index g = 0; g < LENGTH(call, 'g'); g++)
        top[g] = bottom[g] = -1;
    for (Index i = 0; i < LENGTH(call, 'n'); i++) {
        Index g = groups[i];
        if (x[i] < upper[i] && (top[g] < 0 || gradient[i] < gradient[top[g]]))
            top[g] = i;
        if (x[i] > lower[i] && (bottom[g] < 0 || gradient[i] > gradient[bottom[g]]))
            bottom[g] = i;
    }
    return DONE;
}

int AT_LEVEL(violation_keys)(Call *call)
{
    const double *gradient = DOUBLES(call, 0), *x = DOUBLES(call, 1), *lower = DOUBLES(call, 2);
    const double *upper = DOUBLES(call, 3), *multipliers = DOUBLES(call, 5);
    const Index *groups = INDICES(call, 4);
    double *keys = DOUBLES(call, 6);
    for (Index i = 0; i < LENGTH(call, 'n'); i++) {
        double excess = -gradient[i] - multipliers[groups[i]];
        int up = x[i] < upper[i], low = x[i] > lower[i];
        keys[i] = up && low ? fabs(excess) : up ? excess : low ? -excess : -INFINITY;
    }
    return DONE;
}

/* The rows that violate of those that are absent, the one that was asked for first, then the
 * clearest; none if nothing violates by more than `tol`. */
int AT_LEVEL(next_rows)(Call *call)
{
    const Index *where = INDICES(call, 0), *starts = INDICES(call, 3);
    const double *lower = DOUBLES(call, 1), *upper = DOUBLES(call, 2);
    const double *gradient = DOUBLES(call, 4), *x = DOUBLES(call, 5);
    Index asked = call->arguments[6].integer, *rows = INDICES(call, 8), count = 0, clear = 0;
    double tol = call->arguments[7].number, *keys = DOUBLES(call, 9), worst = 0.0;
    Index n = LENGTH(call, 'n');
    if (asked >= n)
        return call->complaint = "asked must be -1 or a variable", REFUSED;
    for (Index k = 0; k < n; k++)
        keys[k] = -INFINITY;
    for (Index g = 0; g < LENGTH(call, 'g'); g++) {
        double m = -INFINITY, M = INFINITY;
        for (Index k = starts[g]; k < starts[g + 1]; k++) {
            if (x[k] < upper[k])
                m = larger(m, -gradient[k]);
            if (x[k] > lower[k])
                M = lesser(M, -gradient[k]);
        }
        if (!(m - M > tol))
            continue;
        for (Index k = starts[g]; k < starts[g + 1]; k++) {
            if (where[k] >= 0)
                continue;
            if (x[k] < upper[k])
                keys[k] = -gradient[k] - 0.5 * (m + M);
            if (x[k] > lower[k])
                keys[k] = larger(keys[k], gradient[k] + 0.5 * (m + M));
            worst = larger(worst, keys[k]);
        }
    }
    if (asked >= 0)
        rows[count++] = asked;
    for (int pass = 0; pass < 3; pass++) {
        double share = pass == 0 ? 0.5 : pass == 1 ? 0.1 : 0.0;
        clear = pass == 2 ? count : clear;
        for (Index k = 0; k < n; k++)
            if (keys[k] > share * worst && k != asked) {
                rows[count++] = k;
                keys[k] = -INFINITY;
            }
    }
    call->results[0] = (double)count, call->results[1] = (double)clear;
    return DONE;
}

/* Whether a pair of one group has a negative curvature beyond a share of its terms. */
#define BENDS(REAL, suffix)                                                                        \
    static int bends_##suffix(const Argument *Q, const double *scale, const double *extra,         \
                              const Index *starts, Index n_groups, double share)                   \
    {                                                                                              \
        const REAL *values = Q->data;                                                              \
        for (Index g = 0; g < n_groups; g++) {                                                     \
            double factor = scale[g * n_groups + g];                                               \
            for (Index i = starts[g]; i < starts[g + 1]; i++) {                                    \
                const REAL *row = values + i * Q->stride;                                          \
                double q_ii = factor * row[i] + extra[i];                                          \
                for (Index j = starts[g]; j < i; j++) {                                            \
                    double q_jj = factor * values[j * Q->stride + j] + extra[j];                   \
                    double twice = 2.0 * factor * row[j];                                          \
                    if (q_ii + q_jj - twice < -share * (fabs(q_ii) + fabs(q_jj) + fabs(twice)))    \
                        return 1;                                                                  \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
        return 0;                                                                                  \
    }
BENDS(float, float)
BENDS(double, double)

int AT_LEVEL(bends_down)(Call *call)
{
    call->results[0] = (call->real == 'f' ? bends_float : bends_double)(
        &call->arguments[0], DOUBLES(call, 1), DOUBLES(call, 2), INDICES(call, 3),
        LENGTH(call, 'g'), call->arguments[4].number);
    return DONE;
}
