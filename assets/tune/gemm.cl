// gemm.cl: C = A' B, where A has k rows of m numbers, B has k rows of n, and C has n rows of m
//
// Parameters: MWG, NWG, KWG (tile of a work-group), MDIMC, NDIMC (work-items of a work-group), MDIMA, NDIMB (shape of
// the same work-items while they load A and B), KWI (steps of the inner loop), VWM, VWN (numbers per load), STRM, STRN
// (1: the vectors of a work-item are MDIMC or NDIMC apart; 0: adjacent), SA, SB (1: the tile in local memory). m, n and
// k are multiples of MWG, NWG and KWG.

#define JOIN(a, b) a##b
#define VECTOR(width) JOIN(float, width)
#if VWM == 1
typedef float vector_m;
#else
typedef VECTOR(VWM) vector_m;
#endif
#if VWN == 1
typedef float vector_n;
#else
typedef VECTOR(VWN) vector_n;
#endif
#define MV (MWG / VWM) // vectors of a row of the tile
#define NV (NWG / VWN)
#define MWI (MV / MDIMC) // vectors of a work-item
#define NWI (NV / NDIMC)
#define AT_M(i) (STRM ? get_local_id(0) + (i) * MDIMC : get_local_id(0) * MWI + (i))
#define AT_N(i) (STRN ? get_local_id(1) + (i) * NDIMC : get_local_id(1) * NWI + (i))

kernel __attribute__((reqd_work_group_size(MDIMC, NDIMC, 1)))
void gemm(int m, int n, int k, global const vector_m *a, global const vector_n *b, global vector_m *c)
{
    const int item = get_local_id(1) * MDIMC + get_local_id(0);
    const int row_a = m / VWM, row_b = n / VWN;
    a += get_group_id(0) * MV;
    b += get_group_id(1) * NV;
    vector_m sum[NWI * VWN][MWI];
    for (int y = 0; y < NWI * VWN; y++)
        for (int x = 0; x < MWI; x++)
            sum[y][x] = 0;
#if SA
    local vector_m tile_a[KWG][MV];
#endif
#if SB
    local vector_n tile_b[KWG][NV];
#endif
    for (int k0 = 0; k0 < k; k0 += KWG) {
#if SA
        for (int y = item / MDIMA; y < KWG; y += MDIMC * NDIMC / MDIMA)
            for (int x = item % MDIMA; x < MV; x += MDIMA)
                tile_a[y][x] = a[(k0 + y) * row_a + x];
#endif
#if SB
        for (int y = item / NDIMB; y < KWG; y += MDIMC * NDIMC / NDIMB)
            for (int x = item % NDIMB; x < NV; x += NDIMB)
                tile_b[y][x] = b[(k0 + y) * row_b + x];
#endif
#if SA || SB
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
        for (int k1 = 0; k1 < KWG; k1 += KWI) {
            _Pragma("unroll")
            for (int step = k1; step < k1 + KWI; step++) {
                vector_m own_a[MWI];
                union {
                    vector_n vector[NWI];
                    float number[NWI * VWN];
                } own_b;
                for (int x = 0; x < MWI; x++)
#if SA
                    own_a[x] = tile_a[step][AT_M(x)];
#else
                    own_a[x] = a[(k0 + step) * row_a + AT_M(x)];
#endif
                for (int y = 0; y < NWI; y++)
#if SB
                    own_b.vector[y] = tile_b[step][AT_N(y)];
#else
                    own_b.vector[y] = b[(k0 + step) * row_b + AT_N(y)];
#endif
                for (int y = 0; y < NWI * VWN; y++)
                    for (int x = 0; x < MWI; x++)
                        sum[y][x] += own_a[x] * own_b.number[y];
            }
        }
#if SA || SB
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
    }
    for (int y = 0; y < NWI; y++)
        for (int lane = 0; lane < VWN; lane++)
            for (int x = 0; x < MWI; x++)
                c[(get_group_id(1) * NWG + AT_N(y) * VWN + lane) * row_a + get_group_id(0) * MV + AT_M(x)] =
                    sum[y * VWN + lane][x];
}
