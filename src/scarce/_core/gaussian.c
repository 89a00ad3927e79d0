/* Gaussian values of narrow rows, from differences: no centre, no norms, no BLAS.
 *
 * The rows of the right-hand side are packed: transposed, in blocks of CHUNK of them. A block stays
 * in the nearest cache while rows of the left-hand side go over it, two at a time.
 */
#include "core.h"

enum {
    TOGETHER = 32,   /* rows that go over a block before the next one is read */
    FEW_COLUMNS = 128 /* up to which blocks are better filled with rows of the left-hand side */
};

static const double LOG2_E = 1.4426950408889634;

static inline Index smaller_index(Index a, Index b) { return a < b ? a : b; }

/* Transpose a block of rows; zeros stand behind the last one. */
static void pack_block(const double *rows, Index stride, Index count, Index width,
                       double *restrict block)
{
    for (Index k = 0; k < width; k++)
        for (Index j = 0; j < CHUNK; j++)
            block[k * CHUNK + j] = j < count ? rows[j * stride + k] : 0.0;
}

int AT_LEVEL(pack)(Call *call)
{
    const Argument *Z = &call->arguments[0];
    const double *rows = Z->data;
    double *packed = DOUBLES(call, 1);
    Index n = Z->rows, width = Z->columns, blocks = (n + CHUNK - 1) / CHUNK;
    if (call->arguments[1].rows < blocks * CHUNK * width)
        return call->complaint = "packed must have room for whole blocks of 64 rows", REFUSED;
    for (Index first = 0; first < n; first += CHUNK)
        pack_block(rows + first * Z->stride, Z->stride, n - first, width, packed + first * width);
    return DONE;
}

/* The squared distances of two rows to those of a block, some of them at a time: their sums stay in
 * registers. Every sum is taken from the first column on, whatever the level. */
static void write_squares(const double *restrict one, const double *restrict two, Index width,
                          const double *restrict block, double *restrict tile)
{
    enum { HELD = 4 };
    for (Index first = 0; first < CHUNK; first += HELD * LANES) {
        Lanes sums[2][HELD] = {{{0.0}}};
        for (Index k = 0; k < width; k++) {
            const double *others = block + k * CHUNK + first;
            for (int part = 0; part < HELD; part++) {
                Lanes other = *(const Lanes *)(others + part * LANES);
                Lanes a = one[k] - other, b = two[k] - other;
                sums[0][part] += a * a;
                sums[1][part] += b * b;
            }
        }
        for (int part = 0; part < HELD; part++) {
            *(Lanes *)(tile + first + part * LANES) = sums[0][part];
            *(Lanes *)(tile + CHUNK + first + part * LANES) = sums[1][part];
        }
    }
}

/* 2**(factor * tile) of a block; no value is above 1.
 *
 * 2**y = 2**k * 2**f with |f| <= 1/2. Adding 1.5 * 2**52 rounds y to the integer k and leaves it in
 * the low bits of the sum; shifted into the exponent field they are 2**k. 2**f is its Taylor
 * polynomial, the rest of which is below 2e-16. Every step is a vector instruction. */
static void write_powers(const double *restrict tile, double factor, double *restrict out)
{
    const double magic = 6755399441055744.0;
    const double lowest = -1021.0; /* a value below the normal range becomes its lowest */
    const double c1 = 0.6931471805599453, c2 = 0.2402265069591007, c3 = 0.05550410866482157;
    const double c4 = 0.009618129107628477, c5 = 0.0013333558146428441, c6 = 0.00015403530393381606;
    const double c7 = 1.5252733804059838e-05, c8 = 1.3215486790144305e-06;
    const double c9 = 1.0178086009239696e-07, c10 = 7.054911620801121e-09;
    const double c11 = 4.4455382718708101e-10, c12 = 2.5678435993488196e-11;
    for (Index j = 0; j < CHUNK; j++) {
        double y = factor * tile[j];
        y = y > lowest ? y : lowest;
        double rounded = y + magic, f = y - (rounded - magic);
        double p = (((((c12 * f + c11) * f + c10) * f + c9) * f + c8) * f + c7) * f + c6;
        p = (((((p * f + c5) * f + c4) * f + c3) * f + c2) * f + c1) * f + 1.0;
        int64_t bits;
        memcpy(&bits, &rounded, sizeof bits);
        bits = (int64_t)((uint64_t)(bits + 1023) << 52);
        double power;
        memcpy(&power, &bits, sizeof power);
        out[j] = p * power;
    }
}

/* Both rows' values with a block of which `size` rows are wanted. */
static void write_values(const double *tile, double factor, double *one, double *two, Index size)
{
    double values[CHUNK];
    for (int which = 0; which < 2; which++) {
        double *out = which == 0 ? one : two;
        if (size == CHUNK)
            write_powers(tile + which * CHUNK, factor, out);
        else {
            write_powers(tile + which * CHUNK, factor, values);
            memcpy(out, values, (size_t)size * sizeof(double));
        }
    }
}

int AT_LEVEL(gaussian_rows)(Call *call)
{
    const Argument *X = &call->arguments[0], *out = &call->arguments[4];
    const Index *rows = INDICES(call, 1);
    const double *packed = DOUBLES(call, 2);
    double tile[2 * CHUNK], factor = -call->arguments[3].number * LOG2_E, *values = out->data;
    Index width = X->columns, n = out->columns, count = out->rows;
    if (call->arguments[2].rows < (n + CHUNK - 1) / CHUNK * CHUNK * width)
        return call->complaint = "packed must hold whole blocks of 64 rows", REFUSED;
    for (Index start = 0; start < count; start += TOGETHER) {
        Index stop = smaller_index(count, start + TOGETHER);
        for (Index first = 0; first < n; first += CHUNK)
            for (Index i = start; i < stop; i += 2) {
                Index j = smaller_index(i + 1, stop - 1);
                write_squares((double *)X->data + rows[i] * X->stride,
                              (double *)X->data + rows[j] * X->stride, width,
                              packed + first * width, tile);
                write_values(tile, factor, values + i * out->stride + first,
                             values + j * out->stride + first, smaller_index(CHUNK, n - first));
            }
    }
    return DONE;
}

/* The blocks of rows start:stop up to the diagonal, and what they are mirrored in. The packed rows
 * are X itself, and start is a multiple of CHUNK. */
int AT_LEVEL(gaussian_square)(Call *call)
{
    const Argument *X = &call->arguments[0], *out = &call->arguments[5];
    Index start = call->arguments[1].integer, stop = call->arguments[2].integer;
    const double *packed = DOUBLES(call, 3);
    double tile[2 * CHUNK], factor = -call->arguments[4].number * LOG2_E, *values = out->data;
    Index n = X->rows, width = X->columns, stride = out->stride;
    if (start < 0 || start % CHUNK != 0 || stop < start || stop > n)
        return call->complaint = "start must be a multiple of 64, and stop at most the rows",
               REFUSED;
    if (call->arguments[3].rows < (n + CHUNK - 1) / CHUNK * CHUNK * width)
        return call->complaint = "packed must hold whole blocks of 64 rows", REFUSED;
    for (Index top = start; top < stop; top += CHUNK) {
        Index bottom = smaller_index(stop, top + CHUNK);
        for (Index first = 0; first <= top; first += CHUNK) {
            Index last = smaller_index(n, first + CHUNK);
            for (Index i = top; i < bottom; i += 2) {
                Index j = smaller_index(i + 1, bottom - 1);
                write_squares((double *)X->data + i * X->stride, (double *)X->data + j * X->stride,
                              width, packed + first * width, tile);
                write_values(tile, factor, values + i * stride + first,
                             values + j * stride + first, last - first);
            }
            if (first < top)
                for (Index j = first; j < last; j++)
                    for (Index i = top; i < bottom; i++)
                        values[j * stride + i] = values[i * stride + j];
        }
    }
    return DONE;
}

/* The same sums where the right-hand side has few rows: those of the left-hand side are packed. */
static int sum_few_columns(const Argument *X, const double *packed, double factor,
                           const Argument *weights, const Index *groups, double *out)
{
    Index n = X->rows, width = X->columns, m = weights->columns;
    double *others = malloc((size_t)((CHUNK + m) * width + 1) * sizeof(double));
    if (others == NULL)
        return NO_MEMORY;
    double *block = others + m * width, tile[2 * CHUNK], values[2 * CHUNK];
    for (Index j = 0; j < m; j++)
        for (Index k = 0; k < width; k++)
            others[j * width + k] = packed[(j / CHUNK * width + k) * CHUNK + j % CHUNK];
    for (Index start = 0; start < n; start += CHUNK) {
        Index size = smaller_index(n - start, CHUNK);
        pack_block((double *)X->data + start * X->stride, X->stride, size, width, block);
        for (Index first = 0; first < m; first += 2) {
            Index second = smaller_index(first + 1, m - 1);
            write_squares(others + first * width, others + second * width, width, block, tile);
            write_powers(tile, factor, values);
            write_powers(tile + CHUNK, factor, values + CHUNK);
            for (Index j = first; j <= second; j++) {
                const double *weight = (const double *)weights->data + j;
                const double *restrict value = values + (j - first) * CHUNK;
                double *restrict sums = out + start, all = weight[0];
                if (weights->rows == 1)
                    for (Index i = 0; i < size; i++)
                        sums[i] = fused(all, value[i], sums[i]);
                else
                    for (Index i = 0; i < size; i++)
                        sums[i] = fused(weight[groups[start + i] * weights->stride], value[i], sums[i]);
            }
        }
    }
    free(others);
    return DONE;
}

int AT_LEVEL(gaussian_scores)(Call *call)
{
    const Argument *X = &call->arguments[0], *weights = &call->arguments[3];
    const double *packed = DOUBLES(call, 1), *weight = weights->data;
    const Index *groups = INDICES(call, 4);
    double *out = DOUBLES(call, 5), factor = -call->arguments[2].number * LOG2_E;
    double tile[2 * CHUNK], values[2 * CHUNK];
    Index n = X->rows, width = X->columns, m = weights->columns;
    if (call->arguments[1].rows < (m + CHUNK - 1) / CHUNK * CHUNK * width)
        return call->complaint = "packed must hold whole blocks of 64 rows", REFUSED;
    for (Index i = 0; i < n; i++)
        out[i] = 0.0;
    if (m <= FEW_COLUMNS && n >= CHUNK)
        return sum_few_columns(X, packed, factor, weights, groups, out);
    for (Index start = 0; start < n; start += TOGETHER) {
        Index stop = smaller_index(n, start + TOGETHER);
        for (Index first = 0; first < m; first += CHUNK) {
            Index size = smaller_index(m - first, CHUNK);
            for (Index i = start; i < stop; i += 2) {
                Index j = smaller_index(i + 1, stop - 1);
                write_squares((double *)X->data + i * X->stride, (double *)X->data + j * X->stride,
                              width, packed + first * width, tile);
                write_powers(tile, factor, values);
                write_powers(tile + CHUNK, factor, values + CHUNK);
                out[i] += dot(values, weight + groups[i] * weights->stride + first, size);
                if (j > i)
                    out[j] += dot(values + CHUNK, weight + groups[j] * weights->stride + first,
                                  size);
            }
        }
    }
    return DONE;
}
