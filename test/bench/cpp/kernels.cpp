// Rivals of the CPU kernels: what a C++ compiler makes of the plain loops, with the vector functions of glibc (libmvec)
// where they help. usage: kernels NAME SECONDS; runs the kernel for so long, five times at least, and prints the time in
// seconds that a fifth of the runs keep within. Built with g++ -O3 -march=native -fopenmp.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

// glibc declares its vector forms under -ffast-math alone, which would change more than these calls
#pragma omp declare simd notinbranch
extern "C" float expf(float) noexcept;
#pragma omp declare simd notinbranch
extern "C" float erff(float) noexcept;

static const long ROWS = 16384, COLUMNS = 4096; // 256 MB of float

struct Buffer {
  float *p;
  explicit Buffer(long n) : p(static_cast<float *>(aligned_alloc(64, ((n * 4 + 63) / 64) * 64))) {
#pragma omp parallel for
    for (long i = 0; i < n; i++) p[i] = 0.001f * static_cast<float>(i % 2001 - 1000);
  }
  ~Buffer() { free(p); }
};

static double fastFifth(double seconds, const std::function<void()> &f) {
  std::vector<double> times;
  for (double all = 0; all < seconds || times.size() < 5; all += times.back()) {
    auto start = std::chrono::steady_clock::now();
    f();
    times.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 5];
}

static double add(double seconds) {
  long n = ROWS * COLUMNS;
  Buffer a(n), b(n), out(n);
  return fastFifth(seconds, [&] {
#pragma omp parallel for
    for (long i = 0; i < n; i++) out.p[i] = a.p[i] + b.p[i];
  });
}

static double gelu(double seconds) {
  long n = ROWS * COLUMNS;
  Buffer a(n), out(n);
  return fastFifth(seconds, [&] {
#pragma omp parallel for simd
    for (long i = 0; i < n; i++) out.p[i] = 0.5f * a.p[i] * (1.0f + erff(a.p[i] * 0.70710678f));
  });
}

static double softmax(double seconds) {
  Buffer a(ROWS * COLUMNS), out(ROWS * COLUMNS);
  return fastFifth(seconds, [&] {
#pragma omp parallel for
    for (long r = 0; r < ROWS; r++) {
      const float *x = a.p + r * COLUMNS;
      float *y = out.p + r * COLUMNS;
      float max = -INFINITY, sum = 0;
#pragma omp simd reduction(max : max)
      for (long i = 0; i < COLUMNS; i++) max = std::max(max, x[i]);
#pragma omp simd reduction(+ : sum)
      for (long i = 0; i < COLUMNS; i++) sum += y[i] = expf(x[i] - max);
      float scale = 1.0f / sum;
#pragma omp simd
      for (long i = 0; i < COLUMNS; i++) y[i] *= scale;
    }
  });
}

static double layer_norm(double seconds) {
  Buffer a(ROWS * COLUMNS), w(COLUMNS), b(COLUMNS), out(ROWS * COLUMNS);
  return fastFifth(seconds, [&] {
#pragma omp parallel for
    for (long r = 0; r < ROWS; r++) {
      const float *x = a.p + r * COLUMNS;
      float *y = out.p + r * COLUMNS;
      float sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum)
      for (long i = 0; i < COLUMNS; i++) sum += x[i];
      float mean = sum / COLUMNS;
#pragma omp simd reduction(+ : squares)
      for (long i = 0; i < COLUMNS; i++) squares += (x[i] - mean) * (x[i] - mean);
      float scale = 1.0f / std::sqrt(squares / COLUMNS + 1e-5f);
#pragma omp simd
      for (long i = 0; i < COLUMNS; i++) y[i] = (x[i] - mean) * scale * w.p[i] + b.p[i];
    }
  });
}

static double column_sum(double seconds) {
  Buffer a(ROWS * COLUMNS), out(COLUMNS);
  return fastFifth(seconds, [&] {
    memset(out.p, 0, COLUMNS * 4);
    float *total = out.p;
#pragma omp parallel for reduction(+ : total[ : COLUMNS])
    for (long r = 0; r < ROWS; r++)
      for (long i = 0; i < COLUMNS; i++) total[i] += a.p[r * COLUMNS + i];
  });
}

static double transposed_copy(double seconds) {
  Buffer a(ROWS * COLUMNS), out(ROWS * COLUMNS);
  const long T = 32;
  return fastFifth(seconds, [&] {
#pragma omp parallel for
    for (long r0 = 0; r0 < ROWS; r0 += T)
      for (long c0 = 0; c0 < COLUMNS; c0 += T)
        for (long c = c0; c < c0 + T; c++)
          for (long r = r0; r < r0 + T; r++) out.p[c * ROWS + r] = a.p[r * COLUMNS + c];
  });
}

static const long N = 1024;

/** rows of B stay in cache; the inner loop runs along a row of C */
static double matmul(double seconds) {
  Buffer a(N * N), b(N * N), c(N * N);
  return fastFifth(seconds, [&] {
#pragma omp parallel for
    for (long i0 = 0; i0 < N; i0 += 16) {
      memset(c.p + i0 * N, 0, 16 * N * 4);
      for (long k0 = 0; k0 < N; k0 += 64)
        for (long i = i0; i < i0 + 16; i++)
          for (long k = k0; k < k0 + 64; k++) {
            float x = a.p[i * N + k];
            for (long j = 0; j < N; j++) c.p[i * N + j] += x * b.p[k * N + j];
          }
    }
  });
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  std::string name = argv[1];
  double seconds = atof(argv[2]);
  double time = name == "add"               ? add(seconds)
                   : name == "gelu"            ? gelu(seconds)
                   : name == "softmax"         ? softmax(seconds)
                   : name == "layer_norm"      ? layer_norm(seconds)
                   : name == "column_sum"      ? column_sum(seconds)
                   : name == "transposed_copy" ? transposed_copy(seconds)
                   : name == "matmul"          ? matmul(seconds)
                                               : -1;
  if (time < 0) return 2;
  printf("%.9f\n", time);
  return 0;
}
