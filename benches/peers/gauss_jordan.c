/* The program of scenarios/peers/gauss-jordan.ron in MPI, for SMPI; see docs/simulators.md. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <smpi/smpi.h>

int main(int argc, char **argv) {
    int rank, p, n = atoi(argv[1]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    char *row = malloc(8 * (n + 1));
    for (int step = 0; step < n; step++) {
        int owner = step / (n / p);
        if (rank == owner) {
            for (int other = 0; other < p; other++)
                if (other != owner) MPI_Send(row, 8 * (n + 1), MPI_BYTE, other, 0, MPI_COMM_WORLD);
        } else {
            MPI_Recv(row, 8 * (n + 1), MPI_BYTE, owner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        smpi_execute_flops(2.0 * n * (n / p));
    }
    double mine = MPI_Wtime(), last;
    PMPI_Reduce(&mine, &last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%.6f\n", last);
    MPI_Finalize();
}
