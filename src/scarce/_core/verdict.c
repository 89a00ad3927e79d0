/* The judgement of a small program: plain sums of its own over the kernel values, with a bound of
 * every error, and no code that the steps use. Compiled strictly.
 *
 * In signed variables, for multipliers beta, the duality gap is a sum of what each variable could
 * gain on its own, none of which is negative: with the slope r = gradient + beta,
 *
 *     sum_i max(r_i (x_i - lower_i), r_i (x_i - upper_i)) + beta'(totals - sums).
 *
 * The multipliers are those at which that is smallest, and they are what a model keeps.
 */
#include "core.h"

static const double EPSILON = 2.220446049250313e-16;
static const double WHOLE = 1e-9; /* a mass this near to a sum of widths, relatively, is that sum */

/* Write sum_j A K sign x of every variable, and a bound of its error: of every product and sum, and
 * of the kernel values themselves. */
static void sum_field(const Source *source, const double *x, const Boxes *boxes,
                      const double *coupling, const ErrorBins *bins, double *field, double *error,
                      double *sums, double *sizes, double *masses)
{
    Index n = boxes->n, n_groups = boxes->n_groups, terms = 0;
    const Index *starts = boxes->starts, *columns = source->columns;
    for (Index k = 0; k < n; k++)
        field[k] = error[k] = 0.0, terms += x[k] != 0.0;
    double rounding = EPSILON * (double)(terms + 8);
    for (Index h = 0; h < n_groups; h++) {
        for (Index k = 0; k < n; k++)
            sums[k] = sizes[k] = 0.0;
        for (Index b = 0; b < bins->n_bins; b++)
            masses[b] = 0.0;
        for (Index j = starts[h]; j < starts[h + 1]; j++) {
            if (x[j] == 0.0)
                continue;
            const double *row = source->values + source->lines[j] * source->stride;
            double weight = source->sign[j] * x[j], size = fabs(x[j]);
            masses[bins->codes[j]] += size;
            if (columns == NULL)
                for (Index k = 0; k < n; k++)
                    sums[k] += weight * row[k], sizes[k] += size * fabs(row[k]);
            else
                for (Index k = 0; k < n; k++)
                    sums[k] += weight * row[columns[k]], sizes[k] += size * fabs(row[columns[k]]);
        }
        for (Index g = 0; g < n_groups; g++) {
            double factor = coupling[g * n_groups + h];
            for (Index k = starts[g]; k < starts[g + 1]; k++) {
                const double *unsure = bins->errors + bins->codes[k] * bins->n_bins;
                double wrong = 0.0;
                for (Index b = 0; b < bins->n_bins; b++)
                    if (masses[b] > 0.0) /* zero times an infinite bound says nothing */
                        wrong += masses[b] * unsure[b];
                field[k] += factor * sums[k];
                error[k] += fabs(factor) * (rounding * sizes[k] + wrong);
            }
        }
    }
}

/* The smallest of n values at which the sum of their weights reaches `wanted`; where it is met
 * exactly, the middle between that and the next value. Both arrays are shuffled. */
static double weighted_quantile(double *values, double *weights, Index n, double wanted)
{
    Index low = 0, high = n;
    double below = 0.0, enough = wanted * (1.0 - WHOLE), beyond = INFINITY;
    while (low < high) {
        double a = values[low], b = values[low + (high - low) / 2], c = values[high - 1];
        double pivot = larger(lesser(a, b), lesser(larger(a, b), c));
        Index less = low, more = high;
        double lighter = 0.0, equal = 0.0;
        for (Index k = low; k < more;) {
            double value = values[k], weight = weights[k];
            if (value < pivot) {
                values[k] = values[less], weights[k] = weights[less];
                values[less] = value, weights[less] = weight;
                lighter += weight;
                less++, k++;
            } else if (value > pivot) {
                more--;
                values[k] = values[more], weights[k] = weights[more];
                values[more] = value, weights[more] = weight;
            } else {
                equal += weight;
                k++;
            }
        }
        if (below + lighter >= enough && less > low) {
            beyond = pivot; /* the least of all that are above what is left */
            high = less;
        } else if (below + lighter + equal >= enough || more == high) {
            double reached = below + lighter + equal, next = beyond;
            for (Index k = more; k < high; k++)
                next = lesser(next, values[k]);
            int whole = fabs(reached - wanted) <= WHOLE * wanted && next < INFINITY;
            return whole ? 0.5 * (pivot + next) : pivot;
        } else {
            below += lighter + equal;
            low = more;
        }
    }
    return 0.0;
}

/* The multipliers of the smallest gap: what each variable could gain is piecewise linear in them. */
static void best_multipliers(const double *x, const double *gradient, const Boxes *boxes,
                             double *values, double *weights, double *multipliers)
{
    for (Index g = 0; g < boxes->n_groups; g++) {
        Index count = 0;
        double mass = 0.0, all = 0.0, least = INFINITY, size = 0.0, m = -INFINITY, M = INFINITY;
        for (Index k = boxes->starts[g]; k < boxes->starts[g + 1]; k++)
            size += fabs(x[k]);
        for (Index k = boxes->starts[g]; k < boxes->starts[g + 1]; k++) {
            double width = boxes->upper[k] - boxes->lower[k];
            least = lesser(least, gradient[k]);
            mass += x[k] - boxes->lower[k];
            double room = AT_BOUND * lesser(width, size);
            if (x[k] < boxes->upper[k] - room)
                m = larger(m, -gradient[k]);
            if (x[k] > boxes->lower[k] + room)
                M = lesser(M, -gradient[k]);
            if (width > 0.0) {
                values[count] = gradient[k], weights[count++] = width;
                all += width;
            }
        }
        /* A group at its lower bounds: any multiplier up to the smallest gradient will do. */
        double best = mass > 0.0 && count > 0
                          ? weighted_quantile(values, weights, count, lesser(mass, all))
                          : least;
        /* Sums over boxes of many decades lose the light ones, whose conditions hold in here. */
        multipliers[g] = larger(lesser(best < INFINITY ? -best : 0.0, larger(m, M)), lesser(m, M));
    }
}

int judge(const Source *source, const double *x, const double *linear, const Boxes *boxes,
          const double *totals, const double *coupling, const double *diagonal,
          const ErrorBins *bins, double *field, double *multipliers, Verdict *verdict)
{
    const double *lower = boxes->lower, *upper = boxes->upper;
    const Index *starts = boxes->starts;
    Index n = boxes->n, n_groups = boxes->n_groups;
    double *memory = malloc((size_t)(6 * n + bins->n_bins + 1) * sizeof(double));
    if (memory == NULL)
        return NO_MEMORY;
    double *error = memory, *gradient = memory + n, *root = memory + 2 * n;
    double *values = memory + 3 * n, *weights = memory + 4 * n, *unsure = memory + 5 * n;
    sum_field(source, x, boxes, coupling, bins, field, error, values, weights, memory + 6 * n);
    double quadratic = 0.0, level = 0.0, terms = 0.0, costs = 0.0, spread = 0.0, unknown = 0.0;
    double finite = 0.0;
    for (Index g = 0; g < n_groups; g++)
        for (Index i = starts[g]; i < starts[g + 1]; i++) {
            double part = source->sign[i] * field[i], size = fabs(x[i]);
            double own = fabs(coupling[g * n_groups + g] * diagonal[i]);
            gradient[i] = part + linear[i];
            error[i] += EPSILON * fabs(gradient[i]);
            finite += fabs(gradient[i]) + error[i];
            unknown += 0.5 * size * error[i];
            quadratic += x[i] * part;
            level += x[i] * linear[i];
            terms += own * x[i] * x[i];
            costs += fabs(linear[i]) * size;
            root[i] = sqrt(own);
            spread += root[i] * size;
        }
    if (!(finite + fabs(quadratic) < INFINITY)) { /* every comparison below would be false */
        for (Index g = 0; g < n_groups; g++)
            multipliers[g] = 0.0;
        *verdict = (Verdict){NAN, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY};
        free(memory);
        return DONE;
    }
    best_multipliers(x, gradient, boxes, values, weights, multipliers);
    double objective = 0.5 * quadratic + level;
    if (costs > 0.0)
        terms = lesser(terms, costs);
    /* An optimum of zero (the origin inside the hull) is only known up to rounding of its terms. */
    int zero = fabs(objective) <= ROUNDED_OBJECTIVE * terms;
    double violation = 0.0, gap = 0.0, plain = 0.0, unmet = 0.0, off = 0.0, share = 0.0;
    for (Index g = 0; g < n_groups; g++) {
        double mass = 0.0, sum = 0.0, highest = -INFINITY, lowest = INFINITY, common = 0.0;
        double outside = 0.0;
        for (Index i = starts[g]; i < starts[g + 1]; i++) {
            mass += fabs(x[i]), sum += x[i];
            /* Rounding of a slope's terms (Cauchy and Schwarz), and of those of the multiplier. */
            unsure[i] = ROUNDED_SLOPE * (root[i] * spread + fabs(linear[i]));
            if (x[i] != 0.0)
                common = larger(common, unsure[i]);
            outside = larger(outside, larger(lower[i] - x[i], x[i] - upper[i]));
        }
        for (Index i = starts[g]; i < starts[g + 1]; i++) {
            double room = AT_BOUND * lesser(upper[i] - lower[i], mass);
            if (x[i] < upper[i] - room)
                highest = larger(highest, -gradient[i] + error[i]);
            if (x[i] > lower[i] + room)
                lowest = lesser(lowest, -gradient[i] - error[i]);
            double small = unsure[i] + common;
            if (linear[i] != 0.0)
                small = lesser(small, RESOLVED * fabs(linear[i]));
            double wrong = error[i] + (zero ? 0.0 : unsure[i]), gain = 0.0;
            double slope = gradient[i] + multipliers[g];
            plain += larger(slope * (x[i] - lower[i]), slope * (x[i] - upper[i]));
            for (int side = -1; side <= 1; side += 2) {
                double steepest = slope + side * wrong;
                double reach = steepest > 0.0 ? x[i] - lower[i] : upper[i] - x[i];
                if (!zero || fabs(steepest) > small)
                    gain = larger(gain, fabs(steepest) * reach);
            }
            gap += gain;
        }
        violation = larger(violation, highest - lowest);
        double missing = totals[g] - sum, scale = mass + fabs(totals[g]);
        unmet += multipliers[g] * missing;
        double worst = larger(fabs(missing), outside);
        off = larger(off, worst);
        share = larger(share, scale > 0.0 ? worst / scale : worst);
    }
    gap += fabs(unmet);
    /* The least that either bound of the optimum may be in size, the objective's error considered. */
    double bound = larger(larger(fabs(objective), fabs(objective - gap)) - unknown,
                          ROUNDED_OBJECTIVE * terms);
    *verdict = (Verdict){objective, plain + unmet, gap,       bound > 0.0 ? gap / bound : gap,
                         violation, off,           share};
    free(memory);
    return DONE;
}
