/* Exponentials of a tile of inner products: exp(slope * value - row term - column term), at most 1.
 *
 * exp(x) = 2**k * exp(r) with r = x - k ln 2, |r| <= ln(2) / 2, and exp(r) by its Taylor polynomial.
 * Adding 1.5 * 2**(mantissa bits) rounds x / ln 2 to the integer k and leaves k in the low bits of
 * the sum, so that shifting those bits into the exponent field gives 2**k; every step is a vector
 * instruction. ln 2 is split in two so that k ln 2 is subtracted exactly enough.
 */
#include "core.h"

static void row_in_single(float *restrict row, float term, const float *restrict terms, float slope,
                          Index n)
{
    const float magic = 12582912.0f, log2e = 1.4426950408889634f;
    const float high = 0.693359375f, low = -2.12194440e-4f;
    for (Index j = 0; j < n; j++) {
        float x = slope * row[j] - term - terms[j];
        x = x > -87.0f ? x : -87.0f;
        x = x < 0.0f ? x : 0.0f;
        float v = x * log2e + magic, k = v - magic, r = (x - k * high) - k * low;
        float p = ((1.0f / 5040 * r + 1.0f / 720) * r + 1.0f / 120) * r + 1.0f / 24;
        p = (((p * r + 1.0f / 6) * r + 0.5f) * r + 1.0f) * r + 1.0f;
        int32_t bits;
        memcpy(&bits, &v, sizeof bits);
        bits = (int32_t)((uint32_t)(bits + 127) << 23);
        float power;
        memcpy(&power, &bits, sizeof power);
        row[j] = p * power;
    }
}

static void row_in_double(double *restrict row, double term, const double *restrict terms,
                          double slope, Index n)
{
    const double magic = 6755399441055744.0, log2e = 1.4426950408889634;
    const double high = 0.693145751953125, low = 1.42860682030941723212e-6;
    for (Index j = 0; j < n; j++) {
        double x = slope * row[j] - term - terms[j];
        x = x > -708.0 ? x : -708.0;
        x = x < 0.0 ? x : 0.0;
        double v = x * log2e + magic, k = v - magic, r = (x - k * high) - k * low;
        double p = ((((1.0 / 6227020800 * r + 1.0 / 479001600) * r + 1.0 / 39916800) * r +
                     1.0 / 3628800) * r + 1.0 / 362880) * r + 1.0 / 40320;
        p = ((((p * r + 1.0 / 5040) * r + 1.0 / 720) * r + 1.0 / 120) * r + 1.0 / 24) * r + 1.0 / 6;
        p = ((p * r + 0.5) * r + 1.0) * r + 1.0;
        int64_t bits;
        memcpy(&bits, &v, sizeof bits);
        bits = (int64_t)((uint64_t)(bits + 1023) << 52);
        double power;
        memcpy(&power, &bits, sizeof power);
        row[j] = p * power;
    }
}

int AT_LEVEL(exponentials)(Call *call)
{
    const Argument *tile = &call->arguments[0];
    for (Index i = 0; i < tile->rows; i++)
        if (call->real == 'f')
            row_in_single((float *)tile->data + i * tile->stride,
                          ((float *)call->arguments[1].data)[i], call->arguments[2].data,
                          (float)call->arguments[3].number, tile->columns);
        else
            row_in_double((double *)tile->data + i * tile->stride, DOUBLES(call, 1)[i],
                          DOUBLES(call, 2), call->arguments[3].number, tile->columns);
    return DONE;
}
