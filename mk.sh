M=/work/wt-b/scenarios/machines
sc() { echo "Scenario(ranks: $3, program: $1, machine: File(\"$M/$2.ron\"), placement: RowMajor, seed: 1)"; }
