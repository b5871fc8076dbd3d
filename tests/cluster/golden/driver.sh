#!/bin/bash
#SBATCH --job-name=basepar-driver
#SBATCH --partition=cpu
#SBATCH --account=robots
#SBATCH --time=1-12:00:00
#SBATCH --nodes=1 --ntasks=1 --cpus-per-task=1 --mem=2048M
#SBATCH --output='/scratch/it'"'"'s/a.zarr-%j.log' --open-mode=append
#SBATCH --signal=B:USR1@60 --requeue
set -e
module load python/3.11
export OMP_NUM_THREADS=1
export OPENBLAS_NUM_THREADS=1
export MKL_NUM_THREADS=1
export BLIS_NUM_THREADS=1
export VECLIB_MAXIMUM_THREADS=1
export NUMEXPR_NUM_THREADS=1
export NUMBA_NUM_THREADS=1
exec '/opt/my python/bin/python' -P -m workflows.cli.main sweep /home/me/a.yaml --store '/scratch/it'"'"'s/a.zarr' --requeue
