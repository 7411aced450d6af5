// Products of row-major matrices by cuBLAS: the fastest of cublasLt's eight best heuristics and of cublasGemmEx, as timed in the
// first call on its own operands. `x` has A followed by B, which begins at the next multiple of 16 bytes. The matrix C of
// `height` rows and `width` columns is C^T = B^T A^T to cuBLAS, whose matrices are stored by columns.
//
// The variant has parts between dashes: the layouts of A and B, by rows (n) or columns (t), such as tn; k, if it is not the
// width; and tf32 for products of f32 rounded to tf32.

#pragma once

#include <cublasLt.h>

template <typename T, typename C> struct Types;
template <> struct Types<float, float> {
    static constexpr cudaDataType_t operand = CUDA_R_32F, result = CUDA_R_32F, scale = CUDA_R_32F;
    static constexpr cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
};
template <> struct Types<double, double> {
    static constexpr cudaDataType_t operand = CUDA_R_64F, result = CUDA_R_64F, scale = CUDA_R_64F;
    static constexpr cublasComputeType_t compute = CUBLAS_COMPUTE_64F;
};
template <> struct Types<__half, __half> {
    static constexpr cudaDataType_t operand = CUDA_R_16F, result = CUDA_R_16F, scale = CUDA_R_32F;
    static constexpr cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
};
template <> struct Types<__nv_bfloat16, __nv_bfloat16> {
    static constexpr cudaDataType_t operand = CUDA_R_16BF, result = CUDA_R_16BF, scale = CUDA_R_32F;
    static constexpr cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
};
template <> struct Types<int8_t, int32_t> {
    static constexpr cudaDataType_t operand = CUDA_R_8I, result = CUDA_R_32I, scale = CUDA_R_32I;
    static constexpr cublasComputeType_t compute = CUBLAS_COMPUTE_32I;
};

// The factors 1 and 0 in the type of the scale.
union Factor {
    float f32;
    double f64;
    int32_t i32;
    Factor(cudaDataType_t type, int value) {
        if (type == CUDA_R_64F) f64 = value;
        else if (type == CUDA_R_32I) i32 = value;
        else f32 = float(value);
    }
};

// A product by cublasLt, and the algorithms that its heuristic proposes.
struct Product {
    static constexpr size_t WORKSPACE = 32 << 20;
    static constexpr int MAX_ALGORITHMS = 8;

    bool is_a_transposed = false, is_b_transposed = false, is_tf32 = false;
    int m, n, k;
    size_t size;
    cudaDataType_t operand, result, scale;
    cublasComputeType_t compute;
    cudaStream_t stream;
    cublasHandle_t blas;
    cublasLtHandle_t lt = nullptr;
    cublasLtMatmulDesc_t product = nullptr;
    cublasLtMatrixLayout_t of_a = nullptr, of_b = nullptr, of_c = nullptr;
    std::shared_ptr<void> workspace;
    cublasLtMatmulHeuristicResult_t algorithms[MAX_ALGORITHMS];
    int found = 0;
    // The number of the fastest algorithm, -1 for cublasGemmEx, and -2 before the first call.
    int fastest = -2;

    template <typename Own> Product(Own, size_t size, Size shape, const std::string& variant, cudaStream_t stream)
        : m(int(shape.height)), n(int(shape.width)), k(int(shape.width)), size(size), operand(Own::operand), result(Own::result),
          scale(Own::scale), compute(Own::compute), stream(stream), blas(blas_in(stream)), workspace(memory(WORKSPACE)) {
        for (size_t begin = 0; begin < variant.size();) {
            const size_t end = std::min(variant.find('-', begin), variant.size());
            const std::string part = variant.substr(begin, end - begin);
            if (part == "tf32") {
                is_tf32 = true;
            } else if (part.size() == 2 && part.find_first_not_of("nt") == std::string::npos) {
                is_a_transposed = part[0] == 't';
                is_b_transposed = part[1] == 't';
            } else {
                k = std::stoi(part);
            }
            begin = end + 1;
        }
        if (is_tf32) compute = CUBLAS_COMPUTE_32F_FAST_TF32;
        CHECK(cublasLtCreate(&lt));
        CHECK(cublasLtMatmulDescCreate(&product, compute, scale));
        const cublasOperation_t first = operation(is_b_transposed), second = operation(is_a_transposed);
        CHECK(cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_TRANSA, &first, sizeof(first)));
        CHECK(cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_TRANSB, &second, sizeof(second)));
        CHECK(cublasLtMatrixLayoutCreate(&of_b, operand, is_b_transposed ? k : n, is_b_transposed ? n : k, ld_b()));
        CHECK(cublasLtMatrixLayoutCreate(&of_a, operand, is_a_transposed ? m : k, is_a_transposed ? k : m, ld_a()));
        CHECK(cublasLtMatrixLayoutCreate(&of_c, result, n, m, n));
        cublasLtMatmulPreference_t preference = nullptr;
        CHECK(cublasLtMatmulPreferenceCreate(&preference));
        const size_t most = WORKSPACE;
        CHECK(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &most, sizeof(most)));
        const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(lt, product, of_b, of_a, of_c, of_c, preference, MAX_ALGORITHMS,
                                                                     algorithms, &found);
        cublasLtMatmulPreferenceDestroy(preference);
        // Then cublasGemmEx alone may have a kernel.
        if (status != CUBLAS_STATUS_SUCCESS) found = 0;
    }

    Product(const Product&) = delete;

    ~Product() {
        if (of_c) cublasLtMatrixLayoutDestroy(of_c);
        if (of_a) cublasLtMatrixLayoutDestroy(of_a);
        if (of_b) cublasLtMatrixLayoutDestroy(of_b);
        if (product) cublasLtMatmulDescDestroy(product);
        if (lt) cublasLtDestroy(lt);
    }

    static cublasOperation_t operation(bool is_transposed) { return is_transposed ? CUBLAS_OP_T : CUBLAS_OP_N; }
    int ld_a() const { return is_a_transposed ? m : k; }
    int ld_b() const { return is_b_transposed ? k : n; }

    cublasStatus_t run(int algorithm, void* x, void* y) const {
        const Factor one(scale, 1), zero(scale, 0);
        const void* a = x;
        const void* b = static_cast<char*>(x) + (size_t(m) * k * size + 15) / 16 * 16;
        if (algorithm < 0) {
            return cublasGemmEx(blas, operation(is_b_transposed), operation(is_a_transposed), n, m, k, &one, b, operand, ld_b(), a,
                                operand, ld_a(), &zero, y, result, n, compute, CUBLAS_GEMM_DEFAULT);
        }
        return cublasLtMatmul(lt, product, &one, b, of_b, a, of_a, &zero, y, of_c, y, of_c, &algorithms[algorithm].algo, workspace.get(),
                              WORKSPACE, stream);
    }

    // Times each algorithm, and keeps the fastest.
    void choose(void* x, void* y) {
        cudaEvent_t start, end;
        CHECK(cudaEventCreate(&start));
        CHECK(cudaEventCreate(&end));
        float least = 0;
        for (int algorithm = -1; algorithm < found; algorithm++) {
            if (run(algorithm, x, y) != CUBLAS_STATUS_SUCCESS) continue;
            float shortest = 0;
            for (int i = 0; i < 5; i++) {
                CHECK(cudaEventRecord(start, stream));
                CHECK(run(algorithm, x, y));
                CHECK(cudaEventRecord(end, stream));
                CHECK(cudaEventSynchronize(end));
                float time = 0;
                CHECK(cudaEventElapsedTime(&time, start, end));
                if (i == 0 || time < shortest) shortest = time;
            }
            if (fastest == -2 || shortest < least) {
                fastest = algorithm;
                least = shortest;
            }
        }
        cudaEventDestroy(start);
        cudaEventDestroy(end);
        if (fastest == -2) throw std::runtime_error("cuBLAS has no product of these matrices");
    }
};

template <typename T, typename C> static Peer matmul(Size size, const std::string& variant, cudaStream_t stream) {
    const auto product = std::make_shared<Product>(Types<T, C>(), sizeof(T), size, variant, stream);
    return {"cuBLAS", [=](void* x, void* y) {
                if (product->fastest == -2) product->choose(x, y);
                CHECK(product->run(product->fastest, x, y));
            }};
}
