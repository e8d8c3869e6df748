#include "common/numbers/portable_math.h"

#include "common/base/error.h"

#include <math.h>
#include <stdbool.h>

static const double half_pi = 1.57079632679489661923, square_root_of_half = 0.70710678118654752440;
/* ln 2 in two parts: the high one has 21 trailing zero bits, so that its product with an exponent
 * is exact. */
static const double log_2_high = 6.93147180369123816490e-01, log_2_low = 1.90821492927058770002e-10;

/* x = m 2^e with m around 1; ln m = 2 atanh(s) = 2 (s + s^3/3 + s^5/5 + ...), s = (m - 1) / (m +
 * 1), |s| < 0.172. */
double portable_log(double x)
{
    int exponent = 0;
    must(x > 0.0 && isfinite(x));
    double mantissa = frexp(x, &exponent); /* exact */
    if (mantissa < square_root_of_half) {
        mantissa *= 2.0;
        exponent--;
    }
    const double s = (mantissa - 1.0) / (mantissa + 1.0), square = s * s;
    double series = 0.0;
    for (int k = 23; k >= 3; k -= 2)
        series = (series + 1.0 / k) * square;
    return exponent * log_2_high + (2.0 * s + (2.0 * s * series + exponent * log_2_low));
}

/* Taylor series; |x| <= pi / 4. */
static double sine_of(double x)
{
    const double square = x * x;
    double series = 1.0;
    for (int k = 18; k >= 2; k -= 2)
        series = 1.0 - series * square / (k * (k + 1));
    return x * series;
}

static double cosine_of(double x)
{
    const double square = x * x;
    double series = 1.0;
    for (int k = 17; k >= 1; k -= 2)
        series = 1.0 - series * square / (k * (k + 1));
    return series;
}

void portable_sin_cos(double turn, double *sine, double *cosine)
{
    must(turn >= 0.0 && turn < 1.0);
    const int quadrant = (int)(4.0 * turn);
    const double share = 4.0 * turn - quadrant; /* of the quadrant; exact */
    const bool is_upper = share > 0.5;
    const double x = (is_upper ? 1.0 - share : share) * half_pi;
    const double s = is_upper ? cosine_of(x) : sine_of(x), c = is_upper ? sine_of(x) : cosine_of(x);
    *sine = quadrant == 0 ? s : quadrant == 1 ? c : quadrant == 2 ? -s : -c;
    *cosine = quadrant == 0 ? c : quadrant == 1 ? -s : quadrant == 2 ? -c : s;
}
