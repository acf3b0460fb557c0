#!/bin/bash
# A Slurm array: each job runs one shard on one GPU. sbatch slurm_array.sh, then merge:
# academiceval merge results/shard-* --output results/model
#SBATCH --array=1-8
#SBATCH --gres=gpu:1
#SBATCH --requeue
# A job that is requeued resumes from its journal.
academiceval eval --model vllm --model_args pretrained=ORG/MODEL,max_model_len=131072 --batch_size auto --apply_chat_template \
  --tasks academiceval --metadata '{"dataset": "academiceval"}' \
  --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" --output "results/shard-$SLURM_ARRAY_TASK_ID"
