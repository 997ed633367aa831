/* A collective operation in MPI, for SMPI, beside that of scenarios/peers/collective.ron; see docs/simulators.md. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* collective broadcast|allreduce|alltoall|allgather BYTES: bytes of the whole message, or of one block */
int main(int argc, char **argv) {
    int p, rank, bytes = atoi(argv[2]);
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char *from = calloc(p, bytes), *to = calloc(p, bytes);
    MPI_Comm world = MPI_COMM_WORLD;
    double begin = MPI_Wtime();
    if (!strcmp(argv[1], "broadcast")) MPI_Bcast(from, bytes, MPI_BYTE, 0, world);
    if (!strcmp(argv[1], "allreduce")) MPI_Allreduce(from, to, bytes, MPI_BYTE, MPI_BOR, world);
    if (!strcmp(argv[1], "alltoall")) MPI_Alltoall(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, world);
    if (!strcmp(argv[1], "allgather")) MPI_Allgather(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, world);
    double mine = MPI_Wtime() - begin, last;
    MPI_Reduce(&mine, &last, 1, MPI_DOUBLE, MPI_MAX, 0, world);
    if (rank == 0) printf("%.9f\n", last);
    MPI_Finalize();
}
