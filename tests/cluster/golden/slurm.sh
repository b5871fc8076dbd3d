#!/bin/bash
#SBATCH --job-name=basepar-1234
#SBATCH --partition=cpu
#SBATCH --account=robots
#SBATCH --time=1-12:00:00
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=2
#SBATCH --mem=5723M
#SBATCH --output=/home/me/k/%A_%a.log
#SBATCH --no-requeue
#SBATCH --constraint=avx2
set -e
module load python/3.11
export OMP_NUM_THREADS=1
export OPENBLAS_NUM_THREADS=1
export MKL_NUM_THREADS=1
export BLIS_NUM_THREADS=1
export VECLIB_MAXIMUM_THREADS=1
export NUMEXPR_NUM_THREADS=1
export NUMBA_NUM_THREADS=1
export MALLOC_TRIM_THRESHOLD_=268435456
export MALLOC_MMAP_THRESHOLD_=33554432
export DASK_DISTRIBUTED__SCHEDULER__WORKER_SATURATION=4.0
export DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES=0
export DASK_DISTRIBUTED__DEPLOY__LOST_WORKER_TIMEOUT=10000d
export DASK_DISTRIBUTED__WORKER__DAEMON=True
export DASK_DISTRIBUTED__WORKER__MEMORY__PAUSE=False
export DASK_DISTRIBUTED__ADMIN__TICK__LIMIT=1h
export DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL=1s
export DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL=2s
export DASK_DISTRIBUTED__SCHEDULER__WORK_STEALING_INTERVAL=1s
export DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED=False
export DASK_DISTRIBUTED__SCHEDULER__HTTP__ROUTES='[]'
export DASK_DISTRIBUTED__WORKER__HTTP__ROUTES='[]'
export DASK_DISTRIBUTED__SCHEDULER__PRELOAD=cluster.no_http
export DASK_DISTRIBUTED__WORKER__PRELOAD=cluster.no_http
exec '/opt/my python/bin/python' -P -m distributed.cli.dask_worker tls://10.0.0.5:4321 --tls-ca-file /home/me/k/certificate.pem --tls-cert /home/me/k/certificate.pem --tls-key /home/me/k/key.pem --name "job-${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID" --nworkers 2 --nthreads 1 --memory-limit 3000000000 --no-dashboard --dashboard-address 127.0.0.1:0 --death-timeout 60
