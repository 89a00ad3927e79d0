/* Plain sums of Gaussian values of few rows: what certificates rest on where it matters.
 *
 * Nothing here is shared with the tiles and blocks that solvers work on: one difference after the
 * other of the rows as they were given, another exponential, the quotient of two polynomials, and
 * no product is fused with a sum.
 */
#include "core.h"

/* exp(x) for x up to 0, and 0 for what is below the normal range of numbers. With k the integer next
 * to x / ln 2 and r = x - k ln 2 it is 2**k (1 + 2 r P / (Q - r P)), where P and Q are the
 * polynomials in r**2 of the Cephes library: good to 3e-16. */
static inline double exponential(double x)
{
    double k = floor(1.4426950408889634 * x + 0.5);
    double r = (x - k * 6.93145751953125e-1) - k * 1.42860682030941723212e-6, square = r * r;
    double p = (1.26177193074810590878e-4 * square + 3.02994407707441961300e-2) * square + 1.0;
    double q = (3.00198505138664455042e-6 * square + 2.52448340349684104192e-3) * square;
    q = (q + 2.27265548208155028766e-1) * square + 2.0;
    double fraction = 1.0 + 2.0 * (r * p / (q - r * p));
    /* The integer in the low bits of a sum: AVX2 has no other way to it. */
    double shifted = (x > -708.0 ? k : 0.0) + 6755399441055744.0, power;
    uint64_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 1023) << 52;
    memcpy(&power, &bits, sizeof power);
    return x > -708.0 ? fraction * power : 0.0;
}

int AT_LEVEL(gaussian_sums)(Call *call)
{
    const Argument *X = &call->arguments[0], *weights = &call->arguments[4];
    const Index *rows = INDICES(call, 1), *columns = INDICES(call, 2), *groups = INDICES(call, 5);
    double gamma = call->arguments[3].number, *out = DOUBLES(call, 6);
    Index width = X->columns, m = LENGTH(call, 'm'), n = LENGTH(call, 'n');
    const double *data = X->data;
    double *squares = malloc((size_t)((width + 1) * m + 1) * sizeof(double));
    if (squares == NULL)
        return NO_MEMORY;
    double *others = squares + m;
    for (Index j = 0; j < m; j++)
        for (Index k = 0; k < width; k++)
            others[k * m + j] = data[columns[j] * X->stride + k];
    for (Index i = 0; i < n; i++) {
        const double *row = data + rows[i] * X->stride;
        const double *weight = (const double *)weights->data + groups[i] * weights->stride;
        for (Index j = 0; j < m; j++)
            squares[j] = 0.0;
        for (Index k = 0; k < width; k++) {
            const double *restrict other = others + k * m;
            double value = row[k], *restrict into = squares;
            for (Index j = 0; j < m; j++)
                into[j] += (value - other[j]) * (value - other[j]);
        }
        for (Index j = 0; j < m; j++)
            squares[j] = weight[j] * exponential(-gamma * squares[j]);
        double a = 0.0, b = 0.0, c = 0.0, d = 0.0; /* four sums, none of which waits for another */
        Index j = 0;
        for (; j + 4 <= m; j += 4)
            a += squares[j], b += squares[j + 1], c += squares[j + 2], d += squares[j + 3];
        for (; j < m; j++)
            a += squares[j];
        out[i] = (a + b) + (c + d);
    }
    free(squares);
    return DONE;
}
